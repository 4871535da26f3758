// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visionredact/hidden_regions.h"

#include <gst/cudavision/cudavision.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "gst/meta/reading.h"
#include "gst/visionredact/picture_metas.h"

namespace cudavision {
namespace {

// Bounds of the time that a frame may take. Beyond them the whole frame is hidden.
constexpr std::size_t kMostBoxes = 256, kMostObjects = 512;
constexpr std::size_t kMostSightings = 16;
constexpr GstClockTime kMotionTime = GST_SECOND / 2;  // of which the motion is measured
constexpr double kLeastOverlap = 0.1;
constexpr GstClockTime kSlowest = 10 * GST_SECOND;  // from frame to frame

double seconds(GstClockTime from, GstClockTime to) {
  return (static_cast<double>(to) - static_cast<double>(from)) / static_cast<double>(GST_SECOND);
}

GstClockTime nanoseconds(double seconds) { return static_cast<GstClockTime>(seconds * GST_SECOND); }

}  // namespace

void HiddenRegions::follow_caps(Size size, GstClockTime duration) {
  duration_ = duration;
  if (size_.width > 0 && size_.height > 0 && size != size_) {
    const double x = static_cast<double>(size.width) / size_.width,
                 y = static_cast<double>(size.height) / size_.height;
    for (Object &object : objects_)
      for (Sighting &sighting : object.seen) {
        Place &p = sighting.place;
        p = {p.x * x, p.y * y, p.width * x, p.height * y};
      }
  }
  size_ = size;
}

// A jump says nothing of how long an object was not seen: it counts as one frame. A second gap of this kind is the pace of a slow
// camera.
GstClockTime HiddenRegions::advance(GstClockTime pts) {
  const GstClockTime usual = duration_ > 0 ? duration_ : GST_SECOND / 30;
  const bool is_later = GST_CLOCK_TIME_IS_VALID(pts) && GST_CLOCK_TIME_IS_VALID(last_pts_) && pts > last_pts_;
  const GstClockTime gap = is_later ? pts - last_pts_ : 0;
  const bool follows =
      is_later && gap <= std::max({GstClockTime{GST_SECOND}, 2 * usual, 2 * std::min(last_gap_, kSlowest)});
  now_ += follows ? gap : usual;
  last_pts_ = pts, last_gap_ = gap;
  return now_;
}

// Straight on, as it moved in the last half second.
HiddenRegions::Place HiddenRegions::at(const Object &object, GstClockTime time) {
  const Sighting &from = object.seen.front(), &to = object.seen.back();
  Place place = time < object.first ? from.place : to.place;
  if (from.time >= to.time) return place;
  const double since = seconds(time < object.first ? from.time : to.time, time) / seconds(from.time, to.time);
  const auto moved = [since](double a, double length_a, double b, double length_b) {
    return since * (b + length_b / 2 - a - length_a / 2);
  };
  place.x += moved(from.place.x, from.place.width, to.place.x, to.place.width);
  place.y += moved(from.place.y, from.place.height, to.place.y, to.place.height);
  return place;
}

HiddenRegions::Place HiddenRegions::both(const Place &a, const Place &b) {
  const double x = std::min(a.x, b.x), y = std::min(a.y, b.y);
  return {x, y, std::max(a.x + a.width, b.x + b.width) - x, std::max(a.y + a.height, b.y + b.height) - y};
}

// The inscribed ellipse of the result covers the place.
HiddenRegions::Place HiddenRegions::around(const Place &p) {
  const double x = (std::numbers::sqrt2 - 1) / 2 * p.width, y = (std::numbers::sqrt2 - 1) / 2 * p.height;
  return {p.x - x, p.y - y, p.width + 2 * x, p.height + 2 * y};
}

double HiddenRegions::overlap(const Place &a, const Place &b) {
  const double width = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x),
               height = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y);
  if (!(width > 0 && height > 0)) return 0;
  return width * height / (a.width * a.height + b.width * b.height - width * height);
}

// Grows to whole pixels. A place without a size has at least a pixel.
void HiddenRegions::add(const Place &place, Frame *frame) {
  constexpr Range<int> kEdge = RedactRanges::edge;
  const auto pixel = [&kEdge](double value) {
    return static_cast<int>(std::clamp<double>(value, kEdge.least, kEdge.most - 1));
  };
  const int x = pixel(std::floor(place.x)), y = pixel(std::floor(place.y)),
            right = std::max(x + 1, pixel(std::ceil(place.x + place.width))),
            bottom = std::max(y + 1, pixel(std::ceil(place.y + place.height)));
  std::vector<Region> &boxes = frame->hidden.boxes;
  const Region region{x, y, right - x, bottom - y};
  if (std::find(boxes.begin(), boxes.end(), region) != boxes.end()) return;
  if (boxes.size() >= static_cast<std::size_t>(kMostRedactBoxes)) frame->hidden.whole = true;
  if (!frame->hidden.whole) boxes.push_back(region);
}

// Both places and what lies between them.
void HiddenRegions::add_between(const Place &seen, const Place &expected, const RedactSettings &settings,
                                Frame *frame) {
  const Place place = both(seen, expected);
  const bool is_way = seen.x != expected.x || seen.y != expected.y;
  add(settings.shape == RedactShape::ellipse && is_way ? around(place) : place, frame);
}

