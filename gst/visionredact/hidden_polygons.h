// SPDX-License-Identifier: LGPL-2.1-or-later
// Polygons that are hidden in every frame, such as a neighbour's window.
#pragma once

#include <optional>
#include <string>

#include "cuda/common/owned_memory.h"

namespace cudavision {

// Fails if the value of the property `always` is not of the form "x,y x,y x,y; x,y x,y x,y", in fractions of the frame
// from its upper left corner on.
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
