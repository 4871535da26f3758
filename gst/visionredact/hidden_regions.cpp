// SPDX-License-Identifier: LGPL-2.1-or-later
// Remembers where objects were found last, and hides them there and on their ways.
#include "gst/visionredact/hidden_regions.h"

#include <gst/cudavision/cudavision.h>
#include <gst/video/gstvideometa.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <utility>

#include "gst/base/results/frame_notes.h"
#include "gst/meta/reading.h"
#include "gst/visionredact/picture_metas.h"

namespace cudavision {
namespace {

// The most boxes of a frame and the most objects, to bound the time. If there are more, whole frames are hidden.
constexpr std::size_t kMostBoxes = 256, kMostObjects = 512;
constexpr char kMotion[] = "motion";
constexpr double kForesight = 0.5;   // seconds for which an object is carried on by its velocity
constexpr double kSameObject = 0.3;  // boxes that overlap by more are of one object
constexpr int kStandsFor = 10;       // where nothing moves, an object is held for so many times `hold`

double seconds(GstClockTime from, GstClockTime to) {
  return (static_cast<double>(to) - static_cast<double>(from)) / static_cast<double>(GST_SECOND);
}

GstClockTime nanoseconds(double seconds) { return static_cast<GstClockTime>(seconds * GST_SECOND); }

// Whether one size is the other one scaled, up to a pixel.
bool have_one_shape(Size a, Size b) {
  return std::abs(a.width * b.height - a.height * b.width) <=
         std::max(a.width + a.height, b.width + b.height);
}

}  // namespace

void HiddenRegions::follow_caps(Size size, GstClockTime duration) {
  clock_.follow_caps(duration);
  if (size == size_) return;
  forget_looks();
  if (!have_one_shape(size, size_)) objects_.clear();
  for (Object &object : objects_) {
    const double x = static_cast<double>(size.width) / size_.width,
                 y = static_cast<double>(size.height) / size_.height;
    Place &p = object.place;
    p = {p.x * x, p.y * y, p.width * x, p.height * y};
    object.velocity_x *= x, object.velocity_y *= y;
  }
  size_ = size;
}

void HiddenRegions::follow_tags(const GstTagList *tags) {
  const char *orientation = nullptr;
  if (!gst_tag_list_peek_string_index(tags, GST_TAG_IMAGE_ORIENTATION, 0, &orientation)) return;
  if (orientation_ != orientation) forget_places();
  orientation_ = orientation;
}

void HiddenRegions::follow_crop(GstBuffer *buffer) {
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta(buffer);
  const std::pair<guint, guint> corner = crop != nullptr ? std::pair(crop->x, crop->y) : std::pair(0U, 0U);
  if (corner != corner_) forget_places();
  corner_ = corner;
}

// Adds the place to the frame's boxes, grown to whole pixels, at least one. Too many boxes hide the whole frame.
void HiddenRegions::put(const Place &place, Frame *frame) {
  constexpr Range<int> kEdge = RedactRanges::edge;
  const auto pixel = [&kEdge](double value) {
    return static_cast<int>(std::clamp<double>(value, kEdge.least, kEdge.most - 1));
  };
  const int x = pixel(std::floor(place.x)), y = pixel(std::floor(place.y)),
            right = std::max(x + 1, pixel(std::ceil(place.x + place.width))),
            bottom = std::max(y + 1, pixel(std::ceil(place.y + place.height)));
  HiddenFrame &hidden = frame->hidden;
  const Region region{x, y, right - x, bottom - y};
  if (hidden.whole || std::find(hidden.boxes.begin(), hidden.boxes.end(), region) != hidden.boxes.end())
    return;
  if (hidden.boxes.size() < static_cast<std::size_t>(kMostRedactBoxes))
    hidden.boxes.push_back(region);
  else
    hidden.whole = hidden.is_crowded = true;
}

// Hides the place, unless the frame is inverse: then everything outside of its own boxes is hidden.
void HiddenRegions::hide(const Place &place, Frame *frame) {
  if (!frame->hidden.by.inverse) put(place, frame);
}

// Hides the object where it was found, and as far as it may have gone in this time, which is negative before it was
// found. The ellipse around both places need not cover them, so it grows until it covers the box around both.
void HiddenRegions::hide_near(const Object &object, double seconds, Frame *frame) {
  const double time = std::clamp(seconds, -kForesight, kForesight);
  const Place &p = object.place;
  Place near = around(p, {p.x + time * object.velocity_x, p.y + time * object.velocity_y, p.width, p.height});
  if (near != p && frame->hidden.by.shape == RedactShape::ellipse) {
    const double x = (std::numbers::sqrt2 - 1) / 2 * near.width,
                 y = (std::numbers::sqrt2 - 1) / 2 * near.height;
    near = {near.x - x, near.y - y, near.width + 2 * x, near.height + 2 * y};
  }
  hide(near, frame);
}

bool HiddenRegions::is_silent(GstBuffer *buffer, const RedactSettings &settings, bool has_boxes) {
  const char *type = settings.is_every_type() ? nullptr : settings.type->c_str();
  const bool is_marked = gst_cuda_vision_buffer_get_n_results(buffer, type) >= 0,
             is_blind = is_blind_for(buffer, kEveryType);  // the camera shows nothing that could be looked at
  if (is_marked || has_partial_look(buffer, type))
    has_marks_ = true;  // it marks frames that it has seen whole
  if (is_marked && !is_blind) last_mark_ = now_;
  const bool has_found = has_boxes || (settings.masks && has_segmentations(buffer, settings));
  if (has_found && !is_blind) last_box_ = now_;
  // A detector that marks frames marks each one that it has analysed. Other detectors attach only what they have found.
  const GstClockTime last = has_marks_ ? last_mark_ : last_box_;
  return !GST_CLOCK_TIME_IS_VALID(last) || now_ - last > nanoseconds(settings.timeout);
}

// Sets boxes_ to the boxes that the settings ask for, and moving_ to where something moves.
void HiddenRegions::collect(GstBuffer *buffer, const RedactSettings &settings, const StopFlag &stop) {
  collect_boxes(buffer, stop, &boxes_);
  knows_motion_ = gst_cuda_vision_buffer_get_n_results(buffer, kMotion) >= 0;
  moving_.clear();
  for (const AttachedBox &box : boxes_)
    if (WantedType(kMotion).includes(box.type)) moving_.push_back(place_of(box));
  // A box whose type cannot be read may be of any type: it is hidden.
  const WantedType wanted = settings.is_every_type() ? WantedType::all() : WantedType(settings.type->c_str());
  std::erase_if(boxes_, [&](const AttachedBox &box) {
    return !wanted.includes(box.type) && text_of(box.type) != nullptr;
  });
}

void HiddenRegions::arrive(GstBuffer *buffer, bool reverse, const RedactSettings &settings,
                           const StopFlag &stop) {
  if (settings.type != type_) forget_detector(), type_ = settings.type;
  last_look_ = GST_CLOCK_TIME_IS_VALID(last_mark_) ? last_mark_ : now_;  // without marks, every frame counts
  const Tick tick = clock_.next(GST_BUFFER_PTS(buffer), false, reverse);
  if (tick.tells_jump()) forget_looks();
  follow_crop(buffer);
  frames_.push_back({now_ += tick.time, {}});
  HiddenFrame &hidden = frames_.back().hidden;
  hidden.by = HiddenBy(settings);
  collect(buffer, settings, stop);
  const bool has_found =
      std::any_of(boxes_.begin(), boxes_.end(), [](const AttachedBox &box) { return !box.predicted; });
  // A stray frame may show another scene: that a detector looked at earlier frames does not count in it.
  const bool is_stray = tick.place == Tick::Place::stray;
  const auto before = std::pair(last_mark_, last_box_);
  if (is_stray) last_mark_ = last_box_ = GST_CLOCK_TIME_NONE;
  hidden.is_unseen = is_silent(buffer, settings, has_found);
  hidden.is_silent = hidden.is_unseen && !is_stray && now_ - scene_ > nanoseconds(settings.timeout);
  if (!GST_CLOCK_TIME_IS_VALID(last_mark_)) last_mark_ = before.first;
  if (!GST_CLOCK_TIME_IS_VALID(last_box_)) last_box_ = before.second;
  if (boxes_.size() > kMostBoxes) boxes_.clear(), hide_all_held();
  for (const AttachedBox &box : boxes_) take(box, settings);
  hold(nanoseconds(settings.hold), tick.time);
}

// Hides all held frames, and later ones (last_crowd_) for as long as the objects that are not followed would be held.
void HiddenRegions::hide_all_held() {
  last_crowd_ = now_;
  for (Frame &frame : frames_) frame.hidden.whole = frame.hidden.is_crowded = true;
}

void HiddenRegions::take(const AttachedBox &box, const RedactSettings &settings) {
  const bool is_typed = settings.is_every_type() || text_of(box.type) != nullptr;
  // With `inverse`, a wrong guess of a type or a place would show more.
  const bool is_certain = is_typed && !box.predicted && box.width > 0 && box.height > 0;
  if (!settings.inverse || is_certain) put(place_of(box), &frames_.back());
  if (box.predicted || (!box.track_id && WantedType(kMotion).includes(box.type))) return;
  Object seen{.type = box.type, .track = box.track_id, .place = place_of(box), .found = now_};
  if (box.estimate) seen.velocity_x = box.estimate->velocity_x, seen.velocity_y = box.estimate->velocity_y;
  see(seen);
}

// Returns the object as it was found before, if it was: the one with its id, or else the one without an id that
// overlaps it most.
HiddenRegions::Object *HiddenRegions::find(const Object &seen) {
  Object *best = nullptr;
  double most = kSameObject;
  for (Object &object : objects_) {
    if (object.type != seen.type) continue;
    if (seen.track && object.track == seen.track) return &object;
    if (object.track || object.found == now_) continue;
    if (const double common = intersection_over_union(object.place, seen.place); common > most)
      best = &object, most = common;
  }
  return best;
}

// Hides the object in the held frames from when it was found before or, if it is new, in all of them. If the box of an
// id is far from the one before, the id may have gone over to somebody else: then the old place is held, too.
void HiddenRegions::see(const Object &seen) {
  Object *before = find(seen);
  for (Frame &frame : frames_)
    if (frame.time < now_ && before == nullptr)
      hide_near(seen, seconds(now_, frame.time), &frame);
    else if (frame.time < now_ && frame.time > before->found)
      hide(between(*before, seen, frame.time), &frame);
  const bool is_far = before != nullptr && intersection_over_union(before->place, seen.place) <= kSameObject;
  if ((before == nullptr || is_far) && objects_.size() >= kMostObjects) return hide_all_held();
  if (before == nullptr) return objects_.push_back(seen);
  Object old = std::exchange(*before, seen);
  old.track.reset();
  if (is_far) objects_.push_back(old);
}

// Where the object was at `time` if it went straight from where it was found before.
HiddenRegions::Place HiddenRegions::between(const Object &from, const Object &to, GstClockTime time) {
  const double part = seconds(from.found, time) / seconds(from.found, to.found);
  const auto mix = [part](double a, double b) { return a + part * (b - a); };
  const Place &a = from.place, &b = to.place;
  return {mix(a.x, b.x), mix(a.y, b.y), mix(a.width, b.width), mix(a.height, b.height)};
}

// Whether nothing moves where the object was found: it cannot have gone, unless it was on its way out of the frame. A
// box without an id may be a mistake.
bool HiddenRegions::is_still(const Object &object) const {
  const Place &p = object.place;
  const double left = p.x + kForesight * object.velocity_x, top = p.y + kForesight * object.velocity_y;
  if (left < 0 || top < 0 || left + p.width > size_.width || top + p.height > size_.height) return false;
  return knows_motion_ && object.track && std::none_of(moving_.begin(), moving_.end(), [&p](const Place &m) {
           const double x = m.x + m.width / 2, y = m.y + m.height / 2;
           return x >= p.x && x < p.x + p.width && y >= p.y && y < p.y + p.height;
         });
}

// Hides the objects that the arriving frame lacks, for the time `most`. step: the time since the frame before. Keeps
// those that a later box may have to hide in held frames: one with an id at any time, one without an id only until the
// detector looks next.
void HiddenRegions::hold(GstClockTime most, GstClockTime step) {
  Frame &frame = frames_.back();
  if (GST_CLOCK_TIME_IS_VALID(last_crowd_) && now_ - last_crowd_ <= most)
    frame.hidden.whole = frame.hidden.is_crowded = true;
  const auto is_held = [&](const Object &object) {
    return object.missed <= most && now_ - object.found <= kStandsFor * most;
  };
  for (Object &object : objects_) {
    if (object.found == now_) continue;
    if (!is_still(object)) object.missed += step;
    if (is_held(object)) hide_near(object, seconds(object.found, now_), &frame);
  }
  std::erase_if(objects_, [&](const Object &object) {
    const bool is_needed =
        object.found >= frames_.front().time && (object.track || object.found >= last_look_);
    return object.found != now_ && !is_held(object) && !is_needed;
  });
}

HiddenFrame HiddenRegions::leave() {
  HiddenFrame hidden;
  hidden.whole = frames_.empty();
  if (hidden.whole) return hidden;
  hidden = std::move(frames_.front().hidden);
  frames_.pop_front();
  return hidden;
}

}  // namespace cudavision
