// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties and the operation of cudacameracheck: it measures a frame, and tells what is wrong with the camera.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda/camerastats/camerastats.h"
#include "cuda/common/owned_list.h"
#include "cuda/draw/canvas.h"
#include "gst/base/element/element.h"
#include "gst/base/element/stream_clock.h"
#include "gst/cameracheck/camera_judge.h"
#include "gst/cameracheck/frame_watch.h"
#include "gst/cameracheck/saved_looks.h"

namespace cudavision {

struct CheckSettings : JudgeSettings {
  double lost_time = 5;  // seconds; 0: never
  std::optional<std::string> model_location;

  friend bool operator==(const CheckSettings &, const CheckSettings &) = default;
};

// No two properties contradict each other.
inline Status validate(const CheckSettings &) { return {}; }

using CheckFiles = std::shared_ptr<SavedLooks>;  // of model-location, or null if there is no such file

struct CheckState : ElementState<CheckSettings, CheckFiles> {
  using ElementState::ElementState;

  FrameWatch watch{element()};
};

// The begin or the end of a time without frames, which lasts until it is told.
inline CameraEvent lost_event(GstClockTime time, bool begins) {
  CameraEvent event{.begins = begins, .measure = static_cast<double>(time) / GST_SECOND};
  (begins ? event.ago : event.duration) = event.measure;
  return event;
}
// running_time: of the frame that tells the event, or GST_CLOCK_TIME_NONE.
void post_camera_event(GstElement *element, const CameraEvent &event, GstClockTime running_time);

class CameraCheckOperation final : public ElementOperation<CheckSettings, CheckFiles> {
 public:
  using State = CheckState;

  explicit CameraCheckOperation(CheckState &state) : ElementOperation(state), check_state_(state) {}

  Status allocate(const OperationSetup &setup);
  Status run(const Job &job) override;
  Status finish(const Job &job) override;
  void describe(GstStructure *message) override;
  void drop_history() override;
  void end() override { learnt_->end(); }
  std::unique_ptr<LearntState> take_learnt(bool given_up) override;

 private:
  // What is known of the camera.
  struct Learnt : LearntState {
    explicit Learnt(State *of_element) : state(of_element) {}
    void drop_history() override { judge.jump(); }
    // Writes the looks to model-location, if that is set and a look was learnt.
    void end() override;

    State *state;
    CameraJudge judge;
    Region region;  // of the last frame, or of the file
  };

  // Takes the looks of model-location if they are for regions of this size.
  void resume(Size size);
  void tell(const Job &job, const std::vector<CameraEvent> &judged);
  Status draw(const Job &job);

  CheckState &check_state_;
  std::unique_ptr<Learnt> learnt_;
  std::unique_ptr<CameraStats> stats_;
  OwnedList<CameraNumbers, std::uint8_t> results_;
  bool has_before_ = false;  // stats_ knows the frame before
  StreamClock clock_;

  std::unique_ptr<Canvas> canvas_;
  std::vector<Primitive> text_;  // that is being copied to primitives_
  OwnedBytes primitives_;
};

}  // namespace cudavision
