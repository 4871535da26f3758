// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudavisiontrack. Like cudavisionjson it reads metas only, and accepts any memory and format.
/**
 * SECTION:element-cudavisiontrack
 * @title: cudavisiontrack
 * @short_description: Gives regions and detections an identity over time
 *
 * cudavisiontrack finds out which regions of interest and which object detections of successive frames show the same
 * object, whoever attached them: #GstVideoRegionOfInterestMeta and, from GStreamer 1.24 on, object detections of
 * GstAnalytics. All boxes of a track have the same type. A Kalman filter predicts where each box goes, and boxes are
 * paired with predictions by their intersection over union, with a margin, and weak boxes in a second round
 * (`method=buffered`), or as in SORT (`method=sort`; A. Bewley, Z. Ge, L. Ott, F. Ramos and B. Upcroft, "Simple Online
 * and Realtime Tracking", ICIP 2016).
 *
 * Each region whose track is confirmed gets the parameter `tracking`, a #GstStructure with the fields `id` (guint64,
 * from 1 on), `frames` (gint64, frame durations since the first box of the track), `x`, `y`, `width`, `height`
 * (doubles): the box as the filter estimates it, which trembles less than the detector's; and `velocity-x`,
 * `velocity-y` (doubles): that of its centre, in pixels a second. The region itself does not change, nor does its own
 * `id`, which is unique within the frame alone. A detection is related to a tracking item of GstAnalytics with the same
 * id.
 *
 * The filter predicts over the time that passes between frames, so that tracks go on if frames are missing. On frames
 * at which a detector has not looked, as its marks say (gst_cuda_vision_buffer_mark_analysed()), the element attaches
 * the predictions as regions; their structure `tracking` has the field `predicted` (gboolean).
 *
 * A flush, the start of another stream, a change of direction, caps of another size, a jump in time and an unusually
 * long pause end all tracks, unless a single frame had a stray timestamp. Ids are not used again. A box that
 * already has an id of an upstream tracker keeps it, and this element gives other ids.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 -q filesrc location=street.mp4 ! decodebin ! videoconvert ! cudahog model=people display=false ! \
 *   cudavisiontrack ! cudavisionjson ! fakesink
 * ]|
 *
 * Since: 0.3
 */
#include <gst/cudavision/cudavision.h>
#include <gst/video/video.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gst/base/element/meta_element.h"
#include "gst/base/element/stream_clock.h"
#include "gst/base/element/timing.h"
#include "gst/base/results/analytics.h"
#include "gst/base/results/attached_boxes.h"
#include "gst/base/results/awaited_results.h"
#include "gst/visiontrack/identities.h"
#include "gst/visiontrack/searched_types.h"
#include "gst/visiontrack/tracker.h"

