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

// Blocks the signals of a failed write in this thread while it exists (RAII): SIGPIPE, for a pipe without a
// reader, and SIGXFSZ, for a file beyond the limit on its size. By default they end the process. Other threads
// and an application's signal handlers are not affected.
class NoSignals {
 public:
  NoSignals() {
    sigemptyset(&signals_);
    sigset_t pending;
    sigpending(&pending);
    for (const int signal : {SIGPIPE, SIGXFSZ})
      if (sigismember(&pending, signal) == 0) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  ~NoSignals() {
    const timespec at_once{};
    int taken = 0;
    do taken = sigtimedwait(&signals_, nullptr, &at_once);
    while (taken > 0 || (taken == -1 && errno == EINTR));
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSignals(const NoSignals &) = delete;
  NoSignals &operator=(const NoSignals &) = delete;

 private:
  sigset_t signals_, before_;  // without those that were pending before: they are not ours to take
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

bool is_pipe(const std::string &location) {
  struct stat status {};
  return stat(location.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

}  // namespace

LineFile::LineFile(std::string location)
    : location_(std::move(location)), is_standard_output_(location_ == "-"), poll_(gst_poll_new(TRUE)) {}

LineFile::~LineFile() {
  close();
  gst_poll_free(poll_);
}

int LineFile::open(const std::string &location, std::unique_ptr<LineFile> *made) {
  made->reset(new LineFile(location));
  const int error = is_pipe(location) ? 0 : (*made)->open_file();
  if (error != 0) made->reset();
  return error;
}

int LineFile::open_file() {
  // O_APPEND keeps lines whole if several elements write to the same file.
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC;
  const int file = is_standard_output_ ? STDOUT_FILENO : ::open(location_.c_str(), kFlags, 0666);
  if (file < 0) return errno;
  use(file);
  return 0;
}

// Waits for the reader of a named pipe. Opening one without a reader would block beyond rescue, so this asks
// again and again, in pauses that cancel() ends.
int LineFile::open_pipe() {
  constexpr GstClockTime kPause = 20 * GST_MSECOND;
  for (;;) {
    const int file = ::open(location_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (file >= 0) {
      use(file);
      return 0;
    }
    if (errno != ENXIO && errno != EINTR) return errno;
    if (gst_poll_wait(poll_, kPause) < 0 && errno == EBUSY) return ECANCELED;
  }
}

void LineFile::use(int file) {
  struct stat status {};
  file_ = file;
  is_regular_ = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  GstPollFD polled = GST_POLL_FD_INIT;
  polled.fd = file;
  gst_poll_add_fd(poll_, &polled);
  gst_poll_fd_ctl_write(poll_, &polled, TRUE);
}

int LineFile::close() {
  const int file = std::exchange(file_, -1);
  if (file < 0 || is_standard_output_) return 0;
  return ::close(file) == 0 ? 0 : errno;
}

int LineFile::write(std::string_view lines, bool *begun) {
  const NoSignals no_signals;
  if (file_ < 0)
    if (const int error = open_pipe(); error != 0) return error;
  if (!is_standard_output_) return write_rest_and(lines, begun);
  StandardOutputLock lock;
  if (const int error = lock.flush(); error != 0) return error;
  return write_rest_and(lines, begun);
}

int LineFile::write_rest_and(std::string_view lines, bool *begun) {
  const std::string rest = std::exchange(rest_, {});
  bool rest_has_begun = true;
  *begun = false;
  if (const int error = write_all(rest, &rest_has_begun); error != 0) return error;
  return write_all(lines, begun);
}

// begun: in and out, whether the reader has got the beginning of the lines.
int LineFile::write_all(std::string_view lines, bool *begun) {
  std::string_view rest = lines;
  while (!rest.empty()) {
    const int error = write_part(&rest);
    *begun = *begun || rest.size() < lines.size();
    if (error == 0) continue;
    if (error != ECANCELED)
      take_back(lines.size() - rest.size());
    else if (*begun)
      rest_ = rest;
    return error;
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
