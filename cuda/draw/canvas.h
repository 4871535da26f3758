// SPDX-License-Identifier: LGPL-2.1-or-later
// Draws lists of primitives on frames of every pixel format. Both backends give the same bytes.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"
#include "cuda/common/host_device.h"
#include "cuda/common/image.h"

namespace cudavision {

// A shape and its colour. Coordinates are pixels of the frame, from -32768 to 32767; pixels outside the frame
// are clipped.
struct Primitive {
  enum class Kind : std::uint8_t {
    point,             // a square with sides of line_width pixels around (x0, y0)
    cross,             // two bars through (x0, y0) that extend x1 pixels to each side
    line,              // from (x0, y0) to (x1, y1), both included
    rectangle,         // the outline through the corners (x0, y0) and (x1, y1)
    filled_rectangle,  // from corner (x0, y0) to corner (x1, y1), both included
    character,         // character x1 of the font, with its upper left corner at (x0, y0)
  };
  Kind kind = Kind::point;
  // In pixels, 1 to 255, centred on the shape of width 1; an even width adds its extra pixel to the right or below.
  // Lines are thickened perpendicular to their longer axis. Ignored for filled rectangles. In characters, each pixel of
  // the font (font_rules.h) is line_width x line_width pixels. Where two such pixels touch only at a corner, triangles
  // with sides of half that width fill the gaps on both sides of the corner, so that diagonal strokes have no steps.
  std::uint8_t line_width = 1;
  Color color;
  std::int16_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

CUDAVISION_HOST_DEVICE constexpr Primitive make_primitive(Primitive::Kind kind, int line_width, Color color,
                                                          int x0, int y0, int x1, int y1) {
  return {.kind = kind,
          .line_width = static_cast<std::uint8_t>(line_width),
          .color = color,
          .x0 = static_cast<std::int16_t>(x0),
          .y0 = static_cast<std::int16_t>(y0),
          .x1 = static_cast<std::int16_t>(x1),
          .y1 = static_cast<std::int16_t>(y1)};
}

// A primitive outside every frame, for a list entry that must draw nothing.
CUDAVISION_HOST_DEVICE constexpr Primitive hidden_primitive(Color color) {
  return make_primitive(Primitive::Kind::point, 1, color, -1, -1, -1, -1);
}

// Draws on frames of one size. Not thread-safe: use one canvas per stream.
class Canvas {
 public:
  virtual ~Canvas() = default;
  // Draws primitives[0, min(*count, capacity)), or all `capacity` primitives if count is null. Both pointers refer to
  // the backend's memory, so that a list made by a kernel is drawn without a copy to the host. Where several primitives
  // cover a pixel, only the last one in the list is drawn: its color c is blended over the picture, and p becomes
  // (alpha c + (255 - alpha) p + 127) / 255. A subsampled chroma sample is blended with the color of the last primitive
  // that covers any of its pixels. Alpha and padding bytes do not change. Pixels outside the region are clipped. Fails
  // if the frame does not have the size of the canvas. CUDA: enqueues two kernels, or none if capacity is 0.
  virtual Status draw(const Frame &frame, const Primitive *primitives, int capacity, const int *count,
                      Region region) = 0;
  // Makes draw() skip the rest of a long list once the flag is set. The frame is then incomplete, and the caller must
  // not use it. The flag must outlive the canvas. CPU: does nothing, because draw() obeys the stop flag of the workers.
  virtual Status stop_by(const StopFlag &) { return {}; }
  // Draws on the whole frame.
  Status draw(const Frame &frame, const Primitive *primitives, int capacity, const int *count) {
    return draw(frame, primitives, capacity, count, {0, 0, frame.width, frame.height});
  }
};

// size: of the frames, 1 to 16384 pixels per side. Scratch memory: CUDA: 4 bytes per pixel; CPU: 4 bytes per
// pixel of 64 rows, for each thread.
Status make_canvas(const Execution &execution, Size size, std::unique_ptr<Canvas> *canvas);

}  // namespace cudavision
