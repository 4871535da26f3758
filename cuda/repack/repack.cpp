// SPDX-License-Identifier: LGPL-2.1-or-later
// Validation for repacking, and the choice of a backend.
#include "cuda/repack/repack.h"

#include "cuda/common/backends.h"
#include "cuda/repack/repack_backends.h"

namespace cudavision {
namespace {

Status check(const RepackedFrame &frame, int components) {
  if (components < 1 || components > frame.count || frame.count > 4)
    return invalid_argument("a frame has 1 to 4 components, not " + std::to_string(components));
  for (int i = 0; i < components; ++i) {
    const RepackedComponent &c = frame.component[i];
    if (c.wide.shift_x != c.eight.shift_x || c.wide.shift_y != c.eight.shift_y)
      return invalid_argument("component " + std::to_string(i) + " is subsampled in two ways");
    if (c.low < 0 || c.low > (c.bit == 0 ? 8 : c.bit))
      return invalid_argument("a sample has " + std::to_string(c.low) + " bits below the first one, " +
                              std::to_string(c.bit));
    if (c.bit < 0 || c.bit > 7) return invalid_argument("bit must be 0 to 7, not " + std::to_string(c.bit));
  }
  return frame.range ? validate(*frame.range) : Status();
}

}  // namespace

Status validate(const GrayRange &range) {
  if (range.low >= 0 && range.low < range.high && range.high <= GrayRange::kMost) return {};
  return invalid_argument("gray16-min must be less than gray16-max, but they are " +
                          std::to_string(range.low) + " and " + std::to_string(range.high));
}

Status repack_frame(const Execution &execution, const RepackedFrame &frame, int components) {
  CUDAVISION_TRY(check(frame, components));
  return run_on_backend(execution, CUDAVISION_BACKENDS(repack::repack), frame, components);
}

Status unpack_frame(const Execution &execution, const RepackedFrame &frame, Region region,
                    ImageView<const std::uint8_t> replaced) {
  CUDAVISION_TRY(check(frame, frame.count));
  CUDAVISION_TRY(check_region(region, frame.size()));
  if (replaced.data != nullptr) CUDAVISION_TRY(check_size("replaced", replaced.size(), frame.size()));
  return run_on_backend(execution, CUDAVISION_BACKENDS(repack::unpack), frame, region, replaced);
}

}  // namespace cudavision
