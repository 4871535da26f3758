// SPDX-License-Identifier: LGPL-2.1-or-later
// Real pictures for tests, from Debian's package opencv-doc, decoded by GStreamer.
#pragma once

#include <string>

#include "tests/support/picture.h"

namespace cudavision::test {

// A decoded picture, or why there is none.
struct Photo {
  Picture pixels;  // colour: three bytes a pixel, so three times as wide as the picture
  std::string why_not;

  bool ok() const { return why_not.empty(); }
};

// The picture, or the given frame of the video, in the folder of CUDAVISION_TEST_DATA or of opencv-doc.
// Decoded once.
const Photo &gray_photo(const char *file, int frame = 0);
const Photo &rgb_photo(const char *file, int frame = 0);

}  // namespace cudavision::test
