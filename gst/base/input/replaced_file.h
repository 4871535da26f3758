// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes a file that a property names.
#pragma once

#include <string>

#include "cuda/common/status.h"

namespace cudavision {

// Replaces a file atomically: a reader finds the old or the new one. A symbolic link stays one: the file that it leads
// to is replaced. The new file has the mode of the old one. Fails if that one is write-protected, or cannot be written.
Status replace_file(const std::string &location, const std::string &bytes);

}  // namespace cudavision
