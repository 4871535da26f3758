// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads a file that a property names.
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

}  // namespace cudavision
