// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends of background subtraction and of reduced pictures, and the host code that they share.
#pragma once

#include <memory>

#include "cuda/bgsub/bgsub.h"
#include "cuda/bgsub/bgsub_rules.h"
#include "cuda/bgsub/bgsub_scale.h"
#include "cuda/common/backends.h"
#include "cuda/common/owned_memory.h"

namespace cudavision::bgsub {

// The part of the model that both backends share: its memory, and the number of frames it has learnt.
class Subtractor : public BackgroundSubtractor {
 public:
  Subtractor(const Execution &execution, Size size, int channels, int mixtures)
      : execution_(execution), size_(size), channels_(channels), mixtures_(mixtures) {}
  Status allocate();
  void restart() final { frames_ = 0; }
  std::int64_t frames() const final { return frames_; }
  Status fetch(BgsubState *state) const final;
  Status resume(const BgsubState &state) final;

 protected:
  // Checks the arguments of run(), and sets *rules for this frame. The frame counts as learnt only when end_frame()
  // gets a successful status, which it returns. Until then the memory of an empty model is undefined.
  Status begin_frame(const BgsubPicture &picture, ImageView<const std::uint8_t> kept,
                     const BgsubParams &params, Size mask, Rules *rules);
  Status end_frame(const Status &learnt);
  Status check(const BgsubParams &params, const BgsubPicture &picture) const;
  Model model() const;
  BgsubShape shape() const { return {size_, channels_, mixtures_}; }

  const Execution execution_;
  const Size size_;
  const int channels_, mixtures_;

 private:
  OwnedBytes modes_, counts_;
  std::int64_t frames_ = 0;  // learnt since the model began
};

decltype(make_bgsub) make_bgsub_cpu, make_bgsub_cuda;
decltype(reduce_picture) reduce_cpu, reduce_cuda;
decltype(enlarge_picture) enlarge_cpu, enlarge_cuda;

}  // namespace cudavision::bgsub
