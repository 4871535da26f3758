// SPDX-License-Identifier: LGPL-2.1-or-later
// The check of pictures that may be smaller than those that an algorithm was made for.
#pragma once

#include <string>

#include "cuda/common/backends.h"

namespace cudavision {

// Fails if a side of the picture has no pixel, or more than that of `most`.
inline Status check_fits(const char *name, Size size, Size most) {
  if (size.width >= 1 && size.height >= 1 && size.width <= most.width && size.height <= most.height)
    return {};
  return invalid_argument(std::string(name) + " has " + to_string(size) + " pixels instead of at most " +
                          to_string(most));
}

}  // namespace cudavision
