// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visionredact/hidden_polygons.h"

#include <glib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "cuda/common/backends.h"

namespace cudavision {
namespace {

constexpr std::size_t kMostPoints = 1024;  // of all polygons

struct Point {
  double x, y;
};
using Polygon = std::vector<Point>;

// Reads "x,y", both from 0 to 1.
bool read_point(const char *text, Point *point) {
  char *end = nullptr;
  point->x = g_ascii_strtod(text, &end);
  if (end == text || *end != ',') return false;
  const char *second = end + 1;
  point->y = g_ascii_strtod(second, &end);
  return end != second && *end == '\0' && point->x >= 0 && point->x <= 1 && point->y >= 0 && point->y <= 1;
}

Status read_polygons(const std::string &text, std::vector<Polygon> *polygons) {
  polygons->clear();
  std::size_t points = 0;
  g_auto(GStrv) parts = g_strsplit(text.c_str(), ";", -1);
  for (char **part = parts; *part != nullptr; ++part) {
    Polygon polygon;
    g_auto(GStrv) pairs = g_strsplit_set(*part, " \t\n", -1);
    for (char **pair = pairs; *pair != nullptr; ++pair) {
      if (**pair == '\0') continue;
      Point point{};
      if (!read_point(*pair, &point) || ++points > kMostPoints)
        return invalid_argument(
            "always is not a list of polygons: give points as x,y in fractions of the frame from 0 to 1, "
            "with "
            "spaces between them and semicolons between polygons, at most 1,024 in all");
      polygon.push_back(point);
    }
    if (polygon.empty()) continue;
    if (polygon.size() < 3) return invalid_argument("always has a polygon of fewer than three points");
    polygons->push_back(std::move(polygon));
  }
  return {};
}

// Where the row through the centres of pixels, at height y, crosses the edges of the polygon, from left to right.
std::vector<double> crossings(const Polygon &polygon, Size size, double y) {
  std::vector<double> found;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Point &a = polygon[i], &b = polygon[(i + 1) % polygon.size()];
    const double from = a.y * size.height, to = b.y * size.height;
    if ((from <= y) != (to <= y))
      found.push_back((a.x + (y - from) / (to - from) * (b.x - a.x)) * size.width);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void draw_polygon(const Polygon &polygon, ImageView<std::uint8_t> picture) {
  for (int y = 0; y < picture.height; ++y) {
    const std::vector<double> edges = crossings(polygon, picture.size(), y + 0.5);
    for (std::size_t i = 0; i + 1 < edges.size(); i += 2) {
      const int first = static_cast<int>(std::ceil(edges[i] - 0.5)),
                end = std::min(picture.width, static_cast<int>(std::ceil(edges[i + 1] - 0.5)));
      for (int x = first; x < end; ++x) picture.row(y)[x] = 255;
    }
  }
}

}  // namespace

Status validate_polygons(const std::optional<std::string> &text) {
  std::vector<Polygon> polygons;
  return text ? read_polygons(*text, &polygons) : Status();
}

Status HiddenPolygons::draw(const Execution &execution, Size size, const std::optional<std::string> &text,
                            ImageView<const std::uint8_t> *picture) {
  *picture = {};
  if (!text || text->empty()) return {};
  const std::size_t pixels = static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
  if (picture_.size() < pixels) {
    CUDAVISION_TRY(picture_.allocate(execution, pixels));
    CUDAVISION_TRY(host_.allocate(execution, picture_));
    size_ = {};
  }
  if (*text != text_ || size != size_) {
    std::vector<Polygon> polygons;
    CUDAVISION_TRY(read_polygons(*text, &polygons));
    auto *drawn = static_cast<std::uint8_t *>(host_.written());
    std::memset(drawn, 0, pixels);
    for (const Polygon &polygon : polygons)
      draw_polygon(polygon, {drawn, size.width, size.width, size.height});
    CUDAVISION_TRY(host_.send(execution, picture_, pixels));
    text_ = *text, size_ = size;
  }
  *picture = {static_cast<const std::uint8_t *>(picture_.data()), size.width, size.width, size.height};
  return {};
}

}  // namespace cudavision
