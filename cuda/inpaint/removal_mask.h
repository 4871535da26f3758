// SPDX-License-Identifier: LGPL-2.1-or-later
// The mask of the pixels to remove from a frame, made from a picture, regions, a colour and transparency.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"
#include "cuda/common/image.h"
#include "cuda/common/range.h"

namespace cudavision {

struct RemovalRanges {
  static constexpr Range<int> tolerance{0, 255};
  static constexpr Range<int> dilation{0, 255};
};

// A pixel is removed if any of these sources selects it and it lies in `limit`.
struct RemovalSources {
  // Selects the pixels that are not 0: height x width bytes in row-major order without padding, in the
  // backend's memory. Null: no picture.
  const std::uint8_t *picture = nullptr;
  // Selects the pixels of region_count regions, in host memory. The parts outside of the frame are ignored.
  const Region *regions = nullptr;
  int region_count = 0;
  // If by_color is set, selects the pixels all of whose components are at most `tolerance` away from the
  // colour, which is given in the frame's own components.
  bool by_color = false;
  Color color;
  int tolerance = 0;
  // Selects the pixels whose alpha is below 128. Null data: no alpha channel.
  Component alpha;
  // No pixel outside of this region is removed. Width 0: no limit.
  Region limit;
  // Also removes the pixels at most this many columns and rows away from a selected pixel in the limit.
  int dilation = 0;
};

// Works on frames of one size. Not thread-safe: use one instance per stream.
class RemovalMask {
 public:
  virtual ~RemovalMask() = default;

  // Sets *mask to a view of height x width bytes without padding, 255 where the pixel is removed and 0
  // elsewhere. The bytes are in the backend's memory: at `into` or, if that is null, in memory of this
  // instance that stays valid until the next call. The frame is only read. CUDA: enqueues one kernel per 32
  // regions (one if there are fewer), and two more if dilation is above 0. Errors: a frame of another size, a
  // dilation out of its range, and errors of the device.
  virtual Status run(const Frame &frame, const RemovalSources &sources, ImageView<const std::uint8_t> *mask,
                     std::uint8_t *into = nullptr) = 0;
};

// Scratch memory: two bytes per pixel.
Status make_removal_mask(const Execution &execution, Size size, std::unique_ptr<RemovalMask> *mask);

}  // namespace cudavision
