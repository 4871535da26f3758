// SPDX-License-Identifier: LGPL-2.1-or-later
// The operation of cudavisionredact: hides what HiddenRegions has chosen for a frame.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "cuda/common/owned_memory.h"
#include "cuda/redact/redact.h"
#include "gst/base/element/element.h"
#include "gst/base/results/awaited_results.h"
#include "gst/visionredact/hidden_regions.h"
#include "gst/visionredact/look_back.h"
#include "gst/visionredact/picture_metas.h"
#include "gst/visionredact/redact_settings.h"

namespace cudavision {

// The state that outlives a frame and an operation. Only the streaming thread uses it, even before start(), because
// GStreamer activates the pads earlier, and stop(), after that thread has ended.
struct RedactState : ElementState<RedactSettings> {
  using ElementState::ElementState;

  std::atomic<int> look_back = 0;                // the property at the last start
  std::atomic<GstClockTime> look_back_time = 0;  // also
  std::atomic<GstClockTime> frame_duration = 0;  // by the caps, or 0
  HiddenRegions regions;
  LookBack line;
  HiddenFrame hidden;  // what is hidden in the frame that is processed
};

class VisionRedactOperation final : public ElementOperation<RedactSettings> {
 public:
  using State = RedactState;

  explicit VisionRedactOperation(RedactState &state) : ElementOperation(state), redact_state_(state) {}

  Status allocate(const OperationSetup &setup);
  Status run(const Job &job) override;
  Status finish(const Job &job) override;
  ImageView<const std::uint8_t> replaced() const override { return map_view_; }
  void describe(GstStructure *message) override;

 private:
  Reads reads() const override { return Reads::components; }
  Status make_map(const Job &job);
  void warn(const Job &job);

  RedactState &redact_state_;
  std::unique_ptr<Redact> redact_;
  FrameMasks masks_;
  HiddenPolygons polygons_;
  std::vector<RedactMask> frame_masks_;
  std::vector<AttachedBox> boxes_;
  AwaitedType awaited_;
  OwnedBytes map_;
  ImageView<std::uint8_t> map_view_;  // for replaced(): where pixels are hidden; empty unless Job::is_copy
  bool whole_ = false;                // the last frame was hidden as a whole
};

}  // namespace cudavision
