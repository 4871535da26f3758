// SPDX-License-Identifier: LGPL-2.1-or-later
// Which pixels of a frame are removed: a mask from a picture, from regions, from a colour and from
// transparency.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"
#include "cuda/common/image.h"

namespace cudavision {

constexpr int kMaxDilation = 255;

// A pixel is removed when any of them says so.
struct RemovalSources {
  const std::uint8_t *picture =
      nullptr;                      // h x w, rows without padding, in the backend's memory: not 0; null: none
  const Region *regions = nullptr;  // region_count of them, in the host's memory; the frame cuts them
  int region_count = 0;
  bool by_color = false;
  Color color;        // in the frame's own components: pixels all of whose components are
  int tolerance = 0;  // at most this far from it
  Component alpha;    // below 128; without data there is none
  Region limit;       // nothing outside of it is removed; without a width there is none
  int dilation =
      0;  // and what lies at most so many columns and rows from one that is removed: 0 to kMaxDilation
};

// For frames of one size. Not thread-safe: one per stream.
class RemovalMask {
 public:
  virtual ~RemovalMask() = default;

  // *mask: h x w, 255 removed, 0 not, in the backend's memory, until the next call. CUDA: enqueues one kernel
  // for 32 regions or less, and two more for a dilation. Errors: a frame of another size, a dilation out of
  // range, and the device's own.
  virtual Status run(const Frame &frame, const RemovalSources &sources,
                     ImageView<const std::uint8_t> *mask) = 0;
};

// Scratch: two bytes a pixel.
Status make_removal_mask(const Execution &execution, Size size, std::unique_ptr<RemovalMask> *mask);

}  // namespace cudavision