bool HiddenRegions::is_silent(GstBuffer *buffer, const RedactSettings &settings, bool has_boxes) {
  const char *type = settings.is_every_type() ? nullptr : settings.type->c_str();
  if (gst_cuda_vision_buffer_get_n_results(buffer, type) >= 0) last_mark_ = now_;
  if (has_boxes || (settings.masks && has_segmentations(buffer, settings))) last_box_ = now_;
  // A detector that marks frames says so of each that it has looked at; any other one only if it has found something.
  const GstClockTime last = GST_CLOCK_TIME_IS_VALID(last_mark_) ? last_mark_ : last_box_;
  return !GST_CLOCK_TIME_IS_VALID(last) || now_ - last > nanoseconds(settings.timeout);
}

void HiddenRegions::arrive(GstBuffer *buffer, const RedactSettings &settings) {
  frames_.push_back({advance(GST_BUFFER_PTS(buffer)), {}});
  collect_boxes(buffer, StopFlag(), &boxes_);
  // A box whose type cannot be read may be of any type: it is hidden.
  const WantedType wanted = settings.is_every_type() ? WantedType::all() : WantedType(settings.type->c_str());
  std::erase_if(boxes_, [&](const AttachedBox &box) {
    return !wanted.includes(box.type) && (settings.inverse || text_of(box.type) != nullptr);
  });
  Frame &frame = frames_.back();
  const bool is_silent_now = is_silent(buffer, settings, !boxes_.empty());
  frame.hidden.is_silent = is_silent_now && now_ > nanoseconds(settings.timeout);
  frame.hidden.whole =
      boxes_.size() > kMostBoxes || (is_silent_now && settings.on_silence == OnSilence::hide_all);
  if (boxes_.size() > kMostBoxes) boxes_.clear();
  if (settings.inverse) {  // to guess where an object is would show more
    objects_.clear();
    for (const AttachedBox &box : boxes_) add({box.x, box.y, box.width, box.height}, &frame);
  } else {
    follow(boxes_, settings);
  }
}

// By the id, or else by the overlap with an object one of which has no id.
HiddenRegions::Object *HiddenRegions::find(const AttachedBox &box) {
  const Place place{box.x, box.y, box.width, box.height};
  Object *best = nullptr;
  double most = kLeastOverlap;
  for (Object &object : objects_) {
    if (object.is_here || object.type != box.type) continue;
    if (object.track != 0 && object.track == box.track) return &object;
    if (object.is_gone || (object.track != 0 && box.track != 0)) continue;
    const double common = overlap(place, at(object, now_));
    if (common > most) best = &object, most = common;
  }
  return best;
}

void HiddenRegions::see(Object *object, const Place &place, const RedactSettings &settings) {
  const Sighting last = object->seen.back();
  object->seen.push_back({now_, place});
  while (object->seen.size() > kMostSightings ||
         (object->seen.size() > 2 && now_ - object->seen.front().time > kMotionTime))
    object->seen.pop_front();
  for (Frame &frame : frames_) {
    if (frame.time > last.time && frame.time < now_) {  // it was not found there
      const double part = seconds(last.time, frame.time) / seconds(last.time, now_);
      const auto between = [part](double a, double b) { return a + part * (b - a); };
      add({between(last.place.x, place.x), between(last.place.y, place.y),
           between(last.place.width, place.width), between(last.place.height, place.height)},
          &frame);
    }
    if (frame.time < object->first)
      add_between(object->seen.front().place, at(*object, frame.time), settings, &frame);
  }
}

void HiddenRegions::follow(const std::vector<AttachedBox> &boxes, const RedactSettings &settings) {
  for (Object &object : objects_) object.is_here = false;
  Frame &arrived = frames_.back();
  // Ids first: they tell more than places.
  for (const bool with_id : {true, false})
    for (const AttachedBox &box : boxes) {
      if ((box.track != 0) != with_id) continue;
      const Place place{box.x, box.y, box.width, box.height};
      add(place, &arrived);
      Object *object = find(box);
      if (object != nullptr) {
        if (box.track != 0) object->track = box.track;
        see(object, place, settings);
      } else if (objects_.size() < kMostObjects) {
        objects_.push_back({box.type, box.track, now_, {{now_, place}}});
        object = &objects_.back();
        for (Frame &frame : frames_)
          if (frame.time < now_) add(place, &frame);
      } else {
        for (Frame &frame : frames_) frame.hidden.whole = true;
        continue;
      }
      object->is_here = true;
    }
  // A held frame may need to know later where an object with an id was before it.
  const GstClockTime hold = nanoseconds(settings.hold), oldest = frames_.front().time;
  for (Object &object : objects_) object.is_gone = !object.is_here && now_ - object.seen.back().time > hold;
  std::erase_if(objects_, [oldest](const Object &object) {
    return object.is_gone && (object.track == 0 || object.seen.back().time < oldest);
  });
  for (const Object &object : objects_)
    if (const Sighting &last = object.seen.back(); !object.is_here && now_ - last.time <= hold)
      add_between(last.place, at(object, now_), settings, &arrived);
}

HiddenFrame HiddenRegions::leave() {
  if (frames_.empty()) return {true, false, {}};
  HiddenFrame hidden = std::move(frames_.front().hidden);
  frames_.pop_front();
  return hidden;
}

}  // namespace cudavision
