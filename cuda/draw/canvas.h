// SPDX-License-Identifier: LGPL-2.1-or-later
// Draws lists of primitives on frames of every format, on both backends, the same pixels on both.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"
#include "cuda/common/host_device.h"
#include "cuda/common/image.h"

namespace cudavision {

// Coordinates are pixels of the frame, between -32768 and 32767; what lies outside the frame is clipped.
struct Primitive {
  enum class Kind : std::uint8_t {
    point,             // a square of line_width pixels around (x0, y0)
    cross,             // two bars through (x0, y0) that reach x1 pixels to each side
    line,              // from (x0, y0) to (x1, y1), both included
    rectangle,         // the outline through the corners (x0, y0) and (x1, y1)
    filled_rectangle,  // both corners included
  };
  Kind kind = Kind::point;
  // Pixels, 1 to 255, around what is one pixel wide; of an even width one more lies to the right and below.
  // Lines are thickened across their longer axis. Not of filled rectangles.
  std::uint8_t line_width = 1;
  Color color;
  std::int16_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

CUDAVISION_HOST_DEVICE constexpr Primitive make_primitive(Primitive::Kind kind, int line_width, Color color,
                                                          int x0, int y0, int x1, int y1) {
  return {kind,
          static_cast<std::uint8_t>(line_width),
          color,
          static_cast<std::int16_t>(x0),
          static_cast<std::int16_t>(y0),
          static_cast<std::int16_t>(x1),
          static_cast<std::int16_t>(y1)};
}

// One that lies outside every frame: for a place in a list that has nothing to show.
CUDAVISION_HOST_DEVICE constexpr Primitive hidden_primitive(Color color) {
  return make_primitive(Primitive::Kind::point, 1, color, -1, -1, -1, -1);
}

// Draws on frames of one size. Not thread-safe: one per stream.
class Canvas {
 public:
  virtual ~Canvas() = default;
  // primitives: the first *count of capacity are drawn, or all where count is null; both in the backend's
  // memory, so that a list which a kernel made is drawn without asking the host. At a pixel that several
  // cover, the last one of the list shows, its color laid over the picture: p becomes (alpha c + (255 -
  // alpha) p + 127) / 255. A subsampled chroma sample takes the color of the last one that covers any of its
  // pixels. Alpha and padding stay. What lies outside of the region is clipped. CUDA: enqueues two kernels.
  virtual Status draw(const Frame &frame, const Primitive *primitives, int capacity, const int *count,
                      Region region) = 0;
  // On the whole frame.
  Status draw(const Frame &frame, const Primitive *primitives, int capacity, const int *count) {
    return draw(frame, primitives, capacity, count, {0, 0, frame.width, frame.height});
  }
};

// Scratch: CUDA 4 bytes a pixel, CPU 64 rows of that a thread.
Status make_canvas(const Execution &execution, Size size, std::unique_ptr<Canvas> *canvas);

}  // namespace cudavision
