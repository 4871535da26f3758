// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/rectify/carried_results.h"

#include <gst/cudavision/cudavision.h>
#include <gst/video/gstvideometa.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "gst/base/results/analytics.h"
#include "gst/base/results/zones_meta.h"
#include "gst/meta/reading.h"

namespace cudavision {
namespace {

using rectify::Point;
using rectify::ViewPoints;

struct Box {
  double x, y, width, height;
};

Region whole(const Box &box) {
  const auto x = static_cast<int>(std::lround(box.x)), y = static_cast<int>(std::lround(box.y));
  return {x, y, std::max(1, static_cast<int>(std::lround(box.x + box.width)) - x),
          std::max(1, static_cast<int>(std::lround(box.y + box.height)) - y)};
}

// Finds the places in the view. Those that have none, or one outside, have no value.
class Places {
 public:
  Places(const ViewPoints &points, Size size) : points_(points), size_(size) {}

  // other: the place of a point that belongs to this one: in a panorama, it is the nearest one to that.
  std::optional<Point> of(Point camera, const std::optional<Point> &other = {}) const {
    return points_.to_view(camera, other ? other->x : (size_.width - 1) / 2.0);
  }

  // The box around the outline's places. Boxes are measured at the edges of pixels, points at their centres.
  std::optional<Box> of(const Box &box) const {
    constexpr int kPoints = 8;  // of an edge
    double left = HUGE_VAL, top = HUGE_VAL, right = -HUGE_VAL, bottom = -HUGE_VAL;
    const auto centre = of(Point{box.x + box.width / 2 - 0.5, box.y + box.height / 2 - 0.5});
    const auto include = [&](double x, double y) {
      const std::optional<Point> place = of(Point{x - 0.5, y - 0.5}, centre);
      if (!place) return;
      left = std::min(left, place->x + 0.5), right = std::max(right, place->x + 0.5);
      top = std::min(top, place->y + 0.5), bottom = std::max(bottom, place->y + 0.5);
    };
    for (int i = 0; i <= kPoints; ++i) {
      const double across = box.x + box.width * i / kPoints, down = box.y + box.height * i / kPoints;
      include(across, box.y);
      include(across, box.y + box.height);
      include(box.x, down);
      include(box.x + box.width, down);
    }
    constexpr double kLongest = 1 << 30;  // an edge that is so far away is a number of 32 bits
    const bool is_visible = left < size_.width && top < size_.height && right > 0 && bottom > 0;
    if (!is_visible || right - left > kLongest || bottom - top > kLongest) return std::nullopt;
    return Box{left, top, right - left, bottom - top};
  }

  std::optional<GstCudaVisionKeypoint> of(const GstCudaVisionKeypoint &keypoint) const {
    const Point from{double(keypoint.x), double(keypoint.y)};
    const std::optional<Point> place = of(from);
    if (!place || place->x < -0.5 || place->y < -0.5 || place->x >= size_.width - 0.5 ||
        place->y >= size_.height - 0.5)
      return std::nullopt;
    const double angle = double(keypoint.angle);
    const std::optional<Point> ahead =
        of(Point{from.x + std::cos(angle) / 4, from.y + std::sin(angle) / 4}, place);
    GstCudaVisionKeypoint carried = keypoint;
    carried.x = static_cast<float>(place->x), carried.y = static_cast<float>(place->y);
    if (ahead) carried.angle = static_cast<float>(std::atan2(ahead->y - place->y, ahead->x - place->x));
    return carried;
  }

  // The line through the places of both ends.
  std::optional<GstCudaVisionLine> of(const GstCudaVisionLine &line) const {
    const Point begin{double(line.x1), double(line.y1)}, end{double(line.x2), double(line.y2)};
    std::optional<Point> from = of(begin), to = of(end, from);
    if (from && !to) to = last_place(begin, end, from);
    if (!from && to) from = last_place(end, begin, to);
    if (!from || !to || !clip(&*from, &*to)) return std::nullopt;
    const auto [a, b] = std::minmax(
        *from, *to, [](const Point &p, const Point &q) { return std::tie(p.x, p.y) < std::tie(q.x, q.y); });
    double theta = std::atan2(b.x - a.x, a.y - b.y);  // of the normal
    if (theta < 0) theta += std::numbers::pi;
    if (static_cast<float>(theta) >= std::numbers::pi_v<float>) theta = 0;
    const double rho = a.x * std::cos(theta) + a.y * std::sin(theta);
    return GstCudaVisionLine{float(rho), float(theta), line.votes, float(a.x),
                             float(a.y), float(b.x),   float(b.y)};
  }

 private:
  // The last place on the way from a point that has one to another that has none, such as one above a horizon.
  std::optional<Point> last_place(Point from, Point to, std::optional<Point> place) const {
    constexpr int kHalvings = 40;
    for (int i = 0; i < kHalvings; ++i) {
      const Point middle{(from.x + to.x) / 2, (from.y + to.y) / 2};
      const std::optional<Point> further = of(middle, place);
      (further ? from : to) = middle;
      if (further) place = further;
    }
    return place;
  }

  // Shortens a segment to the part between the centres of the view's outer pixels (Y.-D. Liang and B. A. Barsky, "A new
  // concept and method for line clipping", 1984). Returns false if there is none.
  bool clip(Point *from, Point *to) const {
    double begin = 0, end = 1;
    const Point start = *from;
    const double x = to->x - start.x, y = to->y - start.y;
    const std::pair<double, double> limits[] = {
        {-x, start.x}, {x, size_.width - 1 - start.x}, {-y, start.y}, {y, size_.height - 1 - start.y}};
    for (const auto &[step, room] : limits) {
      if (step == 0 && room < 0) return false;
      if (step < 0) begin = std::max(begin, room / step);
      if (step > 0) end = std::min(end, room / step);
    }
    *from = {start.x + begin * x, start.y + begin * y};
    *to = {start.x + end * x, start.y + end * y};
    return begin < end;
  }

