// SPDX-License-Identifier: LGPL-2.1-or-later
// How a photograph is to be turned and mirrored.
#pragma once

#include <string_view>

namespace cudavision {

// The value of the tag Orientation in Exif data, which begin with the word Exif: 1 to 8, or 0 if there is none.
unsigned exif_orientation(std::string_view exif);

}  // namespace cudavision
