// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudavisionzones. Like cudavisiontrack it reads metas only, and accepts any memory and format.
/**
 * SECTION:element-cudavisionzones
 * @title: cudavisionzones
 * @short_description: Counts objects that cross lines, and that are in zones
 *
 * cudavisionzones reads the regions of interest and the object detections of GstAnalytics that have the id of a track,
 * by #element-cudavisiontrack or any other tracker. It tells which of them cross a line and in which direction, which
 * enter and leave a polygon, who stays long in it, and when it is crowded.
 *
 * The lines and polygons come from a file in JSON (`location`) or from a text of the same form (`zones`):
 * `{"lines": [{"name": "door", "from": [320, 100], "to": [320, 300]}]}`. The schema is `cudavisionzones.schema.json`.
 *
 * Each event is posted as an element message `cudavisionzones`, with the fields `event` (`cross`, `enter`, `leave`,
 * `dwell`, `crowd`, `wrong-way` or `close`), `name` (of the line or polygon), `running-time` (guint64, when it
 * happened) and, but for `crowd`, `id` (guint64), `type`, `x` and `y` (doubles, the anchor in pixels). `cross` has
 * `direction`; `leave`, `dwell` and `crowd` have `duration` (guint64, nanoseconds); `crowd` has `count` (guint64);
 * `close` has `other` (guint64, the id of the nearest track) and `distance` (a double, in metres).
 *
 * Each frame gets a #GstCustomMeta `GstCudaVisionZonesMeta`. Its structure has the lists `events`, `zones` (the
 * counters), `shapes` and, with `metres`, `tracks`: their places and speeds on the ground. #element-cudavisionjson
 * writes all but `shapes`, #element-cudavisionoverlay draws shapes, counters and speeds.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 -q filesrc location=street.mp4 ! decodebin ! videoconvert ! cudahog model=people display=false \
 *   ! cudavisiontrack ! cudavisionzones zones='{"lines": [{"name": "door", "from": [320, 100], "to": [320, 300]}]}' \
 *   ! cudavisionjson ! fakesink
 * ]|
 *
 * Since: 0.3
 */
#include <algorithm>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gst/base/element/meta_element.h"
#include "gst/base/element/stream_clock.h"
#include "gst/base/element/timing.h"
#include "gst/base/input/excerpt.h"
#include "gst/base/results/attached_boxes.h"
#include "gst/base/results/awaited_results.h"
#include "gst/base/results/zones_meta.h"
#include "gst/visionzones/zone_counter.h"
#include "gst/visionzones/zone_results.h"
#include "gst/visionzones/zone_source.h"
#include "gst/visionzones/zone_state.h"

