// SPDX-License-Identifier: LGPL-2.1-or-later
// The real picture that benchmarks run on, in any size and format. Noise is that of the tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/common/image.h"
#include "tests/support/picture.h"

namespace cudavision::bench {

using test::Picture;

// A frame of vtest.avi of OpenCV's samples (Debian's package opencv-doc), tiled to the size: the bytes of a
// frame of a raw video format, laid out as gst_video_info_set_format has it. Empty, with the reason, when
// that is not possible here.
std::vector<std::uint8_t> real_frame(const std::string &format, Size size, std::string *why_not);
// The same in gray; of size 0 x 0 when not possible.
Picture real_picture(Size size, std::string *why_not);

inline ImageView<const std::uint8_t> view_of(const Picture &picture) {
  return {picture.row(0), picture.width(), picture.width(), picture.height()};
}

}  // namespace cudavision::bench
