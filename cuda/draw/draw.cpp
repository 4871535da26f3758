// SPDX-License-Identifier: LGPL-2.1-or-later
// Drawing masks: validation, and choice of a backend.
#include "cuda/draw/draw.h"

#include "cuda/common/backends.h"
#include "cuda/draw/draw_backends.h"

namespace cudavision {
namespace {

Status paint(const Execution &execution, const Frame &frame, Region region,
             ImageView<const std::uint8_t> mask, const draw::Style &style) {
  CUDAVISION_TRY(check_size("mask", mask.size(), {region.width, region.height}));
  CUDAVISION_TRY(check_region(region, frame.size()));
  return run_on_backend(execution, CUDAVISION_BACKENDS(draw::paint), frame, region, mask, style);
}

}  // namespace

Status replace_with_mask(const Execution &execution, const Frame &frame, Region region,
                         ImageView<const std::uint8_t> mask) {
  return paint(execution, frame, region, mask, {.replace = true, .color = {}});
}

Status overlay_mask(const Execution &execution, const Frame &frame, Region region,
                    ImageView<const std::uint8_t> mask, Color color) {
  return paint(execution, frame, region, mask, {.replace = false, .color = color});
}

}  // namespace cudavision
