// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visionoverlay/zone_shapes.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gst/base/results/zones_meta.h"
#include "gst/base/style/label_style.h"

namespace cudavision {
namespace {

// The coordinates of metas may have any value. Up to this one, lines stay within the coordinates of primitives.
constexpr double kFarthest = 28000;
constexpr std::size_t kMostFlashes = 1024, kMostSpeeds = 2048;
constexpr int kWider = 3;  // lines that flash are this many times as wide

struct Pixel {
  int x, y;
};

std::string text_in(const GstStructure &structure, const char *field) {
  const char *text = gst_structure_get_string(&structure, field);
  return text != nullptr ? text : "";
}

double real_in(const GstStructure *structure, const char *field) {
  double value = 0;
  if (structure == nullptr || !gst_structure_get_double(structure, field, &value) || std::isnan(value))
    return 0;
  return value;
}

guint64 whole_in(const GstStructure *structure, const char *field) {
  guint64 value = 0;
  if (structure != nullptr) gst_structure_get_uint64(structure, field, &value);
  return value;
}

// Converts pixels of the frame in which the zones were counted, which may have another size, to pixels of this frame.
struct Scale {
  double x = 1, y = 1;
};

Scale scale_of(const GstStructure &zones, Size frame) {
  gint width = 0, height = 0;
  gst_structure_get(&zones, "width", G_TYPE_INT, &width, "height", G_TYPE_INT, &height, nullptr);
  return width > 0 && height > 0
             ? Scale{static_cast<double>(frame.width) / width, static_cast<double>(frame.height) / height}
             : Scale();
}

std::vector<Pixel> points_of(const GstStructure &shape, Scale scale, std::size_t most) {
  const auto pixel = [](double value) {
    return static_cast<int>(std::floor(std::clamp(value, -kFarthest, kFarthest)));
  };
  std::vector<Pixel> points;
  const guint count = static_cast<guint>(std::min<std::size_t>(count_in(shape, "points"), most));
  for (guint i = 0; i < count; ++i) {
    const GstStructure *point = item_in(shape, "points", i);
    points.push_back({pixel(scale.x * real_in(point, "x")), pixel(scale.y * real_in(point, "y"))});
  }
  return points;
}

class Shapes {
 public:
  Shapes(const ZoneStyle &style, Size frame, std::size_t most, Array<Primitive> *primitives)
      : style_(style), frame_(frame), most_(most), primitives_(primitives) {}

  // Adds a line or polygon, and its label. counters: its counts, or null. Returns false if the primitives do not fit.
  bool add(const GstStructure &shape, const GstStructure *counters, Scale scale, bool flashes) {
    const std::vector<Pixel> points = points_of(shape, scale, most_);
    width_ = std::min(255, style_.line_width * (flashes ? kWider : 1));
    if (primitives_->size() + points.size() + 3 + LabelText::kMost + 1 > most_) return false;
    if (points.size() < 2) return true;
    for (std::size_t i = points.size() == 2 ? 1 : 0; i < points.size(); ++i)
      add_line(points[i == 0 ? points.size() - 1 : i - 1], points[i]);
    if (points.size() == 2) add_arrow(points[0], points[1]);
    if (style_.labels) add_label(text_of(shape, counters, points.size() == 2), points);
    return true;
  }

 private:
  void add_line(Pixel a, Pixel b) {
    primitives_->push_back(make_primitive(Primitive::Kind::line, width_, style_.color, a.x, a.y, b.x, b.y));
  }

  // Adds an arrow from the middle of a line to its right side.
  void add_arrow(Pixel from, Pixel to) {
    const double dx = to.x - from.x, dy = to.y - from.y, length = std::hypot(dx, dy);
    if (!(length > 0)) return;
    const double size = std::max(6.0, std::min(frame_.width, frame_.height) / 20.0), right_x = -dy / length,
                 right_y = dx / length;
    const auto at = [&](double right, double along) {
      return Pixel{
          static_cast<int>(std::lround((from.x + to.x) / 2.0 + right * right_x + along * dx / length)),
          static_cast<int>(std::lround((from.y + to.y) / 2.0 + right * right_y + along * dy / length))};
    };
    add_line(at(0, 0), at(size, 0));
    for (const double side : {-1.0, 1.0}) add_line(at(size / 2, side * size / 2), at(size, 0));
  }

  static std::string text_of(const GstStructure &shape, const GstStructure *counters, bool is_line) {
    const std::string name = text_in(shape, "name");
    if (counters == nullptr) return name;
    if (!is_line) return name + ' ' + std::to_string(whole_in(counters, "occupancy"));
    const auto total = [counters](guint direction) {
      return std::to_string(whole_in(item_in(*counters, "counts", direction), "total"));
    };
    return name + " >" + total(0) + " <" + total(1);
  }

  // Adds a label, if possible above the upper left corner of the points.
  void add_label(const std::string &text, const std::vector<Pixel> &points) {
    const std::string shown = drawable(text.c_str());
    if (shown.empty()) return;
    Pixel least = points.front();
    for (const Pixel p : points) least = {std::min(least.x, p.x), std::min(least.y, p.y)};
    const LabelText label(shown);
    const std::size_t first = primitives_->size();
    primitives_->resize(first + static_cast<std::size_t>(label_size(label.length, false)));
    const Region place = style_.placer->place({least.x, least.y, 1, 1},
                                              label_pixels(label.length, style_.label), style_.label);
    make_label(label, nullptr, place, style_.label, primitives_->data() + first);
  }

  const ZoneStyle &style_;
  Size frame_;
  std::size_t most_;
  Array<Primitive> *primitives_;
  int width_ = 1;
};

}  // namespace

void ZoneFlashes::take(GstBuffer *buffer) {
  const GstClockTime now = GST_BUFFER_PTS(buffer);
  std::erase_if(since_,
                [now](const auto &entry) { return now < entry.second || now - entry.second >= kDuration; });
  for_each_zones(buffer, [&](const GstStructure &zones) {
    for (guint i = 0; i < count_in(zones, "events") && since_.size() < kMostFlashes; ++i)
      if (const GstStructure *event = item_in(zones, "events", i); event != nullptr)
        since_[text_in(*event, "name")] = now;
  });
}

std::map<guint64, double> speeds_in(GstBuffer *buffer) {
  std::map<guint64, double> speeds;
  for_each_zones(buffer, [&](const GstStructure &zones) {
    for (guint i = 0; i < count_in(zones, "tracks") && speeds.size() < kMostSpeeds; ++i)
      if (const GstStructure *track = item_in(zones, "tracks", i);
          track != nullptr && gst_structure_has_field(track, "speed"))
        speeds[whole_in(track, "id")] = real_in(track, "speed");
  });
  return speeds;
}

bool add_zone_shapes(GstBuffer *buffer, const ZoneStyle &style, Size frame, const ZoneFlashes &flashes,
                     std::size_t most, Array<Primitive> *primitives) {
  bool fits = true;
  Shapes shapes(style, frame, most, primitives);
  for_each_zones(buffer, [&](const GstStructure &zones) {
    for (guint i = 0; i < count_in(zones, "shapes") && fits; ++i)
      if (const GstStructure *shape = item_in(zones, "shapes", i); shape != nullptr)
        fits = shapes.add(*shape, item_in(zones, "zones", i), scale_of(zones, frame),
                          flashes.has(text_in(*shape, "name")));
  });
  return fits;
}

}  // namespace cudavision
