// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/input/regular_file.h"

#include <fcntl.h>
#include <glib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "gst/base/input/excerpt.h"
#include "gst/base/input/no_signals.h"

namespace cudavision {
namespace {

constexpr char kNoFile[] = "it is a pipe or a device, not a file";

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

// Reads at most `count` bytes of a file of at most `most` bytes. size: set to that of the whole file.
Status read_file(const std::string &location, std::size_t most, std::size_t count, std::string *bytes,
                 std::size_t *size) {
  const int number = static_cast<int>(
      TEMP_FAILURE_RETRY(open(location.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)));
  if (number < 0) return errno == ENXIO ? invalid_argument(kNoFile) : unusable("opened", errno);
  const auto close_file = [](FILE *file) { (void)fclose(file); };
  const std::unique_ptr<FILE, decltype(close_file)> file(fdopen(number, "rb"), close_file);
  struct stat facts;
  if (!file || fstat(number, &facts) != 0) return unusable("opened", errno);
  CUDAVISION_TRY(check(facts, most));
  *size = static_cast<std::size_t>(facts.st_size);
  bytes->resize(std::min(count, *size + 1));  // one byte more shows whether the file grows
  bytes->resize(fread(bytes->data(), 1, bytes->size(), file.get()));
  return ferror(file.get()) != 0 ? unusable("read", errno) : Status();
}

}  // namespace

Status read_regular_file(const std::string &location, std::size_t most, std::string *bytes) {
  std::size_t size = 0;
  CUDAVISION_TRY(read_file(location, most, SIZE_MAX, bytes, &size));
  return bytes->size() == size ? Status() : invalid_argument("its size changed while it was read");
}

Status read_beginning(const std::string &location, std::size_t count, std::string *bytes) {
  std::size_t size = 0;
  return read_file(location, SIZE_MAX, count, bytes, &size);
}

Status replace_file(const std::string &location, const std::string &bytes) {
  const auto free_name = [](char *name) { std::free(name); };
  const std::unique_ptr<char, decltype(free_name)> target(realpath(location.c_str(), nullptr), free_name);
  const char *name = target ? target.get() : location.c_str();  // of a new file
  struct stat before {};
  const int mode = stat(name, &before) == 0 ? static_cast<int>(before.st_mode & 0777) : 0666;
  if ((mode & 0222) == 0)  // otherwise it would be replaced nevertheless
    return invalid_argument("it is write-protected");
  const NoSignals no_signals;
  g_autoptr(GError) error = nullptr;
  if (g_file_set_contents_full(name, bytes.data(), static_cast<gssize>(bytes.size()),
                               G_FILE_SET_CONTENTS_CONSISTENT, mode, &error))
    return {};
  return invalid_argument(excerpt(error->message));
}

Status about_model(const std::string &location, const char *what, const Status &status) {
  return {status.code(), "model-location: " + excerpt(location) + what + status.text()};
}

}  // namespace cudavision
