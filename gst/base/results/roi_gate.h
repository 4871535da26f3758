// SPDX-License-Identifier: LGPL-2.1-or-later
// The property roi-type: the element analyses only the regions of a frame that boxes of one type cover.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cuda/common/places.h"
#include "gst/base/element/operation.h"
#include "gst/base/element/properties.h"
#include "gst/base/results/attach.h"
#include "gst/base/results/awaited_results.h"

namespace cudavision {

// S has the member std::optional<std::string> roi_type.
template <typename S>
Property<S> roi_type_property() {
  return string_property<S>({"roi-type", "ROI type",
                             "Analyse only the regions of interest and object detections of this type that "
                             "the buffer carries, such as motion (* = those of every type; not set = the "
                             "whole frame)"},
                            &S::roi_type);
}

// A region that is analysed, in coordinates of the region of interest.
struct GatedRegion {
  Region region;
  Region with_margin;  // clipped to the region of interest

  friend bool operator==(const GatedRegion &, const GatedRegion &) = default;
};

class RoiGate {
 public:
  static constexpr int kMostRegions = Places::kMostRegions;

  // Finds the regions to analyse in a frame. type: the value of roi-type. margin: how many pixels around each region
  // the analysis needs. Fails with the code `stopped` if the stop flag is set.
  Status find(const Job &job, const std::optional<std::string> &type, int margin = 0);
  // Whether the whole region of interest is analysed, because roi-type is not set.
  bool is_open() const { return is_open_; }
  // How the source of the boxes has looked at the last frame: where it has not, nothing is analysed. A source that sets
  // no marks has looked at the frames that carry its boxes.
  Look look() const { return look_; }
  // The whole region of interest if the source of the boxes could not look at the frame (is_blind_for()).
  // Regions that overlap, margins included, are merged into the rectangle around both. If more than kMostRegions are
  // left, those are merged that grow least.
  const std::vector<GatedRegion> &regions() const { return regions_; }
  // The regions without their margins, for the algorithms.
  Places places() const;
  // See TypedRegions::complaint().
  const std::string &complaint() const { return found_.complaint(); }

 private:
  Look look_of_source(GstBuffer *buffer, const char *name);  // null: of any type
  void add(Region region);

  TypedRegions found_;
  std::vector<Region> merged_;  // with their margins, which may leave the region of interest
  std::vector<GatedRegion> regions_;
  bool is_open_ = true;
  Look look_ = Look::whole;
  bool source_marks_ = false;  // the source has marked a frame
};

}  // namespace cudavision
