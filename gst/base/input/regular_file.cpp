// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads a file that a property names.
#include "gst/base/input/regular_file.h"

#include <fcntl.h>
#include <glib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

namespace cudavision {
namespace {

constexpr char kNoFile[] = "it is a pipe or a device, not a file";

// An open file (RAII).
class Descriptor {
 public:
  explicit Descriptor(const std::string &location)
      : number_(static_cast<int>(
            TEMP_FAILURE_RETRY(open(location.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)))) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;

  int number() const { return number_; }

 private:
  int number_;
};

Status unusable(const char *what, int error) {
  return {error == ENOENT ? Status::Code::no_file : Status::Code::invalid_argument,
          "it cannot be " + std::string(what) + ": " + g_strerror(error)};
}

Status check(const struct stat &facts, std::size_t most) {
  if (S_ISDIR(facts.st_mode)) return invalid_argument("it is a directory");
  if (!S_ISREG(facts.st_mode)) return invalid_argument(kNoFile);
  if (static_cast<unsigned long long>(facts.st_size) > most)
    return invalid_argument("it has " + std::to_string(facts.st_size) + " bytes, and at most " +
                            std::to_string(most) + " are read");
  return {};
}

Status find_size(const Descriptor &file, std::size_t most, std::size_t *size) {
  if (file.number() < 0) return errno == ENXIO ? invalid_argument(kNoFile) : unusable("opened", errno);
  struct stat facts;
  if (fstat(file.number(), &facts) != 0) return unusable("opened", errno);
  *size = static_cast<std::size_t>(facts.st_size);
  return check(facts, most);
}

// Reads at most `count` bytes, and resizes *bytes to the number that was read.
Status read_bytes(const Descriptor &file, std::size_t count, std::string *bytes) {
  bytes->resize(count);
  std::size_t found = 0;
  for (ssize_t part = 1; part > 0 && found < count; found += static_cast<std::size_t>(part)) {
    part = TEMP_FAILURE_RETRY(read(file.number(), bytes->data() + found, count - found));
    if (part < 0) return unusable("read", errno);
  }
  bytes->resize(found);
  return {};
}

}  // namespace

Status read_regular_file(const std::string &location, std::size_t most, std::string *bytes) {
  const Descriptor file(location);
  std::size_t size = 0;
  CUDAVISION_TRY(find_size(file, most, &size));
  CUDAVISION_TRY(read_bytes(file, size + 1, bytes));  // one byte more shows whether the file grows
  return bytes->size() == size ? Status() : invalid_argument("its size changed while it was read");
}

Status read_beginning(const std::string &location, std::size_t count, std::string *bytes) {
  const Descriptor file(location);
  std::size_t size = 0;
  CUDAVISION_TRY(find_size(file, std::numeric_limits<std::size_t>::max(), &size));
  return read_bytes(file, count, bytes);
}

}  // namespace cudavision
