// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks the size of a picture for an algorithm that also accepts smaller pictures than it was made for.
#pragma once

#include <string>

#include "cuda/common/backends.h"

namespace cudavision {

// Fails unless each side of the picture `name` has at least one pixel and at most as many as that side of `most`.
inline Status check_fits(const char *name, Size size, Size most) {
  if (size.width >= 1 && size.height >= 1 && size.width <= most.width && size.height <= most.height)
    return {};
  return invalid_argument(std::string(name) + " has " + to_string(size) + " pixels instead of at most " +
                          to_string(most));
}

}  // namespace cudavision
