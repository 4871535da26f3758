// SPDX-License-Identifier: LGPL-2.1-or-later
// Follows objects from frame to frame, and hides them where they are, were or may be.
#include "gst/visionredact/hidden_regions.h"

#include <gst/cudavision/cudavision.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>
#include <utility>

#include "gst/meta/reading.h"
#include "gst/visionredact/picture_metas.h"

namespace cudavision {
namespace {

// The most boxes of a frame and the most objects, to bound the time. If there are more, whole frames are hidden.
constexpr std::size_t kMostBoxes = 256, kMostObjects = 512;
constexpr int kSureSightings = 5;                     // so many tell how an object moves
constexpr GstClockTime kMotionTime = GST_SECOND / 2;  // over which motion is measured
// If three sightings lie within this time, the middle one is dropped, so that kMotionTime holds at most 26 sightings.
constexpr GstClockTime kNearSightings = kMotionTime / 12;
constexpr GstClockTime kSameSighting = GST_SECOND / 200;  // closer sightings are merged
constexpr double kLeastOverlap = 0.1;
constexpr double kSureOverlap = 0.5;  // below it, a box may be of another object
constexpr double kSamePlace = 0.75;   // above it, two copies of an object are one
constexpr double kJump = 0.1;         // an overlap this much larger shows a jump

double seconds(GstClockTime from, GstClockTime to) {
  return (static_cast<double>(to) - static_cast<double>(from)) / static_cast<double>(GST_SECOND);
}

GstClockTime nanoseconds(double seconds) { return static_cast<GstClockTime>(seconds * GST_SECOND); }

}  // namespace

void HiddenRegions::follow_caps(Size size, GstClockTime duration) {
  clock_.follow_caps(duration);
  if (size != size_) forget_looks();
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

HiddenRegions::Place HiddenRegions::moved(const Place &place, const Motion &motion, double seconds) {
  return {place.x + seconds * motion.x, place.y + seconds * motion.y, place.width, place.height};
}

HiddenRegions::Motion HiddenRegions::motion_of(const Sighting &from, const Sighting &to) {
  if (from.time >= to.time) return {};
  const Place &a = from.place, &b = to.place;
  const double time = seconds(from.time, to.time);
  return {(b.x + b.width / 2 - a.x - a.width / 2) / time, (b.y + b.height / 2 - a.y - a.height / 2) / time};
}

// The medians, in x and in y, of the motions between any two sightings. Single boxes in wrong places do not change them
// (H. Theil, "A Rank-Invariant Method of Linear and Polynomial Regression Analysis", 1950; P. K. Sen, "Estimates of the
// Regression Coefficient Based on Kendall's Tau", 1968).
HiddenRegions::Motion HiddenRegions::steady_motion_of(const Sighting *begin, const Sighting *end) {
  const auto median = [&](double Motion::*part) {
    slopes_.clear();
    for (const Sighting *from = begin; from < end; ++from)
      for (const Sighting *to = from + 1; to < end; ++to) slopes_.push_back(motion_of(*from, *to).*part);
    if (slopes_.empty()) return 0.0;
    const auto middle = slopes_.begin() + static_cast<std::ptrdiff_t>(slopes_.size() / 2);
    std::nth_element(slopes_.begin(), middle, slopes_.end());
    return *middle;
  };
  return {median(&Motion::x), median(&Motion::y)};
}

// Where an object that was found first at `since` is at `time` if it moves straight on: from its first sighting after
// `since` that is still kept, through its last one.
HiddenRegions::Place HiddenRegions::straight_on(const Object &object, GstClockTime since, GstClockTime time) {
  const Sighting &last = object.seen.back();
  return moved(last.place, motion_of(first_since(object, since), last), seconds(last.time, time));
}

// The first sighting of the object from `since` on, or its last sighting if that is earlier.
const HiddenRegions::Sighting &HiddenRegions::first_since(const Object &object, GstClockTime since) {
  return *std::find_if(object.seen.begin(), object.seen.end() - 1,
                       [since](const Sighting &sighting) { return sighting.time >= since; });
}

// Where the object is expected at `time`. A single box in a wrong place changes this little.
HiddenRegions::Place HiddenRegions::expected(const Object &object, GstClockTime time) {
  const std::vector<Sighting> &seen = object.seen;
  if (std::ssize(seen) < kSureSightings) return straight_on(object, object.first, time);
  const Motion motion = steady_motion_of(seen.data(), seen.data() + seen.size());
  return moved(seen.back().place, motion, seconds(seen.back().time, time));
}

HiddenRegions::Place HiddenRegions::both(const Place &a, const Place &b) {
  const double x = std::min(a.x, b.x), y = std::min(a.y, b.y);
  return {x, y, std::max(a.x + a.width, b.x + b.width) - x, std::max(a.y + a.height, b.y + b.height) - y};
}

// Grows the place so that the ellipse inscribed in the result covers it.
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

// Hides the place, unless the frame is inverse: then everything outside of its own boxes is hidden.
void HiddenRegions::add(const Place &place, Frame *frame) {
  if (!frame->hidden.by.inverse) put(place, frame);
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

// Hides both places of an object and what lies between them.
void HiddenRegions::add_between(const Place &seen, const Place &expected, Frame *frame) {
  const Place place = both(seen, expected);
  const bool is_way = seen.x != expected.x || seen.y != expected.y;
  add(frame->hidden.by.shape == RedactShape::ellipse && is_way ? around(place) : place, frame);
}

void HiddenRegions::extend(const Place &place, const Object &object, Frame *frame) {
  if (frame->hidden.whole || frame->hidden.by.inverse) return;
  const auto found =
      std::lower_bound(frame->ways.begin(), frame->ways.end(), object.number,
                       [](const Way &way, std::uint64_t number) { return way.object < number; });
  if (found != frame->ways.end() && found->object == object.number)
    found->place = both(found->place, place);
  else if (frame->ways.size() < static_cast<std::size_t>(kMostRedactBoxes))
    frame->ways.insert(found, {object.number, place});
  else
    frame->hidden.whole = frame->hidden.is_crowded = true, frame->ways = {};
}

bool HiddenRegions::is_silent(GstBuffer *buffer, const RedactSettings &settings, bool has_boxes) {
  const char *type = settings.is_every_type() ? nullptr : settings.type->c_str();
  if (gst_cuda_vision_buffer_get_n_results(buffer, type) >= 0) last_mark_ = now_, has_marks_ = true;
  if (has_boxes || (settings.masks && has_segmentations(buffer, settings))) last_box_ = now_;
  // A detector that marks frames marks each one that it has analysed. Other detectors attach only what they have found.
  const GstClockTime last = has_marks_ ? last_mark_ : last_box_;
  return !GST_CLOCK_TIME_IS_VALID(last) || now_ - last > nanoseconds(settings.timeout);
}

void HiddenRegions::arrive(GstBuffer *buffer, bool reverse, const RedactSettings &settings,
                           const StopFlag &stop) {
  if (settings.type != type_) forget_detector(), type_ = settings.type;
  last_look_ = GST_CLOCK_TIME_IS_VALID(last_mark_) ? last_mark_ : now_;  // without marks, every frame counts
  const Tick tick = clock_.next(GST_BUFFER_PTS(buffer), false, reverse);
  if (tick.tells_jump()) forget_looks();
  frames_.push_back({now_ += tick.time, {}});
  collect_boxes(buffer, stop, &boxes_);
  // A box whose type cannot be read may be of any type: it is hidden.
  const WantedType wanted = settings.is_every_type() ? WantedType::all() : WantedType(settings.type->c_str());
  std::erase_if(boxes_, [&](const AttachedBox &box) {
    return !wanted.includes(box.type) && text_of(box.type) != nullptr;
  });
  Frame &frame = frames_.back();
  frame.hidden.by = HiddenBy(settings);
  const auto predicted = std::stable_partition(boxes_.begin(), boxes_.end(),
                                               [](const AttachedBox &box) { return !box.predicted; });
  // A stray frame may show another scene: that a detector looked at earlier frames does not count in it.
  const bool is_stray = tick.place == Tick::Place::stray;
  const auto before = std::pair(last_mark_, last_box_);
  if (is_stray) last_mark_ = last_box_ = GST_CLOCK_TIME_NONE;
  frame.hidden.is_unseen = is_silent(buffer, settings, predicted != boxes_.begin());
  frame.hidden.is_silent =
      frame.hidden.is_unseen && !is_stray && now_ - scene_ > nanoseconds(settings.timeout);
  if (!GST_CLOCK_TIME_IS_VALID(last_mark_)) last_mark_ = before.first;
  if (!GST_CLOCK_TIME_IS_VALID(last_box_)) last_box_ = before.second;
  if (boxes_.size() > kMostBoxes) boxes_.clear(), hide_all_held();
  if (settings.inverse)  // a wrong guess of a type or a place would show more
    for (const AttachedBox &box : boxes_)
      if (wanted.includes(box.type) && !box.predicted && box.width > 0 && box.height > 0)
        put(place_of(box), &frame);
  follow(settings);
}

// Matches boxes with objects, best pairs first: by equal track ids or, if the box or the object has none, by overlap.
// If a box surely fits several objects, the one seen last gets it: one that was not found for a while may be behind it.
void HiddenRegions::match() {
  matches_.clear();
  for (std::size_t o = 0; o < objects_.size(); ++o) {
    Object &object = objects_[o];
    const Place place = object.expected = expected(object, now_);
    // Where the object is expected if its earlier sightings were of another object. If the detector missed it when it
    // last looked, a few jittering boxes do not show this, so `place` is used.
    const bool is_missed = object.seen.back().time < last_look_;
    const Place of_newcomer = is_missed ? place : straight_on(object, object.since, now_);
    for (std::size_t b = 0; b < boxes_.size(); ++b) {
      const AttachedBox &box = boxes_[b];
      if (object.type != box.type) continue;
      const bool is_same = object.track != 0 && object.track == box.track;
      if (!is_same && object.track != 0 && box.track != 0) continue;
      double common =
          std::max(overlap(place_of(box), place), is_same ? 0 : overlap(place_of(box), of_newcomer));
      // The first boxes of an id may jitter or jump, so the motion that is computed from them is not used.
      if (is_same)
        common = std::max(object.found >= kSureSightings ? common : 0,
                          overlap(place_of(box), object.seen.back().place));
      if (is_same || common > kLeastOverlap)
        matches_.push_back(
            {is_same || common > kSureOverlap ? object.seen.back().time : 0, is_same, common, b, o});
    }
  }
  std::sort(matches_.begin(), matches_.end(), [](const Match &a, const Match &b) {
    return std::tuple(b.is_same, b.last, b.overlap, a.box, a.object) <
           std::tuple(a.is_same, a.last, a.overlap, b.box, b.object);
  });
  match_of_box_.assign(boxes_.size(), nullptr);
  for (Object &object : objects_) object.is_here = false;
  for (const Match &m : matches_)
    if (match_of_box_[m.box] == nullptr && !objects_[m.object].is_here)
      match_of_box_[m.box] = &m, objects_[m.object].is_here = true;
  missed_.assign(boxes_.size(), nullptr);
  for (const Match &m : matches_)
    if (const Match *&best = missed_[m.box];
        !objects_[m.object].is_here && (best == nullptr || fit(m) > fit(*best)))
      best = &m;
}

// How well the box fits the object: its overlap with where the object is expected, or where it was seen last.
double HiddenRegions::fit(const Match &match) const {
  return std::max(match.overlap,
                  overlap(place_of(boxes_[match.box]), objects_[match.object].seen.back().place));
}

// Merges objects of one id: a box that soon jumps back to where another of them was or is expected has only jittered.
void HiddenRegions::settle() {
  const auto comes_back = [](const Object &object, const Object &other) {
    if (other.is_here || other.seen.empty() || other.track != object.track || other.type != object.type)
      return false;
    const Place &place = object.seen.back().place;
    // Far from the last place, the expected place does not count: jumps of ids may have made up the motion.
    const double near = overlap(place, other.seen.back().place);
    const double common = near > kLeastOverlap ? std::max(near, overlap(place, other.expected)) : 0;
    return common > kSureOverlap && common > overlap(place, object.seen.end()[-2].place) + kJump;
  };
  for (Object &object : objects_) {
    if (!object.is_here || object.track == 0 || object.found > kSureSightings || object.seen.size() < 2)
      continue;
    for (Object &other : objects_)
      if (comes_back(object, other)) {
        add_way(other.seen.back(), object.seen.back());
        object.since = object.or_since = std::min(object.since, other.since), object.found += other.found;
        other.seen.clear();
      }
  }
  std::erase_if(objects_, [](const Object &object) { return object.seen.empty(); });
}

// Whether the box is surely of the object. For a new id little overlap suffices: boxes jitter more often than ids jump.
bool HiddenRegions::is_known(const Object &object, const Match &match) {
  const bool may_tremble = match.is_same && object.found < kSureSightings;
  return match.overlap > (may_tremble ? kLeastOverlap : kSureOverlap);
}

void HiddenRegions::add_sighting(const Sighting &sighting, std::vector<Sighting> *seen) {
  if (!seen->empty() && sighting.time - seen->back().begin < kSameSighting) {
    seen->back() = {sighting.time, sighting.place, seen->back().begin};
    return;
  }
  if (seen->size() > 2 && seen->back().time - seen->end()[-3].time < kNearSightings)
    seen->erase(seen->end() - 2);
  seen->push_back(sighting);
  while (seen->size() > 2 && sighting.time - seen->front().time > kMotionTime) seen->erase(seen->begin());
}

// Adds a copy of the object, to stay hidden where it was found last. The copy replaces `better`, which fits the box
// better than the object, if that is an earlier copy of the object, or else an earlier copy near that place: jittering
// boxes would otherwise add a copy in each frame. Returns false if there are too many objects.
bool HiddenRegions::hold_copy(const Object &object, Object *better) {
  Object copy = object;
  copy.is_here = false, copy.copy_of = object.number;
  const auto is_near = [&object](const Object &other) {
    return !other.is_here && other.copy_of == object.number &&
           overlap(other.seen.back().place, object.seen.back().place) > kSamePlace;
  };
  const auto near = std::find_if(objects_.begin(), objects_.end(), is_near);
  Object *before = better->copy_of == object.number ? better : near != objects_.end() ? &*near : nullptr;
  if (before == nullptr && objects_.size() >= kMostObjects) return false;
  copy.number = before != nullptr ? before->number : ++objects_so_far_;
  if (before != nullptr)
    *before = std::move(copy);
  else
    objects_.push_back(std::move(copy));
  return true;
}

// Adds the box to its object, or makes a new object. Returns null if there are too many objects.
const HiddenRegions::Object *HiddenRegions::see(const AttachedBox &box, const Match *match) {
  const Sighting sighting{now_, place_of(box), now_};
  Object *object = match != nullptr ? &objects_[match->object] : nullptr;
  if (object != nullptr && is_known(*object, *match)) {
    // Another object without a box fits this one better: a copy of the matched object is hidden, too.
    const Match *missed = missed_[match->box];
    if (!match->is_same && missed != nullptr && fit(*missed) > fit(*match)) {
      if (!hold_copy(*object, &objects_[missed->object])) return nullptr;
      object = &objects_[match->object];
    }
    ++object->found, object->copy_of = 0;
    if (!match->is_same && object->seen.back().time < last_look_)
      object->or_since = std::exchange(object->since, now_);
    add_sighting(sighting, &object->seen);
  } else {
    if (objects_.size() >= kMostObjects) return nullptr;
    Object other{++objects_so_far_, box.type, 0, now_, now_, now_, {}};
    if (object != nullptr) {  // the matched object may also have stayed
      object->is_here = false, object->copy_of = other.number;
      other.first = object->first, other.seen = object->seen;
      if (object->since == object->seen.back().time) other.or_since = object->since;
    }
    add_sighting(sighting, &other.seen);
    objects_.push_back(std::move(other));
    object = &objects_.back();
  }
  if (box.track != 0) object->track = box.track;
  object->is_here = true;
  return object;
}

// Hides the way from one sighting to the next in the held frames between them.
void HiddenRegions::add_way(const Sighting &from, const Sighting &to) {
  for (Frame &frame : frames_)
    if (frame.time > from.time && frame.time < to.time) {
      const double part = seconds(from.time, frame.time) / seconds(from.time, to.time);
      const auto between = [part](double a, double b) { return a + part * (b - a); };
      const Place &a = from.place, &b = to.place;
      add({between(a.x, b.x), between(a.y, b.y), between(a.width, b.width), between(a.height, b.height)},
          &frame);
    }
}

// Hides the object in the held frames in which it was not found.
void HiddenRegions::add_to_held_frames(const Object &object) {
  const std::vector<Sighting> &seen = object.seen;
  add_way(seen[seen.size() - std::min<std::size_t>(2, seen.size())], seen.back());
  look_back(object, object.first);
  if (object.or_since == object.first && object.since == object.first) return;
  // An id that seems to change its object has mostly kept it, in a jittering box, which tells little of the motion.
  if (object.track != 0 && object.found <= kSureSightings) return;
  look_back(object, object.since);
  if (object.or_since != object.since) look_back(object, object.or_since);
}

// Hides where the object must have been in the held frames up to `begin`, if it was found first at that time: where it
// was found first, and on the straight ways back from its first and its last sighting. A few sightings, one of which
// may be wrong, do not tell the motion: then what lies between the first and the last one is hidden, too.
void HiddenRegions::look_back(const Object &object, GstClockTime begin) {
  if (frames_.front().time > begin) return;
  const Sighting *end = object.seen.data() + object.seen.size(), &last = object.seen.back();
  const Sighting &from = first_since(object, begin);
  const Motion motion = steady_motion_of(&from, end);
  Place found = from.place;
  if (end - &from < kSureSightings) found = both(found, last.place);
  for (Frame &frame : frames_) {
    if (frame.time > begin) break;
    if (frame.time < begin) extend(found, object, &frame);
    for (const Sighting *sighting : {&from, &last})
      extend(moved(sighting->place, motion, seconds(sighting->time, frame.time)), object, &frame);
  }
}

// Hides all held frames, and later ones (last_crowd_) for as long as the objects that are not followed would be held.
void HiddenRegions::hide_all_held() {
  last_crowd_ = now_;
  for (Frame &frame : frames_) frame.hidden.whole = frame.hidden.is_crowded = true;
}

void HiddenRegions::follow(const RedactSettings &settings) {
  const auto is_predicted = [](const AttachedBox &box) { return box.predicted; };
  for (const AttachedBox &box : boxes_)
    if (is_predicted(box)) add(place_of(box), &frames_.back());
  std::erase_if(boxes_, is_predicted);
  match();
  for (std::size_t b = 0; b < boxes_.size(); ++b) {
    const AttachedBox &box = boxes_[b];
    add(place_of(box), &frames_.back());
    if (const Object *object = see(box, match_of_box_[b]))
      add_to_held_frames(*object);
    else
      hide_all_held();
  }
  settle();
  // Keeps an object that a later sighting may have to hide in held frames: one with an id at any time, one without an
  // id only until the detector looks next.
  const GstClockTime hold = nanoseconds(settings.hold), oldest = frames_.front().time;
  if (GST_CLOCK_TIME_IS_VALID(last_crowd_) && now_ - last_crowd_ <= hold)
    frames_.back().hidden.whole = frames_.back().hidden.is_crowded = true;
  std::erase_if(objects_, [&](const Object &object) {
    const GstClockTime last = object.seen.back().time;
    const bool is_needed = last >= oldest && (object.track != 0 || last >= last_look_);
    return !object.is_here && now_ - last > hold && !is_needed;
  });
  for (const Object &object : objects_)
    if (const Sighting &last = object.seen.back(); !object.is_here && now_ - last.time <= hold)
      for (const Place &place :
           {object.expected, straight_on(object, object.first, now_),
            straight_on(object, object.or_since, now_), straight_on(object, object.since, now_)})
        add_between(last.place, place, &frames_.back());
}

HiddenFrame HiddenRegions::leave() {
  HiddenFrame hidden;
  hidden.whole = frames_.empty();
  if (hidden.whole) return hidden;
  Frame &frame = frames_.front();
  const bool is_ellipse = frame.hidden.by.shape == RedactShape::ellipse;
  for (const Way &way : frame.ways) add(is_ellipse ? around(way.place) : way.place, &frame);
  hidden = std::move(frame.hidden);
  frames_.pop_front();
  return hidden;
}

}  // namespace cudavision
