// SPDX-License-Identifier: LGPL-2.1-or-later
// The picture that says what is removed.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cuda/common/image.h"

namespace cudavision {

class MaskPicture {
 public:
  // Any format that gdk-pixbuf reads, turned as the picture says. Null, and error, when the file is missing,
  // no picture, or too large for the memory.
  static std::shared_ptr<const MaskPicture> load(const std::string &location, GError **error);

  Size size() const { return size_; }
  // 255 where it is bright (luma of at least 128) and opaque (alpha of at least 128), 0 elsewhere: for a
  // frame of this size. Along an axis on which the picture is larger, a pixel of the frame is 255 when any of
  // the picture's that it covers, in part too, is: thin things stay. Along another it is the picture's pixel
  // in which its middle lies.
  std::vector<std::uint8_t> scaled_to(Size frame) const;

 private:
  MaskPicture(Size size, std::vector<std::uint8_t> pixels) : size_(size), pixels_(std::move(pixels)) {}

  Size size_;
  std::vector<std::uint8_t> pixels_;  // 255 or 0
};

}  // namespace cudavision
