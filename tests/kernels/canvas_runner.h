// SPDX-License-Identifier: LGPL-2.1-or-later
// Draws lists of primitives on frames of a test.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda/draw/canvas.h"
#include "tests/kernels/canvas_definition.h"
#include "tests/support/backends.h"
#include "tests/support/memory.h"
#include "tests/support/test_frame.h"

namespace cudavision::test {

// A list of primitives in the backend's memory, and the number of primitives to draw; without a count all are drawn.
class List {
 public:
  List(const Execution &execution, const Primitives &primitives, std::optional<int> count = {})
      : capacity_(static_cast<int>(primitives.size())),
        primitives_(execution, std::max<std::size_t>(1, primitives.size()) * sizeof(Primitive)),
        count_(execution, sizeof(int)),
        has_count_(count.has_value()) {
    std::vector<std::uint8_t> bytes(primitives_.count(), 0xff);
    if (capacity_ > 0) std::memcpy(bytes.data(), primitives.data(), primitives.size() * sizeof(Primitive));
    primitives_.write(bytes);
    bytes.resize(sizeof(int));
    const int used = count.value_or(0);
    std::memcpy(bytes.data(), &used, sizeof(int));
    count_.write(bytes);
  }
  cudavision::Status draw(Canvas *canvas, const cudavision::Frame &frame) const {
    return canvas->draw(frame, primitives(), capacity_, count());
  }
  cudavision::Status draw(Canvas *canvas, const cudavision::Frame &frame, Region region) const {
    return canvas->draw(frame, primitives(), capacity_, count(), region);
  }

 private:
  const Primitive *primitives() const { return reinterpret_cast<const Primitive *>(primitives_.data()); }
  const int *count() const { return has_count_ ? reinterpret_cast<const int *>(count_.data()) : nullptr; }

  int capacity_;
  Memory primitives_, count_;
  bool has_count_;
};

inline std::unique_ptr<Canvas> canvas_of(const Execution &execution, Size size) {
  std::unique_ptr<Canvas> canvas;
  EXPECT_TRUE(succeeds(make_canvas(execution, size, &canvas)));
  return canvas;
}

inline HostFrame run(const Execution &execution, const HostFrame &frame, const Primitives &primitives,
                     std::optional<int> count = {}, const Placement &placement = kOddPitch) {
  const std::unique_ptr<Canvas> canvas = canvas_of(execution, frame.size);
  const TestFrame test_frame(execution, frame, placement);
  const List list(execution, primitives, count);
  EXPECT_TRUE(succeeds(list.draw(canvas.get(), test_frame.frame())));
  return test_frame.download();
}

inline const PixelFormat &format_named(const std::string &name) {
  return *std::find_if(pixel_formats().begin(), pixel_formats().end(),
                       [&](const PixelFormat &f) { return f.name == name; });
}
inline HostFrame gray_frame(Size size, unsigned seed) { return HostFrame(format_named("GRAY8"), size, seed); }

inline Primitive primitive(Primitive::Kind kind, int x0, int y0, int x1, int y1, int line_width = 1,
                           Color color = {{250, 20, 130}, 255}) {
  return {.kind = kind,
          .line_width = static_cast<std::uint8_t>(line_width),
          .color = color,
          .x0 = static_cast<std::int16_t>(x0),
          .y0 = static_cast<std::int16_t>(y0),
          .x1 = static_cast<std::int16_t>(x1),
          .y1 = static_cast<std::int16_t>(y1)};
}

}  // namespace cudavision::test
