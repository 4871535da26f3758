// SPDX-License-Identifier: LGPL-2.1-or-later
// The picture that says what is removed.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/image.h"

namespace cudavision {

class MaskPicture {
 public:
  // Any format that gdk-pixbuf reads, turned as the picture says. Null, and error, when the file is missing
  // or no picture.
  static std::shared_ptr<const MaskPicture> load(const std::string &location, GError **error);

  Size size() const { return size_; }
  // 255 where it is bright (luma of at least 128) and opaque (alpha of at least 128), 0 elsewhere: for a
  // frame of this size, whose pixel (x, y) is that of the picture around whose middle it lies.
  std::vector<std::uint8_t> scaled_to(Size frame) const;

 private:
  MaskPicture(Size size, std::vector<std::uint8_t> pixels) : size_(size), pixels_(std::move(pixels)) {}

  Size size_;
  std::vector<std::uint8_t> pixels_;  // 255 or 0
};

}  // namespace cudavision
