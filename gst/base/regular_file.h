// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks a file that a property names before it is opened.
#pragma once

#include <string>

#include "cuda/common/status.h"

namespace cudavision {

// Fails unless the location is a regular file, with no_file if nothing is there. Opening a named pipe would
// wait for its writer, which nothing can interrupt while an element starts.
Status check_regular_file(const std::string &location);

}  // namespace cudavision
