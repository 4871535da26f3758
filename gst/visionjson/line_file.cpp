// SPDX-License-Identifier: LGPL-2.1-or-later
// A file, a pipe or the standard output to which whole lines are written.
#include "gst/visionjson/line_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio_ext.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "gst/base/input/no_signals.h"
#include "gst/visionjson/descriptor.h"

namespace cudavision {
namespace {

constexpr int kPause = 20;  // milliseconds between two attempts

// Whether this is a terminal, but not the master of a pseudoterminal: opening that one again makes a new terminal.
bool is_terminal(int file) {
  unsigned number = 0;
  return isatty(file) == 1 && ioctl(file, TIOCGPTN, &number) != 0;
}

// Whether the process itself has made this socket, as GStreamer does to wake a thread. A standard output that is a
// socket comes from another process.
bool is_own_socket(int file) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(file, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == getpid();
}

}  // namespace

int LineFile::open(const std::string &location, Existing existing, std::unique_ptr<LineFile> *made) {
  made->reset(new LineFile(location, existing));
  LineFile &file = **made;
  int error = file.writer_.open();
  if (error == 0)
    error = file.is_standard_output_ ? file.open_standard_output() : file.open_location(O_CREAT);
  if (file.is_pipe_without_reader(error)) error = 0;
  if (error != 0) made->reset();
  return error;
}

// Uses a descriptor of its own, so that the program may close or redirect its standard output. A pipe or a terminal is
// opened again: a duplicate shares its flags with other processes and threads, which do not expect O_NONBLOCK.
int LineFile::open_standard_output() {
  const int standard = fileno(stdout);
  struct stat status {};
  if (fstat(standard, &status) != 0) return errno;
  // If the standard output was closed, its number may belong to an eventfd, which has no file type, to the read end of
  // a pipe, which would open again as a write end, or to a socket.
  if ((status.st_mode & S_IFMT) == 0 || (fcntl(standard, F_GETFL) & O_ACCMODE) == O_RDONLY ||
      is_own_socket(standard))
    return EBADF;
  if (S_ISFIFO(status.st_mode) || is_terminal(standard)) {
    const std::string name = "/proc/self/fd/" + std::to_string(standard);
    const int file = above_standard_error(::open(name.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (file >= 0) return use(file, false);
  }
  return use(fcntl(standard, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), true);
}

// Opens location_, again if it was open. create: O_CREAT, or 0 to open only what exists.
int LineFile::open_location(int create) {
  close();
  // O_APPEND keeps the lines whole of several processes that write to the same file. With O_NONBLOCK neither open() nor
  // write() waits for the reader of a pipe.
  const int flags = O_WRONLY | create | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  const auto file = TEMP_FAILURE_RETRY(::open(location_.c_str(), flags, 0666));
  return use(above_standard_error(static_cast<int>(file)), false);
}

// error: of open(), which returns ENXIO for a socket, too.
bool LineFile::is_pipe_without_reader(int error) const {
  struct stat status {};
  return error == ENXIO && stat(location_.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

// Tries again and again to open a named pipe, because nothing notifies of its reader. Returns 0 or errno.
int LineFile::wait_for_reader() {
  while (output_ == nullptr) {
    if (const int error = open_location(0); !is_pipe_without_reader(error)) return error;
    if (const int woken = writer_.wait(-1, kPause); woken != EAGAIN) return woken;
  }
  return 0;
}

// Takes over the output. file: a descriptor, or -1 with errno set. may_block: it is not in non-blocking mode.
int LineFile::use(int file, bool may_block) {
  file_ = file;
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) return errno;
  kind_ = status.st_mode & S_IFMT;
  // A pipe that is ready takes up to PIPE_BUF bytes without blocking. Writes to files, and send() here, do not block.
  most_ = may_block && kind_ != S_IFREG && kind_ != S_IFSOCK ? PIPE_BUF : SIZE_MAX;
  // Keeps what other elements of the process have written: only the first to open the file empties it.
  const bool empties = existing_ == Existing::removed && S_ISREG(status.st_mode) && !is_standard_output_;
  bool is_first = false;
  output_ = SharedOutput::acquire(status, empties, &is_first);
  if (!empties || !is_first) return 0;
  const int error = ftruncate(file_, 0) == 0 ? 0 : errno;
  output_->end_emptying();
  return error;
}

int LineFile::close() {
  // Other programs have the standard output open, and its reader waits for the rest of a cancelled line. A terminal is
  // excluded, because its inode number does not identify it.
  const bool keeps_rest = is_standard_output_ && kind_ != S_IFCHR;
  if (output_ != nullptr) std::exchange(output_, nullptr)->release(keeps_rest);
  const int file = std::exchange(file_, -1);
  return file < 0 || ::close(file) == 0 || errno == EINTR ? 0 : errno;
}

int LineFile::write(std::string_view lines, bool *begun) {
  const NoSignals no_signals;
  *begun = false;
  if (const int error = wait_for_reader(); error != 0) return error;
  Turn turn(output_, &writer_);
  if (const int error = turn.wait(); error != 0) return error;
  const std::string rest = std::exchange(output_->rest, {});
  bool rest_has_begun = true;
  if (const int error = write_all(rest, &rest_has_begun); error != 0) return error;
  if (is_standard_output_ && !lines.empty())
    if (const int error = flush_standard_output(); error != 0) return error;
  if (!lines.empty())
    if (const int error = end_torn_line(); error != 0) return error;
  return write_all(lines, begun);
}

int LineFile::finish() {
  bool begun = false;
  return output_ != nullptr ? write({}, &begun) : 0;
}

// Flushes what the program has printed to stdout, so that it precedes the line, but only if that cannot block: neither
// on the lock of stdout, which another thread may hold, nor on a reader. A pipe or socket that is ready takes PIPE_BUF
// bytes, but a terminal may take fewer.
int LineFile::flush_standard_output() {
  int error = EAGAIN;
  while (error == EAGAIN) error = writer_.wait(file_, -1);
  if (error != 0 || ftrylockfile(stdout) != 0) return error;
  if (kind_ == S_IFREG || (kind_ != S_IFCHR && __fpending(stdout) <= PIPE_BUF)) std::fflush(stdout);
  funlockfile(stdout);
  return 0;
}

// Ends a line that a crash or a full disk has left incomplete in a file that is appended to. To be called during this
// writer's turn, because others may write before. Reads through another descriptor: file_ is open for writing only, so
// that a pipe has no reader in this process. If the file may not be read, its last line is taken as complete.
int LineFile::end_torn_line() {
  struct stat status {};
  if (is_behind_whole_lines_ || existing_ == Existing::removed || kind_ != S_IFREG || is_standard_output_)
    return 0;
  if (fstat(file_, &status) != 0) return errno;
  const std::string name = "/proc/self/fd/" + std::to_string(file_);
  const int file = above_standard_error(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  char last = '\n';
  if (file >= 0 && status.st_size > 0) (void)!pread(file, &last, 1, status.st_size - 1);
  if (file >= 0) ::close(file);
  bool begun = false;
  const int error = last == '\n' ? 0 : write_all("\n", &begun);
  is_behind_whole_lines_ = error == 0;
  return error;
}

// Writes the lines; if cancelled, stores the rest of begun ones. *begun (in and out): whether the reader got any part.
int LineFile::write_all(std::string_view lines, bool *begun) {
  std::string_view rest = lines;
  while (!rest.empty()) {
    const int error = write_part(&rest);
    *begun = *begun || rest.size() < lines.size();
    if (error == 0 || error == EAGAIN || error == EINTR) continue;
    if (error != ECANCELED)
      take_back(lines.size() - rest.size());
    else if (*begun)
      output_->rest = rest;
    return error;
  }
  return 0;
}

// Writes as much as one write() takes, and removes that from *rest.
int LineFile::write_part(std::string_view *rest) {
  if (const int error = writer_.wait(file_, -1); error != 0) return error;
  const std::size_t size = std::min(rest->size(), most_);
  const ssize_t written =
      kind_ == S_IFSOCK ? send(file_, rest->data(), size, MSG_DONTWAIT) : ::write(file_, rest->data(), size);
  // poll() reports some outputs as ready that take nothing yet, such as a terminal with room for one byte.
  if (written < 0) return errno == EAGAIN ? writer_.wait(-1, kPause) : errno;
  rest->remove_prefix(static_cast<std::size_t>(written));
  return 0;
}

// Removes an incomplete line from the end of a file; bytes written to a pipe cannot be taken back. Failures
// are ignored, because the error of the write is reported in any case.
void LineFile::take_back(std::size_t written) {
  struct stat status {};
  const off_t end = lseek(file_, 0, SEEK_CUR), begin = end - static_cast<off_t>(written);
  if (kind_ != S_IFREG || begin < 0 || fstat(file_, &status) != 0 || status.st_size != end) return;
  if (ftruncate(file_, begin) == 0) lseek(file_, begin, SEEK_SET);
}

}  // namespace cudavision
