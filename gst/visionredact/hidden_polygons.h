// SPDX-License-Identifier: LGPL-2.1-or-later
// Polygons that are hidden in every frame, such as a neighbour's window.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cuda/common/owned_memory.h"

namespace cudavision {

// Reads polygons as "x,y x,y x,y; x,y x,y x,y", in fractions of the frame from its upper left corner on.
struct PolygonText {
  struct Point {
    double x, y;
  };
  using Polygon = std::vector<Point>;

  static Status read(const std::string &text, std::vector<Polygon> *polygons);
};

// Fails if the value of the property `always` cannot be read.
Status validate_polygons(const std::optional<std::string> &text);

// Draws the polygons into a picture of the frame's size in the backend's memory: 255 at pixels whose centres they
// contain, by the even-odd rule for each polygon, otherwise 0.
class HiddenPolygons {
 public:
  // Sets *picture, which is valid until the next call, or to no data if there is no text. Draws only if the text or the
  // size is another one than before.
  Status draw(const Execution &execution, Size size, const std::optional<std::string> &text,
              ImageView<const std::uint8_t> *picture);

 private:
  std::string text_;
  Size size_;
  OwnedBytes picture_;
  HostCopy host_;
};

}  // namespace cudavision