namespace cudavision {
namespace {

struct TrackSettings : TrackerSettings {
  std::optional<std::string> type;
};

struct TrackState : MetaState<TrackSettings> {
  Tracker tracker;
  StreamClock clock;
  std::optional<Tracker::State> before_stray;  // the tracks before the last frame, if that one was stray
  SearchedTypes searched;
  std::vector<AttachedBox> boxes;  // of the current frame
  std::vector<TypedBox> places;    // of `boxes`, in the same order
  Size size;                       // of the frames, by the caps
  bool warned = false;
  AwaitedResults awaited_boxes;
  AwaitedType awaited_type;
};

using GstCudaVisionTrack = MetaInstance<TrackState>;
using Properties = PropertyTable<TrackSettings>;

GType method_type() {
  return enum_type(
      "GstCudaVisionTrackMethod",
      {{TrackMethod::buffered, "Boxes with a buffer, weak ones in a second round; ids stay", "buffered"},
       {TrackMethod::sort, "SORT, as in the program of its authors", "sort"}});
}

void restart(GstCudaVisionTrack *track) {
  track->state->before_stray.reset();
  track->state->tracker.restart();
  track->state->clock.restart();
  track->state->searched.restart();
}

// Trackers in series give different ids: each sends downstream, by a sticky event, how many there are up to itself.
constexpr const char *kTrackersEvent = "GstCudaVisionTrackers";

void tell_trackers_behind(GstCudaVisionTrack *track) {
  GstStructure *count = gst_structure_new(kTrackersEvent, "count", G_TYPE_UINT64,
                                          track->state->tracker.trackers_before() + 1, nullptr);
  gst_pad_push_event(GST_BASE_TRANSFORM_SRC_PAD(track),
                     gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, count));
}

void follow_trackers(GstCudaVisionTrack *track, guint64 count) {
  Tracker &tracker = track->state->tracker;
  const guint64 before = tracker.trackers_before();
  tracker.follow_trackers(count);
  if (tracker.trackers_before() == before) return;
  track->state->before_stray.reset();
  tell_trackers_behind(track);
}

// --- states and events ---

void end(GstCudaVisionTrack *track) {
  restart(track);
  track->state->tracker.start();
  track->state->warned = false;
  track->state->awaited_boxes = {};
  track->state->awaited_type = {};
}

void take_caps(GstCudaVisionTrack *track, const FramesOfCaps &frames) {
  TrackState *state = track->state;
  if (frames.size != state->size) {
    state->before_stray.reset();
    state->tracker.restart();
  }
  state->size = frames.size;
  state->clock.follow_caps(frames.duration);
}

// A segment ends all tracks only if the direction of playback changes. Otherwise it may be the same video at another
// rate, or the next file: if its timestamps go on, so do the tracks.
void follow_segment(GstCudaVisionTrack *track, GstEvent *event) {
  const GstSegment *segment = nullptr;
  gst_event_parse_segment(event, &segment);
  track->state->clock.expect_jump();
  if ((segment->rate < 0) != (track->parent.segment.rate < 0)) restart(track);
}

// --- frames ---

WantedType wanted_type(const TrackSettings &settings) {
  return !settings.type || settings.type->empty() ? WantedType::all() : WantedType(settings.type->c_str());
}

void warn_of_too_many(GstCudaVisionTrack *track) {
  if (std::exchange(track->state->warned, true)) return;
  GST_ELEMENT_WARNING(
      track, STREAM, FAILED,
      ("A frame has %" G_GSIZE_FORMAT " boxes, of which only the first %d are tracked: set `type`",
       track->state->boxes.size(), Tracker::kMostBoxes),
      (nullptr));
}

// Learns from the ids that boxes have how many trackers are upstream.
void follow_ids(GstCudaVisionTrack *track) {
  for (const AttachedBox &box : track->state->boxes)
    if (box.track_id)
      follow_trackers(track, (std::max<guint64>(*box.track_id, 1) - 1) / Tracker::kIdsOfTracker + 1);
}

// Posts one warning if no boxes come, and one if only boxes of types other than `type` come.
void warn_of_absence(GstCudaVisionTrack *track, GstBuffer *buffer, const TrackSettings &settings) {
  TrackState *state = track->state;
  if (state->awaited_boxes.are_missing(buffer, AwaitedResults::Kind::boxes))
    GST_ELEMENT_WARNING(
        track, STREAM, FAILED,
        ("For 5 s no frame has carried a region, a detection or the mark of a detector that has found "
         "nothing: put a detector, such as cudahog, before this element"),
        (nullptr));
  if (!settings.type || settings.type->empty()) return;
  const std::string text = state->awaited_type.take(buffer, state->boxes, "type", *settings.type);
  if (!text.empty()) GST_ELEMENT_WARNING(track, RESOURCE, SETTINGS, ("%s", text.c_str()), (nullptr));
}

void collect_boxes_of(GstCudaVisionTrack *track, GstBuffer *buffer, const TrackSettings &settings) {
  TrackState *state = track->state;
  collect_boxes(buffer, state->stop, &state->boxes);
  warn_of_absence(track, buffer, settings);
  follow_ids(track);
  std::erase_if(state->boxes, [wanted = wanted_type(settings)](const AttachedBox &box) {
    return box.track_id || !(box.width > 0 && box.height > 0) || !wanted.includes(box.type);
  });
  if (state->boxes.size() > Tracker::kMostBoxes) {
    warn_of_too_many(track);
    state->boxes.resize(Tracker::kMostBoxes);
  }
  state->places.clear();
  for (const AttachedBox &own : state->boxes) state->places.push_back(typed_box(own));
}

// Returns the step to the next frame. A discontinuity announces no jump, because recorders may mark a stray frame as
// one, and the tracks can go on from the frame before it.
Tick step_to(TrackState *state, GstClockTime pts, bool reverse) {
  Tick tick = state->clock.next(pts, false, reverse);
  if (tick.place == Tick::Place::returns && state->before_stray) {
    state->tracker.take_back(std::move(*state->before_stray));
    tick.step += state->clock.duration(), ++tick.frames;  // these tracks have not counted the stray frame
  }
  state->before_stray.reset();
  if (tick.place == Tick::Place::stray) state->before_stray = state->tracker.state();
  return tick;
}

GstFlowReturn take_frame(GstCudaVisionTrack *track, GstBuffer *buffer) {
  TrackState *state = track->state;
  TrackSettings settings = Properties::snapshot(track);
  collect_boxes_of(track, buffer, settings);
  // Detectors skip gap frames, so a gap frame without boxes or a mark tells nothing.
  if (GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP) && state->boxes.empty() && !has_mark(buffer))
    return GST_FLOW_OK;
  const GstSegment &segment = track->parent.segment;
  const Tick tick = step_to(state, GST_BUFFER_PTS(buffer), segment.rate < 0);
  if (!state->clock.knows_duration()) settings.max_age_time = 0;
  const GstClockTime now = to_running_time(segment, GST_BUFFER_PTS(buffer));
  const TrackedFrame tracked = state->tracker.next(state->places, settings, tick, now,
                                                   state->searched.take(buffer, state->places), state->stop);
  if (state->stop.requested()) return GST_FLOW_FLUSHING;
  attach_identities(buffer, state->boxes, tracked, state->size, now);
  return GST_FLOW_OK;
}

