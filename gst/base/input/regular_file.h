// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads and writes files that properties name.
#pragma once

#include <cstddef>
#include <string>

#include "cuda/common/status.h"

namespace cudavision {

// Reads all bytes of a regular file. Fails with no_file if nothing is there, and otherwise with invalid_argument and
// the reason: a directory, a pipe or a device, a file of more than `most` bytes, or one whose size changes while it is
// read. Opens the file once, without waiting for a pipe's writer, and checks and reads what it has opened. The caller
// must catch std::bad_alloc.
Status read_regular_file(const std::string &location, std::size_t most, std::string *bytes);
// Like read_regular_file(), but reads only the first bytes, at most `count`, of a file of any size.
Status read_beginning(const std::string &location, std::size_t count, std::string *bytes);

// Replaces a file atomically: a reader finds the old or the new one. A symbolic link to a file stays one: that file is
// replaced. The new file has the mode of the old one. Fails if that one is write-protected, or cannot be written.
Status replace_file(const std::string &location, const std::string &bytes);

// The status of the file that the property model-location names, with both names and `what` before the reason.
Status about_model(const std::string &location, const char *what, const Status &status);

}  // namespace cudavision
