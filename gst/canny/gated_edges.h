// SPDX-License-Identifier: LGPL-2.1-or-later
// Edges, for every element that finds them: of the whole region of interest, or of the regions that roi-type selects.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cuda/canny/canny.h"
#include "gst/base/results/roi_gate.h"

namespace cudavision {

class GatedEdges {
 public:
  Status allocate(const Site &site) { return make_canny(site.execution, site.region, &canny_); }
  // Sets *edges, which is as large as the region of interest, to 255 on edges and to 0 elsewhere. roi_type: the value of the
  // property. A region is analysed with a margin, in which no edges are kept: where Canny's definition is local, its edges are
  // those of the whole picture. Hysteresis is not local: chains of weak pixels are followed in the region and its margin.
  Status find(const Job &job, const CannyParams &params, const std::optional<std::string> &roi_type,
              ImageView<std::uint8_t> edges);
  // The same with the edges that the luma holds, without analysis and margins. roi_type is set.
  Status keep(const Job &job, const std::optional<std::string> &roi_type, ImageView<std::uint8_t> edges);
  // Of the last frame.
  const RoiGate &gate() const { return gate_; }

 private:
  std::unique_ptr<Canny> canny_;
  RoiGate gate_;
};

// The pixels around a pixel that decide whether it is a strong edge: at most so many on each side.
int canny_reach(const CannyParams &params);

}  // namespace cudavision