namespace cudavision {
namespace {

// The most events of a frame that are attached and posted as messages. Events beyond it are only counted.
constexpr std::size_t kMostEvents = 1024;
// The counts are written to state-location after so much time, and at the end.
constexpr GstClockTime kSaveTime = 60 * GST_SECOND;

struct ZonesState : MetaState<ZoneSettings> {
  // Set by begin(), then used by the streaming thread: its first frame moves first_plan to `plan`.
  ZoneSource source;
  std::optional<ZonePlan> first_plan;
  std::string state_location;            // empty: the counts are not kept
  std::vector<ZoneCounts> first_counts;  // of state_location
  ZonePlan plan;
  ZoneCounter counter;
  StreamClock clock;
  GstClockTime now = 0;    // the time that has passed, which never goes back
  GstClockTime saved = 0;  // when the counts were written
  Size size;               // of the frames, by the caps
  std::vector<AttachedBox> boxes;
  std::vector<CountedBox> counted;  // those of `boxes` that have a track id
  AwaitedResults awaited_boxes;
  Patience awaited_ids;
  bool has_ids = false, warned_of_plan = false, warned_of_tracks = false, warned_of_events = false,
       warned_of_state = false;
  std::string told_of_rule;  // the last warning of a line or zone that is out of reach
};

using GstCudaVisionZones = MetaInstance<ZonesState>;
using Properties = PropertyTable<ZoneSettings>;

void warn_once(GstCudaVisionZones *zones, bool *warned, const char *text) {
  if (!std::exchange(*warned, true)) GST_ELEMENT_WARNING(zones, STREAM, FAILED, ("%s", text), (nullptr));
}

// --- the plan ---

// What is wrong with the first line or zone that can count nothing in frames of this size; empty if there is none.
std::string out_of_reach(const std::vector<CountedRule> &rules, bool is_fraction, Size frame) {
  const FixedBox picture = box_between({}, fixed_point(frame.width, frame.height));
  for (const CountedRule &counted : rules) {
    if (counted.rule.is_inverse) continue;
    const std::string name =
        (counted.rule.is_line() ? "The line '" : "The zone '") + excerpt(counted.rule.name) + "'";
    const FixedBox around = box_around(counted.points);
    if (!around.meets(picture)) {
      const std::string size = std::to_string(frame.width) + "x" + std::to_string(frame.height);
      return name + " counts nothing: it lies outside of the frame, which has " + size + " pixels";
    }
    const bool is_tiny =
        around.most.x - around.least.x < kUnitsOfPixel && around.most.y - around.least.y < kUnitsOfPixel;
    if (is_tiny && !is_fraction)
      return name +
             " is smaller than a pixel: if its points are fractions of the frame, set \"units\": "
             "\"fraction\"";
  }
  return {};
}

void follow_plan(GstCudaVisionZones *zones) {
  ZonesState *state = zones->state;
  state->counter.follow(state->plan, state->size);
  if (state->size.width == 0) return;  // caps have yet to come
  std::string text = out_of_reach(state->counter.rules(), state->plan.is_fraction, state->size);
  if (text.empty() || text == state->told_of_rule) return;
  state->told_of_rule = std::move(text);
  GST_ELEMENT_WARNING(zones, RESOURCE, SETTINGS, ("%s", state->told_of_rule.c_str()), (nullptr));
}

// --- states and events ---

void restart(GstCudaVisionZones *zones) {
  zones->state->counter.forget_tracks();
  zones->state->clock.restart();
}

void follow_segment(GstCudaVisionZones *zones, GstEvent *) { zones->state->clock.expect_jump(); }

bool begin(GstCudaVisionZones *zones) {
  ZonesState *state = zones->state;
  state->source.restart();
  Status status;
  const ZoneSettings settings = Properties::snapshot(zones);
  const ZonePlan &plan = state->first_plan.emplace();
  state->source.update(settings, &*state->first_plan, &status);
  state->state_location = plan.rules.empty() ? "" : settings.state_location.value_or("");
  if (status.ok() && !state->state_location.empty())
    status = load_counts(state->state_location, plan, &state->first_counts);
  if (!status.ok()) {
    GST_ELEMENT_ERROR(zones, RESOURCE, SETTINGS, ("%s", status.text().c_str()), (nullptr));
    return false;
  }
  return true;
}

void save(GstCudaVisionZones *zones) {
  ZonesState *state = zones->state;
  state->saved = state->now;
  if (state->state_location.empty() || state->plan.rules.empty()) return;
  const Status status = save_counts(state->state_location, state->plan, state->counter.rules());
  if (!status.ok()) warn_once(zones, &state->warned_of_state, status.text().c_str());
}

void end(GstCudaVisionZones *zones) {
  ZonesState *state = zones->state;
  save(zones);
  state->state_location.clear(), state->first_counts.clear();
  state->first_plan.reset();
  state->plan = {}, state->counter = {};
  state->clock.restart();
  state->awaited_boxes = {}, state->awaited_ids = {};
  state->has_ids = state->warned_of_plan = state->warned_of_tracks = state->warned_of_events =
      state->warned_of_state = false;
  state->told_of_rule.clear();
}

void take_caps(GstCudaVisionZones *zones, const FramesOfCaps &frames) {
  ZonesState *state = zones->state;
  state->size = frames.size;
  state->clock.follow_caps(frames.duration);
  follow_plan(zones);
}

// --- frames ---

void follow_settings(GstCudaVisionZones *zones) {
  ZonesState *state = zones->state;
  if (state->first_plan) {
    state->plan = *std::exchange(state->first_plan, std::nullopt);
    follow_plan(zones);
    state->counter.restore(std::exchange(state->first_counts, {}));
  }
  Status status;
  if (!state->source.update(Properties::snapshot(zones), &state->plan, &status)) return;
  if (status.ok())
    follow_plan(zones);
  else
    GST_ELEMENT_WARNING(zones, RESOURCE, SETTINGS,
                        ("%s: the last valid zones stay in force", status.text().c_str()), (nullptr));
}

// Posts a warning if the first 5 s of frames carry no boxes, or if 5 s of frames with boxes pass without any track id.
void warn_of_absence(GstCudaVisionZones *zones, GstBuffer *buffer) {
  ZonesState *state = zones->state;
  if (state->awaited_boxes.are_missing(buffer, AwaitedResults::Kind::boxes))
    GST_ELEMENT_WARNING(
        zones, STREAM, FAILED,
        ("For 5 s no frame has carried a region, a detection or the mark of a detector that has "
         "found nothing: put a detector, such as cudahog, and cudavisiontrack before this element"),
        (nullptr));
  state->has_ids = state->has_ids || !state->counted.empty();
  if (!state->has_ids && !state->boxes.empty() && state->awaited_ids.is_over(buffer))
    warn_once(zones, &state->has_ids,
              "For 5 s no box has had the id of a track: put cudavisiontrack before this element");
}

// The place that the tracker estimates, if there is one: a detector's boxes tremble across lines.
CountedBox counted_box(const AttachedBox &box) {
  const TrackEstimate place = box.estimate.value_or(TrackEstimate{box.x, box.y, box.width, box.height, 0, 0});
  return {*box.track_id, box.type, place.x, place.y, place.width, place.height, box.predicted};
}

void collect(GstCudaVisionZones *zones, GstBuffer *buffer) {
  ZonesState *state = zones->state;
  collect_boxes(buffer, state->stop, &state->boxes);
  state->counted.clear();
  for (const AttachedBox &box : state->boxes)
    if (box.track_id && box.width >= 0 && box.height >= 0) state->counted.push_back(counted_box(box));
  warn_of_absence(zones, buffer);
}

void post_events(GstCudaVisionZones *zones, const std::vector<ZoneEvent> &events, std::size_t count,
                 FrameTime time) {
  const std::vector<CountedRule> &rules = zones->state->counter.rules();
  for (std::size_t i = 0; i < count; ++i) {
    GstStructure *event = make_event("cudavisionzones", events[i], rules[events[i].rule], time);
    gst_element_post_message(GST_ELEMENT(zones), gst_message_new_element(GST_OBJECT(zones), event));
  }
}

GstFlowReturn take_frame(GstCudaVisionZones *zones, GstBuffer *buffer) {
  ZonesState *state = zones->state;
  follow_settings(zones);
  if (state->plan.rules.empty()) {
    warn_once(zones, &state->warned_of_plan, "Neither location nor zones is set: nothing is counted");
    return GST_FLOW_OK;
  }
  collect(zones, buffer);
  const GstClockTime running_time = to_running_time(zones->parent.segment, GST_BUFFER_PTS(buffer));
  const Tick tick = state->clock.next(running_time, false, false);  // running times never fall
  state->now += tick.time + tick.pause;
  if (tick.place == Tick::Place::stray)
    state->counted.clear();  // a tracker gives ids of their own to these boxes
  const std::vector<ZoneEvent> &events = state->counter.next(state->counted, state->now, state->stop);
  if (state->stop.requested()) return GST_FLOW_FLUSHING;
  if (state->counter.has_too_many())
    warn_once(zones, &state->warned_of_tracks,
              "There are more tracks than can be counted: some are left out");
  if (events.size() > kMostEvents)
    warn_once(zones, &state->warned_of_events,
              "A frame has more events than can be told: they are counted, but some are not told");
  const std::size_t count = std::min(events.size(), kMostEvents);
  const FrameTime time{state->now, running_time};
  if (!attach_zone_results(buffer, state->counter, events, count, state->size, time)) throw std::bad_alloc();
  post_events(zones, events, count, time);
  if (state->now - state->saved >= kSaveTime) save(zones);
  return GST_FLOW_OK;
}

// --- the class ---

// Makes a property that has the plan read again whenever it is set, even to an equal value: the file may have changed.
Property<ZoneSettings> source_property(PropertyText text, std::optional<std::string> ZoneSettings::*member) {
  Property<ZoneSettings> property = string_property<ZoneSettings>(text, member);
  property.set = [set = property.set](ZoneSettings &settings, const GValue *value) {
    set(settings, value);
    ++settings.generation;
  };
  return property;
}

struct ZonesElement {
  using Instance = GstCudaVisionZones;