// --- the class ---

struct TrackElement {
  using Instance = GstCudaVisionTrack;

  static constexpr ElementText kText{"GstCudaVisionTrack", "Tracker of regions and detections",
                                     "Filter/Analyzer/Video",
                                     "Gives regions of interest and object detections an identity over time"};
  static constexpr const char *kMemory = "the tracks of a frame";
  static constexpr auto take_frame = cudavision::take_frame;
  static constexpr auto take_caps = cudavision::take_caps;
  static constexpr auto restart = cudavision::restart;
  static constexpr auto end = cudavision::end;

  static std::vector<Property<TrackSettings>> properties() {
    using S = TrackSettings;
    return {
        string_property<S>({"type", "Type", "Track only regions and detections of this type (default: all)"},
                           &S::type),
        enum_property<S>({"method", "Method", "How boxes are paired with tracks"}, method_type(), &S::method),
        real_property<S>(
            {"iou-threshold", "IoU threshold",
             "method=sort: a box and a prediction with a smaller intersection over union are not paired"},
            &S::iou_threshold, 0.0, 1.0),
        integer_property<S>(
            {"min-hits", "Minimum hits",
             "A track is confirmed, and its boxes get its id, when it has had a box in this many frames "
             "after its first one (method=sort: in succession); in the first frames of a stream all tracks "
             "are confirmed"},
            &S::min_hits, 0, 1000),
        integer_property<S>(
            {"max-age", "Maximum age",
             "A track ends in a frame without a box of it, if its last box is more than this many frames ago "
             "(-1 = 3 seconds, and 30 frames with method=sort)"},
            &S::max_age, -1, 1000),
        unsigned_property<S>({"max-age-time", "Maximum age in nanoseconds",
                              "Takes the place of max-age: the most time since the last box of a track, in "
                              "nanoseconds (0 = max-age holds)"},
                             &S::max_age_time)};
  }

  static constexpr auto follow_segment = cudavision::follow_segment;

  static void extend(GstBaseTransformClass *klass) {
    klass->sink_event = GST_DEBUG_FUNCPTR(sink_event);
    gst_cuda_vision_analysis_meta_api_get_type();  // else GStreamer drops marks from other processes
  }

  static gboolean sink_event(GstBaseTransform *transform, GstEvent *event) {
    auto *track = reinterpret_cast<GstCudaVisionTrack *>(transform);
    guint64 count = 0;
    if (gst_event_has_name(event, kTrackersEvent) &&
        gst_structure_get_uint64(gst_event_get_structure(event), "count", &count)) {
      follow_trackers(track, count);
      gst_event_unref(event);  // downstream already has a greater count from this element
      return TRUE;
    }
    const bool is_segment = GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT;
    const gboolean result = MetaElement<TrackElement>::sink_event(transform, event);
    if (is_segment) tell_trackers_behind(track);
    return result;
  }
};

}  // namespace
}  // namespace cudavision

GST_ELEMENT_REGISTER_DEFINE(cudavisiontrack, "cudavisiontrack", GST_RANK_NONE,
                            cudavision::MetaElement<cudavision::TrackElement>::type())
