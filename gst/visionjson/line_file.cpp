// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visionjson/line_file.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <mutex>
#include <set>
#include <utility>

#include "gst/base/input/no_signals.h"

namespace cudavision {
namespace {

// The outputs that objects of this process have open. Never destroyed: a thread may still write while the process
// exits.
constinit std::mutex mutex;
std::set<std::pair<dev_t, ino_t>> &open_outputs() {
  static auto &outputs = *new std::set<std::pair<dev_t, ino_t>>;
  return outputs;
}

// Whether GStreamer has made this eventfd or socket to wake a thread: if the standard output was closed, such a
// descriptor has its number. An eventfd has no file type.
bool wakes_threads(int file, const struct stat &status) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return (status.st_mode & S_IFMT) == 0 ||
         (getsockopt(file, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == getpid());
}

// Whether a file ends with an incomplete line, as after a crash. If it may not be read, it counts as complete.
bool ends_within_line(int file) {
  std::ifstream reading("/proc/self/fd/" + std::to_string(file), std::ios::binary);
  reading.seekg(-1, std::ios::end);
  const int last = reading.get();
  return last != std::ifstream::traits_type::eof() && last != '\n';
}

}  // namespace

// O_NONBLOCK is for open() alone, which otherwise waits for the reader of a pipe. O_APPEND keeps the lines whole of
// several processes that write to one file. The descriptor in use is a duplicate above 2: the program may close or
// redirect its standard output, and what it prints to a closed one must not come into the file.
int LineFile::open(const std::string &location, bool append) {
  const bool is_standard_output = location == "-";
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const int opened = is_standard_output ? STDOUT_FILENO : ::open(location.c_str(), flags, 0666);
  file_.fd = opened < 0 ? -1 : fcntl(opened, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  int error = file_.fd < 0 ? errno : 0;
  if (opened >= 0 && !is_standard_output) ::close(opened);
  if (error == 0) error = prepare(is_standard_output, append);
  if (error != 0) close();
  return error;
}

int LineFile::prepare(bool is_standard_output, bool append) {
  if (poll_ == nullptr) return EMFILE;
  gst_poll_add_fd(poll_.get(), &file_);
  gst_poll_fd_ctl_write(poll_.get(), &file_, TRUE);
  if (fstat(file_.fd, &status_) != 0) return errno;
  if (wakes_threads(file_.fd, status_)) return EBADF;
  if (is_standard_output || !S_ISCHR(status_.st_mode)) {  // many may write to /dev/null
    const std::lock_guard lock(mutex);
    is_registered_ = open_outputs().emplace(status_.st_dev, status_.st_ino).second;
    if (!is_registered_) return EBUSY;
  }
  if (is_standard_output || !S_ISREG(status_.st_mode)) return 0;
  if (append && ends_within_line(file_.fd)) rest_.push_back('\n');
  return append || ftruncate(file_.fd, 0) == 0 ? 0 : errno;
}

void LineFile::cancel(bool cancelled) {
  if (poll_ != nullptr) gst_poll_set_flushing(poll_.get(), cancelled);
}

int LineFile::write(std::string_view line) {
  const NoSignals no_signals;
  std::string_view rest = rest_.empty() ? line : rest_.append(line);
  int error = 0;
  while (error == 0 && !rest.empty()) error = write_part(&rest);
  rest_ = std::string(rest);
  return error;
}

// Writes as much as one write() takes, and removes that from *rest. An output that is ready takes up to PIPE_BUF bytes
// without blocking, and writes to files do not block.
int LineFile::write_part(std::string_view *rest) {
  if (gst_poll_wait(poll_.get(), GST_CLOCK_TIME_NONE) < 0)
    return errno == EBUSY ? ECANCELED : errno == EINTR || errno == EAGAIN ? 0 : errno;
  const std::size_t size =
      S_ISREG(status_.st_mode) ? rest->size() : std::min<std::size_t>(rest->size(), PIPE_BUF);
  const ssize_t written = ::write(file_.fd, rest->data(), size);
  if (written < 0) return errno == EINTR || errno == EAGAIN ? 0 : errno;
  rest->remove_prefix(static_cast<std::size_t>(written));
  return 0;
}

int LineFile::close() {
  rest_.clear();
  if (file_.fd < 0) return 0;
  if (std::exchange(is_registered_, false)) {
    const std::lock_guard lock(mutex);
    open_outputs().erase({status_.st_dev, status_.st_ino});
  }
  if (poll_ != nullptr) gst_poll_remove_fd(poll_.get(), &file_);
  const int error = ::close(file_.fd) == 0 || errno == EINTR ? 0 : errno;
  file_ = GST_POLL_FD_INIT;
  return error;
}

}  // namespace cudavision
