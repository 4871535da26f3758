// SPDX-License-Identifier: LGPL-2.1-or-later
// Lines that reach far beyond the frame: only their steps within it are visited; the pixels are as if all were.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cuda/draw/canvas_rules.h"
#include "tests/kernels/canvas_definition.h"
#include "tests/kernels/canvas_runner.h"
#include "tests/support/backends.h"

namespace {

using namespace cudavision::test;
using cudavision::Primitive;
using cudavision::Region;
using cudavision::Size;
using cudavision::draw::Span;
using cudavision::draw::span_count;
using cudavision::draw::span_of;
using cudavision::draw::SpanRange;
using cudavision::draw::spans_within;
using Kind = Primitive::Kind;

class DrawLines : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(DrawLines);

constexpr int kWidths[] = {1, 2, 3, 4, 31, 254, 255};

// A line through or beside a picture of this size: near or far ends, every octant, and slopes so small that the minor
// coordinate changes only once or twice.
Primitive random_line(Random *random, Size size) {
  const auto below = [random](int count) { return random->below(count); };
  const auto sign = [&] { return below(2) == 0 ? 1 : -1; };
  const int x = below(size.width + 40) - 20, y = below(size.height + 40) - 20;
  const int longer = sign() * below(below(2) == 0 ? 100 : 65536);
  const int shorter = sign() * below(std::min(std::abs(longer), below(2) == 0 ? 4 : 65536) + 1);
  const bool flat = below(2) == 0;
  const int dx = flat ? longer : shorter, dy = flat ? shorter : longer, part = below(9);
  const auto in_range = [](int coordinate) { return std::clamp(coordinate, -32768, 32767); };
  return primitive(
      Kind::line, in_range(x - dx * part / 8), in_range(y - dy * part / 8), in_range(x + dx - dx * part / 8),
      in_range(y + dy - dy * part / 8), kWidths[below(7)],
      {{random->byte(), random->byte(), random->byte()}, below(2) == 0 ? std::uint8_t{255} : random->byte()});
}

TEST_P(DrawLines, of_any_length_equal_the_definition) {
  const Size size{41, 150};  // three bands of the CPU backend
  Random random(30);
  for (int i = 0; i < (kEmulated ? 40 : 1000); ++i) {
    const HostFrame frame = gray_frame(size, static_cast<unsigned>(i));
    Primitives lines;
    for (int k = 0; k < 3; ++k) lines.push_back(random_line(&random, size));
    const Region whole{0, 0, size.width, size.height},
        part{random.below(30), random.below(100), 1 + random.below(20), 1 + random.below(80)};
    const Region region = i % 2 == 0 ? whole : part;
    const TestFrame test_frame(execution(), frame, kOddPitch);
    const List list(execution(), lines);
    ASSERT_TRUE(succeeds(list.draw(canvas_of(execution(), size).get(), test_frame.frame(), region)));
    ASSERT_TRUE(same(test_frame.download(), definition(frame, lines, region))) << "case " << i;
  }
}

bool touches(Span span, Span within) { return !is_empty(clip(span, within)); }

// Compares spans_within() with a loop over all steps of the line.
TEST(DrawLineSteps, are_exactly_those_with_a_pixel_in_the_window) {
  Random random(31);
  for (int i = 0; i < 3000; ++i) {
    const Primitive line = random_line(&random, {90, 70});
    const int x = random.below(80) - 10, y = random.below(60) - 10;
    const Span within{x, y, x + 1 + random.below(40), y + 1 + random.below(40)};
    const int count = span_count(line);
    int first = 0, end = 0;
    for (int step = 0; step < count; ++step) {
      if (!touches(span_of(line, step), within)) continue;
      if (end == 0) first = step;
      end = step + 1;
    }
    const SpanRange range = spans_within(line, within);
    ASSERT_TRUE(end == 0 ? range.first >= range.end : range.first == first && range.end == end)
        << "case " << i << ": (" << line.x0 << ", " << line.y0 << ") to (" << line.x1 << ", " << line.y1
        << "), width " << int{line.line_width} << ", in [" << within.x0 << ", " << within.x1 << ") x ["
        << within.y0 << ", " << within.y1 << "): " << range.first << " to " << range.end << " instead of "
        << first << " to " << end;
  }
}

// spans_within() leaves out no span that has a pixel in the window, and includes few others of a shape that reaches far
// beyond the window.
TEST(DrawSpans, of_far_shapes_are_cut_to_the_window) {
  const Span within{0, 0, 64, 48};
  const Primitive shapes[] = {
      primitive(Kind::filled_rectangle, -30000, -32768, 30000, 32767),
      primitive(Kind::filled_rectangle, 50, 32767, 3, 40),
      primitive(Kind::filled_rectangle, 3, 60, 50, 32767),
      primitive(Kind::character, -300, -700, 'A', 0, 255),
      primitive(Kind::character, 10, 30, 'g', 0, 9),
      primitive(Kind::character, 10, -30, 'g', 0, 9),
      primitive(Kind::rectangle, -32768, 3, 32767, 40, 5),
  };
  for (const Primitive &shape : shapes) {
    const SpanRange range = spans_within(shape, within);
    for (int i = 0; i < span_count(shape); ++i)
      ASSERT_TRUE((i >= range.first && i < range.end) || !touches(span_of(shape, i), within))
          << static_cast<int>(shape.kind) << " span " << i;
    EXPECT_LE(range.end - range.first, 48 * cudavision::draw::kMostFontRuns) << static_cast<int>(shape.kind);
  }
}

}  // namespace
