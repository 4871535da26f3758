// SPDX-License-Identifier: LGPL-2.1-or-later
// The video frame that benchmarks run on, in any size and format. For noise they use the tests' pictures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/common/image.h"
#include "tests/support/picture.h"

namespace cudavision::bench {

using test::Picture;

// A frame of vtest.avi from OpenCV's samples (Debian's package opencv-doc), tiled to the size: the bytes of a
// raw video format, as laid out by gst_video_info_set_format. Empty, with the reason, if it cannot be made.
// index: the number of the frame in the video.
std::vector<std::uint8_t> real_frame(const std::string &format, Size size, std::string *why_not,
                                     int index = 100);
// Frame 100 of the video in grey, tiled to the size; of size 0 x 0, with the reason, if it cannot be made.
Picture real_picture(Size size, std::string *why_not);

inline ImageView<const std::uint8_t> view_of(const Picture &picture) {
  return {picture.row(0), picture.width(), picture.width(), picture.height()};
}

}  // namespace cudavision::bench
