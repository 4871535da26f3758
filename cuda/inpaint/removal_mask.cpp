// SPDX-License-Identifier: LGPL-2.1-or-later
// The removal mask: validation, the division into passes, and the choice of a backend.
#include "cuda/inpaint/removal_mask.h"

#include <algorithm>

#include "cuda/common/check_range.h"
#include "cuda/inpaint/removal_mask_backends.h"

namespace cudavision {
namespace inpaint {

Status check_sources(const Frame &frame, const RemovalSources &sources, Size made_for) {
  CUDAVISION_TRY(check_size("frame", frame.size(), made_for));
  return check_range("dilate", sources.dilation, RemovalRanges::dilation);
}

RemovalPass removal_pass(const RemovalSources &sources, int first_region) {
  RemovalPass pass;
  pass.region_count = std::min(kRegionsPerPass, sources.region_count - first_region);
  std::copy_n(sources.regions + first_region, pass.region_count, pass.regions);
  pass.limit = sources.limit;
  pass.adds = first_region > 0;
  if (pass.adds) return pass;
  pass.picture = sources.picture;
  pass.by_color = sources.by_color;
  pass.color = sources.color;
  pass.tolerance = sources.tolerance;
  pass.alpha = sources.alpha;
  return pass;
}

}  // namespace inpaint

Status make_removal_mask(const Execution &execution, Size size, std::unique_ptr<RemovalMask> *mask) {
  return make_on_backend(execution, size, mask, CUDAVISION_BACKENDS(inpaint::make_removal_mask));
}

}  // namespace cudavision
