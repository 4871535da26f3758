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
  Status allocate(const OperationSetup &setup) { return make_canny(setup.execution, setup.region, &canny_); }
  // Sets *edges, which is as large as the region of interest, to 255 on edges and to 0 elsewhere. roi_type: the value
  // of the property. A region is analysed with a margin, whose edges are then removed. So the region has the edges of
  // the whole picture, except for hysteresis, which follows chains of weak pixels only in the region and its margin.
  Status find(const Job &job, const CannyParams &params, const std::optional<std::string> &roi_type,
              ImageView<std::uint8_t> edges);
  // As find(), but takes the edges from the luma, which is an edge map, without analysis. roi_type must be set.
  Status keep(const Job &job, const std::optional<std::string> &roi_type, ImageView<std::uint8_t> edges);
  // Which regions of the last frame were analysed.
  const RoiGate &gate() const { return gate_; }

 private:
  std::unique_ptr<Canny> canny_;
  RoiGate gate_;
};

// How many pixels away, along x and y, the pixels may lie that decide whether a pixel is a strong edge.
int canny_reach(const CannyParams &params);

}  // namespace cudavision
