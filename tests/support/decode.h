// SPDX-License-Identifier: LGPL-2.1-or-later
// Photographs and video frames from Debian's package opencv-doc, decoded by GStreamer.
#pragma once

#include <filesystem>
#include <string>

#include "tests/support/picture.h"

namespace cudavision::test {

// A decoded picture, or the reason why there is none.
struct Photo {
  Picture pixels;  // in colour, a row holds three bytes per pixel
  std::string why_not;

  bool ok() const { return why_not.empty(); }
};

// The folder CUDAVISION_TEST_DATA or that of opencv-doc.
std::filesystem::path test_data_folder();
// The picture, or the given frame of the video, from that folder.
// Decoded once per process.
const Photo &gray_photo(const char *file, int frame = 0);
const Photo &rgb_photo(const char *file, int frame = 0);

}  // namespace cudavision::test
