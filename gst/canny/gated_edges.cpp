// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/canny/gated_edges.h"

#include <cmath>

#include "cuda/common/rectangle.h"

namespace cudavision {

int canny_reach(const CannyParams &params) {
  constexpr int kNeighbour = 1;  // non-maximum suppression reads neighbours
  const int smoothing =
      params.gaussian_sigma > 0 ? static_cast<int>(std::ceil(3 * params.gaussian_sigma)) + 1 : 0;
  return params.aperture / 2 + kNeighbour + smoothing;
}

Status GatedEdges::find(const Job &job, const CannyParams &params, const std::optional<std::string> &roi_type,
                        ImageView<std::uint8_t> edges) {
  CUDAVISION_TRY(validate(params));
  const int margin = canny_reach(params);
  CUDAVISION_TRY(gate_.find(job, roi_type, margin));
  if (gate_.is_open()) return canny_->run(job.luma, edges, params, job.input);
  CUDAVISION_TRY(fill_rectangle(job.execution, edges, 0));
  for (const auto &[region, all] : gate_.regions()) {
    CUDAVISION_TRY(canny_->run(job.luma.crop(all), edges.crop(all), params, job.input));
    const int right = region.x + region.width, bottom = region.y + region.height,
              all_right = all.x + all.width, all_bottom = all.y + all.height;
    for (const Region &side : {Region{all.x, all.y, all.width, region.y - all.y},
                               Region{all.x, bottom, all.width, all_bottom - bottom},
                               Region{all.x, region.y, region.x - all.x, region.height},
                               Region{right, region.y, all_right - right, region.height}})
      CUDAVISION_TRY(fill_rectangle(job.execution, edges.crop(side), 0));
  }
  return {};
}

Status GatedEdges::keep(const Job &job, const std::optional<std::string> &roi_type,
                        ImageView<std::uint8_t> edges) {
  CUDAVISION_TRY(gate_.find(job, roi_type));
  CUDAVISION_TRY(fill_rectangle(job.execution, edges, 0));
  for (const GatedRegion &gated : gate_.regions())
    CUDAVISION_TRY(copy_rectangle(job.execution, job.luma.crop(gated.region), edges.crop(gated.region)));
  return {};
}

}  // namespace cudavision
