// SPDX-License-Identifier: LGPL-2.1-or-later
// A file, a pipe or the standard output to which whole lines are written.
#include "gst/visionjson/line_file.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <utility>

namespace cudavision {
namespace {

// Blocks SIGPIPE in this thread while it exists (RAII). Writing to a pipe without a reader raises SIGPIPE,
// which by default ends the process. Other threads and an application's signal handler are not affected.
class NoSigpipe {
 public:
  NoSigpipe() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  ~NoSigpipe() {
    const timespec at_once{};
    if (!was_pending_)
      while (sigtimedwait(&sigpipe_, nullptr, &at_once) == -1 && errno == EINTR) {
      }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSigpipe(const NoSigpipe &) = delete;
  NoSigpipe &operator=(const NoSigpipe &) = delete;

 private:
  sigset_t sigpipe_, before_;
  bool was_pending_;
};

// Locks the standard output, so that earlier output comes first and no other output splits a line.
class StandardOutputLock {
 public:
  StandardOutputLock() { flockfile(stdout); }
  ~StandardOutputLock() { funlockfile(stdout); }
  StandardOutputLock(const StandardOutputLock &) = delete;
  StandardOutputLock &operator=(const StandardOutputLock &) = delete;

  int flush() { return std::fflush(stdout) == 0 ? 0 : errno; }
};

bool is_regular(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

LineFile::LineFile(int file, bool is_standard_output)
    : file_(file),
      is_standard_output_(is_standard_output),
      is_regular_(is_regular(file)),
      poll_(gst_poll_new(TRUE)) {
  GstPollFD polled = GST_POLL_FD_INIT;
  polled.fd = file;
  gst_poll_add_fd(poll_, &polled);
  gst_poll_fd_ctl_write(poll_, &polled, TRUE);
}

LineFile::~LineFile() {
  close();
  gst_poll_free(poll_);
}

int LineFile::open(const std::string &location, std::unique_ptr<LineFile> *made) {
  made->reset();
  const bool is_standard_output = location == "-";
  // O_APPEND keeps lines whole if several elements write to the same file.
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC;
  const int file = is_standard_output ? STDOUT_FILENO : ::open(location.c_str(), kFlags, 0666);
  if (file < 0) return errno;
  made->reset(new LineFile(file, is_standard_output));
  return 0;
}

int LineFile::close() {
  const int file = std::exchange(file_, -1);
  if (file < 0 || is_standard_output_) return 0;
  return ::close(file) == 0 ? 0 : errno;
}

int LineFile::write(std::string_view lines) {
  const NoSigpipe no_sigpipe;
  if (!is_standard_output_) return write_all(lines);
  StandardOutputLock lock;
  if (const int error = lock.flush(); error != 0) return error;
  return write_all(lines);
}

int LineFile::write_all(std::string_view lines) {
  std::string_view rest = lines;
  while (!rest.empty()) {
    if (const int error = write_part(&rest); error != 0) {
      take_back(lines.size() - rest.size());
      return error;
    }
  }
  return 0;
}

// Writes as much as possible at once. A pipe that is ready takes up to PIPE_BUF bytes without blocking.
int LineFile::write_part(std::string_view *rest) {
  if (gst_poll_wait(poll_, GST_CLOCK_TIME_NONE) < 0) {
    if (errno == EBUSY) return ECANCELED;
    if (errno != EINTR && errno != EAGAIN) return errno;
    return 0;
  }
  constexpr std::size_t kMostOfAFile = std::size_t{1} << 30;
  const std::size_t most = is_regular_ ? kMostOfAFile : PIPE_BUF;
  const ssize_t written = ::write(file_, rest->data(), std::min(rest->size(), most));
  if (written < 0) return errno == EINTR || errno == EAGAIN ? 0 : errno;
  rest->remove_prefix(static_cast<std::size_t>(written));
  return 0;
}

// Removes an incomplete line from the end of a file; bytes written to a pipe cannot be taken back. Failures
// are ignored, because the error of the write is reported in any case.
void LineFile::take_back(std::size_t written) {
  struct stat status {};
  const off_t end = lseek(file_, 0, SEEK_CUR), begin = end - static_cast<off_t>(written);
  if (!is_regular_ || begin < 0 || fstat(file_, &status) != 0 || status.st_size != end) return;
  if (ftruncate(file_, begin) == 0) lseek(file_, begin, SEEK_SET);
}

}  // namespace cudavision
