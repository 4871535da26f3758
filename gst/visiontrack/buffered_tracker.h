// SPDX-License-Identifier: LGPL-2.1-or-later
// The method `buffered`: boxes with a margin around them, which is a buffer, are compared in two rounds.
//
// Boxes and predictions are enlarged before they are compared, so that somebody who moves unexpectedly or was lost for
// a moment still overlaps the prediction (F. Yang, S. Odashima, S. Masui and S. Jiang, "Hard to Track Objects with
// Irregular Motions and Similar Appearances? Make It Easier by Buffering the Matching Space", WACV 2023). Boxes with
// weak scores get what is left in a second round (Y. Zhang et al., "ByteTrack: Multi-Object Tracking by Associating
// Every Detection Box", ECCV 2022). They are compared without a buffer, and begin a track only where no other one is
// near, because most false boxes are weak and lie beside a true one.
//
// The scores of different detectors cannot be compared. So a box is weak by its rank: more than four fifths of the last
// boxes of its type have a higher score.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "cuda/common/stop.h"
#include "gst/base/element/stream_clock.h"
#include "gst/visiontrack/constant_velocity.h"
#include "gst/visiontrack/tracked_box.h"

namespace cudavision {

// Follows the centre of a box, with a constant velocity, and its sides. Lengths are measured in the longer side of the
// box and times in seconds, so that neither the size of the picture nor the frame rate changes what is assumed.
class BufferedFilter {
 public:
  explicit BufferedFilter(const TypedBox &box);

  std::optional<TypedBox> box() const;
  Velocity velocity(const Tick &) const { return {x_.velocity(), y_.velocity()}; }
  void predict(const Tick &tick);
  void take(const TypedBox &box);

 private:
  ConstantVelocity x_, y_, width_, height_;
};

class BufferedPairing {
 public:
  void restart() { scores_.clear(); }
  Pairing pair(const std::vector<TypedBox> &boxes, const std::vector<TypedBox> &predictions,
               const StopFlag &stop);

 private:
  void learn(const std::vector<TypedBox> &boxes);
  bool is_weak(const TypedBox &box) const;

  std::map<GQuark, std::deque<double>> scores_;  // the last scores of each type, oldest first
};

}  // namespace cudavision
