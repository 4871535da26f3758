// SPDX-License-Identifier: LGPL-2.1-or-later
// The operation of cudasigma2kp: finds keypoints in a frame, attaches them and draws them.
#pragma once

#include <gst/cudavision/cudavision.h>

#include <memory>
#include <vector>

#include "cuda/common/owned_list.h"
#include "cuda/draw/canvas.h"
#include "cuda/sigma2kp/sigma2kp.h"
#include "gst/base/element/element.h"
#include "gst/base/results/roi_gate.h"
#include "gst/sigma2kp/sigma2kp_settings.h"

namespace cudavision {

class Sigma2KpOperation final : public ElementOperation<Sigma2KpSettings> {
 public:
  using ElementOperation::ElementOperation;

  Status allocate(const OperationSetup &setup);
  Status run(const Job &job) override;
  Status finish(const Job &job) override;
  void describe(GstStructure *message) override;

 private:
  Sigma2KpList list() const { return {found_.items(), found_.count()}; }
  Status fit_to_settings(const Job &job);
  Status draw(const Job &job);
  GstCudaVisionKeypoint keypoint_of_frame(const Sigma2Keypoint &point, Region region) const;
  void warn_of_truncation(const Sigma2KpCount &count);

  Size region_;
  std::unique_ptr<Sigma2Kp> sigma2kp_;
  RoiGate gate_;
  std::unique_ptr<Canvas> canvas_;
  OwnedList<Sigma2KpCount, Sigma2Keypoint> found_;
  OwnedBytes primitives_;
  OwnedBytes drawn_;                             // the number of primitives, an int
  std::vector<GstCudaVisionKeypoint> attached_;  // a member to reuse its memory
};

}  // namespace cudavision
