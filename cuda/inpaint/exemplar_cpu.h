// SPDX-License-Identifier: LGPL-2.1-or-later
// The patch-by-patch fill of the CPU backend.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "cuda/common/execution.h"
#include "cuda/common/memory_budget.h"
#include "cuda/inpaint/inpaint_rules.h"
#include "cuda/inpaint/patch_distance_simd.h"

namespace cudavision::inpaint {

// The picture that is filled.
struct Exemplars {
  // Pixel words of the frame's components.
  ImageView<std::uint32_t> pixels;
  ImageView<const std::uint32_t> features;
  // Not 0 where the pixel is unfilled. Set to 0 where a patch is copied.
  ImageView<std::uint8_t> hole;
  ComparedPlanes planes;
  // Not 0 where the patch around the pixel is a candidate.
  ImageView<const std::uint8_t> sources;
};

class ExemplarFill {
 public:
  ExemplarFill(const Execution &execution, Size size);

  // Fills the hole, whose bounds are given, until it is full or max_patches is reached. The hole must not be empty,
  // there must be a candidate, and params must be valid. progress is called after each patch with the number of pixels
  // filled so far. If it returns false, the fill stops, and *stopped is set.
  Status run(const Exemplars &picture, Bounds bounds, const InpaintParams &params, const FillLog &log,
             const std::function<bool(int filled)> &progress, int *patches, bool *stopped);

 private:
  Status begin(const Exemplars &picture, Bounds bounds, int radius);
  // Recomputes the gradients and priorities that depend on pixels at most `reach` columns and rows away from (x, y), a
  // pixel of the area.
  void update(int x, int y, int reach);
  // Computes the gradients of the pixels [first, last) of a row of the area.
  void update_gradients(int y, int first, int last);
  // Computes the priorities of the pixels [first, last) of a row of the area, then the best target of the whole row.
  void rate_row(int y, int first, int last);
  std::uint64_t best_target() const;
  void take_target(const Exemplars &picture, Place place);
  Status find_source(const Exemplars &picture, Place target, int search_radius, Place *source);
  // Copies the patch and returns the number of pixels that it filled.
  int put_patch(const Exemplars &picture, Place target, Place source);

  Execution execution_;
  Size size_;
  int radius_ = 0;
  FillState state_{};
  Array<std::uint32_t> words_;
  Array<LumaGradient> gradient_;  // gradient_at() of each pixel
  Array<ConfidenceCode> confidence_;
  Array<std::uint64_t> row_best_;
  Target target_;
  // The shift from the last target to its source.
  Shift last_shift_;
};

}  // namespace cudavision::inpaint