  static constexpr ElementText kText{
      "GstCudaVisionZones", "Counter of lines and zones", "Filter/Analyzer/Video",
      "Counts tracked objects that cross lines, and that enter, leave and stay in zones"};
  static constexpr const char *kMemory = "the zones";
  static constexpr auto take_frame = cudavision::take_frame;
  static constexpr auto take_caps = cudavision::take_caps;
  static constexpr auto restart = cudavision::restart;
  static constexpr auto follow_segment = cudavision::follow_segment;
  static constexpr auto begin = cudavision::begin;
  static constexpr auto end = cudavision::end;

  static std::vector<Property<ZoneSettings>> properties() {
    using S = ZoneSettings;
    return {source_property(
                {"location", "Location",
                 "File with lines and zones in JSON (cudavisionzones.schema.json), read again when it "
                 "is replaced"},
                &S::location),
            source_property({"zones", "Zones", "Lines and zones in JSON, instead of location"}, &S::zones),
            string_property<S>({"state-location", "State location",
                                "File in which the counts are kept: read at the start if it is there, and "
                                "written every minute and at the stop"},
                               &S::state_location, Mutable::ready)};
  }
  static void extend(GstBaseTransformClass *) { register_zones_meta(); }
};

}  // namespace
}  // namespace cudavision

GST_ELEMENT_REGISTER_DEFINE(cudavisionzones, "cudavisionzones", GST_RANK_NONE,
                            cudavision::MetaElement<cudavision::ZonesElement>::type())
