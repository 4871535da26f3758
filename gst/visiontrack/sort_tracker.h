// SPDX-License-Identifier: LGPL-2.1-or-later
// A. Bewley, Z. Ge, L. Ott, F. Ramos and B. Upcroft, "Simple Online and Realtime Tracking", ICIP 2016.
//
// Each track has a Kalman filter of constant velocity (section 3.2) with the state [u, v, s, r, u', v', s']: the centre
// of the box, its area and its ratio of width to height, which has no velocity. Boxes of a frame are assigned to the
// boxes that the filters predict so that the sum of the intersections over union is largest (section 3.3), unless the
// pairs that overlap enough leave no choice. The variances are those of the authors' program.
//
// In the paper all frames arrive. Here frames may be missing: the filters predict over the time that has passed, in
// steps of a frame duration.
#pragma once

#include <optional>
#include <vector>

#include "cuda/common/stop.h"
#include "gst/base/element/stream_clock.h"
#include "gst/visiontrack/constant_velocity.h"
#include "gst/visiontrack/tracked_box.h"

namespace cudavision {

class SortFilter {
 public:
  explicit SortFilter(const TypedBox &box);

  // The place of the box that the filter estimates; nullopt if its numbers are not finite.
  std::optional<TypedBox> box() const;
  Velocity velocity(const Tick &tick) const;  // tick: the last one
  void predict(const Tick &tick);
  void take(const TypedBox &box);

 private:
  ConstantVelocity u_, v_, area_, ratio_;
};

// Pairs boxes and predictions whose overlap is at least the threshold. All other boxes begin tracks.
Pairing pair_by_sort(const std::vector<TypedBox> &boxes, const std::vector<TypedBox> &predictions,
                     double threshold, const StopFlag &stop);

}  // namespace cudavision
