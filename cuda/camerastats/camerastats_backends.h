// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends of the camera's statistics, and what they share: the copies of the last two frames.
#pragma once

#include "cuda/camerastats/camerastats.h"
#include "cuda/common/backends.h"
#include "cuda/common/check_range.h"
#include "cuda/common/owned_memory.h"

namespace cudavision::camerastats {

// The arguments of CameraStats::run() with the picture before and the place for a copy of this one.
struct Frames {
  ImageView<const std::uint8_t> now, before;
  ImageView<std::uint8_t> copy;
  int noise;
  CameraNumbers *numbers;
  std::uint8_t *cells;
};

class KeptFrames : public CameraStats {
 public:
  KeptFrames(const Execution &execution, Size size) : execution_(execution), size_(size) {}
  Status allocate() {
    for (OwnedImage &copy : copies_) CUDAVISION_TRY(copy.allocate(execution_, size_));
    return {};
  }
  Status run(ImageView<const std::uint8_t> luma, int noise, CameraNumbers *numbers,
             std::uint8_t *cells) final {
    CUDAVISION_TRY(check_size("luma", luma.size(), size_));
    CUDAVISION_TRY(check_range("noise", noise, CameraStatsRanges::noise));
    const ImageView<const std::uint8_t> before = is_first_ ? luma : copies_[1 - next_].view();
    CUDAVISION_TRY(compute({luma, before, copies_[next_].view(), noise, numbers, cells}));
    is_first_ = false;
    next_ = 1 - next_;
    return {};
  }
  void restart() final { is_first_ = true; }

 protected:
  virtual Status compute(const Frames &frames) = 0;

  Execution execution_;

 private:
  Size size_;
  OwnedImage copies_[2];
  int next_ = 0;  // the copy that the next frame goes to; the other one is the frame before
  bool is_first_ = true;
};

decltype(make_camerastats) make_camerastats_cpu, make_camerastats_cuda;

}  // namespace cudavision::camerastats