  const ViewPoints &points_;
  Size size_;
};

// The estimate of a tracker: its box, and the velocity of the box's centre there. It is left out if it has no place.
void move_estimate(const Places &places, const std::optional<TrackEstimate> &estimate,
                   GstStructure *tracking) {
  gst_structure_remove_fields(tracking, "x", "y", "width", "height", "velocity-x", "velocity-y", nullptr);
  if (!estimate) return;
  constexpr double kMoment = 0.01;  // seconds
  const TrackEstimate &own = *estimate;
  const Point centre{own.x + own.width / 2 - 0.5, own.y + own.height / 2 - 0.5},
      later{centre.x + kMoment * own.velocity_x, centre.y + kMoment * own.velocity_y};
  const std::optional<Box> box = places.of(Box{own.x, own.y, own.width, own.height});
  const std::optional<Point> from = places.of(centre), to = places.of(later, from);
  if (!box || !from || !to) return;
  gst_structure_set(tracking, "x", G_TYPE_DOUBLE, box->x, "y", G_TYPE_DOUBLE, box->y, "width", G_TYPE_DOUBLE,
                    box->width, "height", G_TYPE_DOUBLE, box->height, "velocity-x", G_TYPE_DOUBLE,
                    (to->x - from->x) / kMoment, "velocity-y", G_TYPE_DOUBLE, (to->y - from->y) / kMoment,
                    nullptr);
}

void carry_region(const GstVideoRegionOfInterestMeta &region, const Places &places, GstBuffer *view) {
  const RegionReading reading = reading_of(region);
  const std::optional<Box> box =
      places.of(Box{double(reading.x), double(reading.y), double(reading.width), double(reading.height)});
  if (!box) return;
  const Region place = whole(*box);
  GstVideoRegionOfInterestMeta *carried = gst_buffer_add_video_region_of_interest_meta_id(
      view, region.roi_type, static_cast<guint>(place.x), static_cast<guint>(place.y),
      static_cast<guint>(place.width), static_cast<guint>(place.height));
  if (carried == nullptr) return;
  carried->id = region.id;
  carried->parent_id = region.parent_id;
  for_each_param(region, [&](std::string_view name, const GstStructure *param) {
    GstStructure *copy = gst_structure_copy(param);
    if (name == "tracking") move_estimate(places, reading.estimate, copy);
    gst_video_region_of_interest_meta_add_param(carried, copy);
  });
}

// The items of a list at their places.
template <typename Item>
std::vector<Item> carried(const Item *items, guint count, const Places &places) {
  std::vector<Item> kept;
  for (guint i = 0; i < count; ++i)
    if (const std::optional<Item> own = places.of(items[i])) kept.push_back(*own);
  return kept;
}

// A copy of an item of the zones' meta, and of the items in its lists, with points at their places: x and y, which are
// left out where there is none.
GstStructure *moved(const GstStructure &item, const Places &places) {
  GstStructure *copy = gst_structure_copy(&item);
  const std::optional<double> x = number_in(&item, "x"), y = number_in(&item, "y");
  const std::optional<Point> place = x && y ? places.of(Point{*x - 0.5, *y - 0.5}) : std::nullopt;
  if (place)
    gst_structure_set(copy, "x", G_TYPE_DOUBLE, place->x + 0.5, "y", G_TYPE_DOUBLE, place->y + 0.5, nullptr);
  else
    gst_structure_remove_fields(copy, "x", "y", nullptr);
  for (const char *list : {"events", "shapes", "points"})
    if (const guint count = count_in(item, list); count > 0)
      set_list(copy, list, count, [&](std::size_t i) {
        const GstStructure *inner = item_in(item, list, static_cast<guint>(i));
        return inner != nullptr ? moved(*inner, places) : gst_structure_new_empty("item");
      });
  return copy;
}

}  // namespace

void carry_results(GstBuffer *camera, GstBuffer *view, const ViewPoints &points, Size size) {
  const Places places(points, size);
  for_each_region(camera, [&](const auto &region) { carry_region(region, places, view); });
  carry_detections(camera, view, [&](Detection *d) {
    const std::optional<Box> box =
        places.of(Box{double(d->x), double(d->y), double(d->width), double(d->height)});
    if (!box) return false;
    const auto [x, y, width, height] = whole(*box);
    d->x = x, d->y = y, d->width = width, d->height = height;
    return true;
  });
  guint count = 0;
  if (auto *meta = gst_cuda_vision_buffer_get_keypoints_meta(camera)) {
    const auto *items = gst_cuda_vision_keypoints_meta_get_keypoints(meta, &count);
    const auto kept = carried(items, count, places);
    gst_cuda_vision_buffer_add_keypoints_meta(view, kept.data(), static_cast<guint>(kept.size()));
  }
  if (auto *meta = gst_cuda_vision_buffer_get_lines_meta(camera)) {
    const auto *items = gst_cuda_vision_lines_meta_get_lines(meta, &count);
    const auto kept = carried(items, count, places);
    gst_cuda_vision_buffer_add_lines_meta(view, kept.data(), static_cast<guint>(kept.size()));
  }
  for_each_zones(camera, [&](const GstStructure &zones) {
    GstStructure *copy = moved(zones, places);
    gst_structure_set(copy, "width", G_TYPE_INT, size.width, "height", G_TYPE_INT, size.height, nullptr);
    attach_zones(view, copy);
    gst_structure_free(copy);
  });
}

}  // namespace cudavision
