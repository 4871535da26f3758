// SPDX-License-Identifier: LGPL-2.1-or-later
// File descriptors in a process whose standard input, output or error may be closed.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace cudavision {

// Returns a descriptor above 2: `file`, or a duplicate in its place; -1 with errno set if `file` is -1 or after an
// error. Programs print to 1 and 2 even if they were closed, and open() returns the lowest free number.
inline int above_standard_error(int file) {
  if (file < 0 || file > STDERR_FILENO) return file;
  const int above = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  close(file);
  errno = error;
  return above;
}

}  // namespace cudavision
