// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/cameracheck/cameracheck_operation.h"

#include <algorithm>
#include <span>
#include <utility>

#include "cuda/common/backends.h"
#include "cuda/draw/text.h"
#include "gst/base/element/timing.h"
#include "gst/base/frame/format.h"
#include "gst/base/input/regular_file.h"
#include "gst/base/results/frame_notes.h"
#include "gst/base/results/zones_meta.h"
#include "gst/base/style/label_style.h"

namespace cudavision {
namespace {

constexpr std::size_t kMostPrimitives = 128;  // of the names of all troubles

Size size_of(const Region &region) { return {region.width, region.height}; }

GstClockTime nanoseconds(double seconds) { return static_cast<GstClockTime>(seconds * GST_SECOND); }

GstStructure *make_event(const char *name, const CameraEvent &event, GstClockTime running_time) {
  GstStructure *made = gst_structure_new(
      name, "event", G_TYPE_STRING, kTroubleNames[static_cast<int>(event.trouble)], "state", G_TYPE_STRING,
      event.begins ? "begin" : "end", "measure", G_TYPE_DOUBLE, event.measure, nullptr);
  if (event.has_shift)
    gst_structure_set(made, "shift-x", G_TYPE_DOUBLE, event.shift_x, "shift-y", G_TYPE_DOUBLE, event.shift_y,
                      nullptr);
  if (!event.begins) gst_structure_set(made, "duration", G_TYPE_UINT64, nanoseconds(event.duration), nullptr);
  if (GST_CLOCK_TIME_IS_VALID(running_time))
    gst_structure_set(made, "running-time", G_TYPE_UINT64,
                      running_time - std::min(running_time, nanoseconds(event.ago)), nullptr);
  return made;
}

}  // namespace

void post_camera_event(GstElement *element, const CameraEvent &event, GstClockTime running_time) {
  GstStructure *made = make_event("cudacameracheck-event", event, running_time);
  gst_element_post_message(element, gst_message_new_element(GST_OBJECT(element), made));
}

Status CameraCheckOperation::allocate(const OperationSetup &setup) {
  state_.take_settings();
  const Size cells = camera_cells(setup.region);
  CUDAVISION_TRY(make_camerastats(setup.execution, setup.region, &stats_));
  CUDAVISION_TRY(results_.allocate(setup.execution, cells.width * cells.height));
  CUDAVISION_TRY(primitives_.allocate(setup.execution, kMostPrimitives * sizeof(Primitive)));
  CUDAVISION_TRY(make_canvas(setup.execution, size_of(*setup.info), &canvas_));
  auto *last = static_cast<Learnt *>(setup.learnt->get());
  if (last != nullptr && size_of(last->region) == setup.region) {
    learnt_.reset(static_cast<Learnt *>(setup.learnt->release()));
    learnt_->judge.jump();
    return {};
  }
  learnt_ = std::make_unique<Learnt>(&check_state_);
  resume(setup.region);
  return {};
}

void CameraCheckOperation::resume(Size size) {
  const CheckFiles &saved = state_.files();
  if (!saved) return;
  if (size_of(saved->region) == size)
    learnt_->region = saved->region, learnt_->judge.looks() = saved->looks;
  else
    state_.warn_once("model", "The file of model-location is for ", to_string(size_of(saved->region)),
                     " pixels: what the camera usually shows is learnt anew");
}

void CameraCheckOperation::Learnt::end() {
  const std::optional<std::string> &location = state->settings_in_force().model_location;
  if (!location || location->empty() || !judge.looks()[0].is_learnt()) return;
  const MemoryBudget::Scope not_charged(nullptr);
  const Status status = catch_bad_alloc(
      [&] { return replace_file(*location, SavedLooks{.region = region, .looks = judge.looks()}.encode()); });
  if (!status.ok()) state->warn_once("save", about_model(*location, " is not replaced: ", status).text());
}

std::unique_ptr<LearntState> CameraCheckOperation::take_learnt(bool) { return std::move(learnt_); }

void CameraCheckOperation::drop_history() {
  stats_->restart();
  has_before_ = false;
  learnt_->judge.jump();
}

Status CameraCheckOperation::run(const Job &job) {
  // What was learnt belongs to one place in the frame.
  const Region last = std::exchange(learnt_->region, job.region);
  if (last.width > 0 && last != job.region) learnt_->judge = {};
  CUDAVISION_TRY(stats_->run(job.luma, kNoiseLevel, results_.count(), results_.items()));
  CUDAVISION_TRY(results_.fetch(job.execution));
  return job.draw ? draw(job) : Status();
}

Status CameraCheckOperation::finish(const Job &job) {
  clock_.follow_caps(frame_duration(GST_VIDEO_INFO_FPS_N(job.info), GST_VIDEO_INFO_FPS_D(job.info)));
  const GstClockTime passed = clock_.next(GST_BUFFER_PTS(job.buffer), false, false).time;
  const Size size = job.luma.size();
  const std::span cells(results_.items_on_host(), static_cast<std::size_t>(results_.capacity()));
  const JudgedFrame frame{.numbers = results_.count_on_host(),
                          .picture = {cells, camera_cells(size)},
                          .pixels = static_cast<std::int64_t>(size.width) * size.height,
                          .passed = static_cast<double>(passed) / GST_SECOND,
                          .has_before = std::exchange(has_before_, true)};
  tell(job, learnt_->judge.take(frame, settings_));
  if (learnt_->judge.lacks_edges())
    state_.warn_once(
        "edges", "The camera shows too few edges: covers, blur and moves are not told until it shows more");
  for (const Trouble trouble : kBlinding)
    if (learnt_->judge.is_on(trouble))
      attach_warning(job.buffer, state_.element(), kTroubleNames[static_cast<int>(trouble)], kEveryType);
  return {};
}

void CameraCheckOperation::tell(const Job &job, const std::vector<CameraEvent> &judged) {
  std::vector<CameraEvent> events;
  const std::optional<GstClockTime> lost = check_state_.watch.take_lost();
  if (lost) events = {lost_event(*lost, true), lost_event(*lost, false)};
  events.insert(events.end(), judged.begin(), judged.end());
  if (events.empty()) return;  // the usual frame has no meta
  const GstClockTime running_time =
      to_running_time(GST_BASE_TRANSFORM(state_.element())->segment, GST_BUFFER_PTS(job.buffer));
  // The message that frames are lost was posted when it was noticed.
  for (std::size_t i = lost ? 1 : 0; i < events.size(); ++i)
    post_camera_event(state_.element(), events[i], running_time);
  GstStructure *meta = attach_zones(job.buffer);
  if (meta == nullptr) throw std::bad_alloc();
  set_list(meta, "events", events.size(),
           [&](std::size_t i) { return make_event("event", events[i], running_time); });
}

// Writes what was wrong with the frame before: what is wrong with this one is not known yet.
Status CameraCheckOperation::draw(const Job &job) {
  std::string text;
  for (int i = 0; i < kTroubles; ++i)
    if (learnt_->judge.is_on(static_cast<Trouble>(i)))
      text.append(text.empty() ? "" : " ").append(kTroubleNames[i]);
  if (text.empty() || !has_before_) return {};
  const TextStyle style = label_style(0xffff0000, 1, job.frame.size(), job.region, *job.info).text;
  text_.clear();
  append_text(&text_, text, job.region.x + 4 * style.scale, job.region.y + 4 * style.scale, style);
  text_.resize(std::min(text_.size(), kMostPrimitives));
  CUDAVISION_TRY(
      copy_from_host(job.execution, primitives_.data(), text_.data(), text_.size() * sizeof(Primitive)));
  return canvas_->draw(job.frame, static_cast<const Primitive *>(primitives_.data()),
                       static_cast<int>(text_.size()), nullptr, job.region);
}

void CameraCheckOperation::describe(GstStructure *message) {
  const CameraMeasures &m = learnt_->judge.measures();
  gst_structure_set(message, "learnt", G_TYPE_BOOLEAN, static_cast<gboolean>(m.is_learnt), "sharpness",
                    G_TYPE_DOUBLE, m.sharpness, "covered-share", G_TYPE_DOUBLE, m.covered_share, "kept-share",
                    G_TYPE_DOUBLE, m.kept_share, "shift-x", G_TYPE_DOUBLE, m.shift_x, "shift-y",
                    G_TYPE_DOUBLE, m.shift_y, "changed", G_TYPE_DOUBLE, m.changed, "brightness",
                    G_TYPE_DOUBLE, m.brightness, nullptr);
}

}  // namespace cudavision
