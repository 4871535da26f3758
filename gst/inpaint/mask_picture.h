// SPDX-License-Identifier: LGPL-2.1-or-later
// The mask that the property mask-location names, as a black-and-white picture.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cuda/common/image.h"
#include "cuda/common/memory_budget.h"
#include "cuda/common/status.h"

namespace cudavision {

// From this luma on, the opaque pixels of a mask are removed.
constexpr int kLeastMaskLuma = 128;

struct MaskPixels {
  Size size{};
  std::optional<int> brightest;  // the largest luma of the opaque pixels; none if there are no such pixels
  Array<std::uint8_t> pixels;    // 255 or 0, in row-major order without padding
};

// Decodes the contents of a file with libpng. It takes bounded time and memory, whatever the file holds: its size and
// that of the picture are bounded, and so is the work for a pixel. Throws std::bad_alloc.
Status decode_png(std::string_view file, MaskPixels *mask);

class MaskPicture {
 public:
  // Reads the PNG picture of the property mask-location, which errors name. Bright pixels (luma of at least 128) that
  // are opaque (alpha of at least 128) become 255, all others 0. The code of an error is no_file if there is no such
  // file, unreadable_file if it is no picture that can be decoded, out_of_memory if the host has no memory for it, and
  // invalid_argument if it is no regular file or too large to be read. Without a value, *picture does not change.
  static Status load_property(const std::optional<std::string> &location,
                              std::shared_ptr<const MaskPicture> *picture);
  // As load_property(), for the contents of a file. The caller must catch std::bad_alloc.
  static Status decode(std::string_view file, std::shared_ptr<const MaskPicture> *picture);

  // The largest luma of the opaque pixels; none if there are no such pixels.
  std::optional<int> brightest() const { return mask_.brightest; }
  // The mask for a frame of this size: bytes of 255 or 0 in row-major order without padding. Along an axis in which the
  // picture is larger than the frame, a pixel is 255 if any picture pixel that it covers, even in part, is 255, so that
  // thin lines are kept. Along the other axes it has the value of the picture pixel that contains its centre.
  Array<std::uint8_t> scaled_to(Size frame) const;

 private:
  explicit MaskPicture(MaskPixels mask) : mask_(std::move(mask)) {}

  MaskPixels mask_;
};

}  // namespace cudavision
