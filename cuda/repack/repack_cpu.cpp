// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of repacking.
#include <algorithm>

#include "cuda/repack/repack_backends.h"
#include "cuda/repack/repack_rules.h"

namespace cudavision::repack {
namespace {

constexpr int kRowsPerTask = 16;

// Calls work(component, x, y, count) for each row of samples that each component has in the region: `count` samples,
// the first of which belongs to pixel (x, y).
template <typename Work>
Status for_each_row(const Execution &execution, const RepackedFrame &frame, int components, Region region,
                    const Work &work) {
  return execution.workers->run_strips(region.height, kRowsPerTask, [&](int first_row, int end_row, int) {
    for (int i = 0; i < components; ++i) {
      const RepackedComponent &c = frame.component[i];
      const int sx = c.eight.shift_x, sy = c.eight.shift_y;
      const int first = region.x >> sx, count = ((region.x + region.width - 1) >> sx) - first + 1;
      for (int y = region.y + first_row; y < region.y + end_row; ++y)
        // a row of samples is processed with the first of its rows of pixels in the region
        if (y == region.y || (y & ((1 << sy) - 1)) == 0) work(c, first << sx, y, count);
    }
  });
}

// Repacks `count` samples of a row. The compiler vectorises the loop for constant steps. Step 0: known only at run
// time.
template <int kWideStep, int kEightStep>
void repack_row(const RepackedComponent &c, int x, int y, int count, const Range &range) {
  const int wide_step = kWideStep != 0 ? kWideStep : c.wide.step_bytes,
            eight_step = kEightStep != 0 ? kEightStep : c.eight.step_bytes;
  const std::uint8_t *__restrict wide = &c.wide.at(x, y);
  std::uint8_t *__restrict eight = &c.eight.at(x, y);
  if (c.bit == 0 && !range.used) {
    for (int i = 0; i < count; ++i) eight[i * eight_step] = wide[i * wide_step];
  } else {
    for (int i = 0; i < count; ++i) eight[i * eight_step] = read_sample(wide + i * wide_step, c.bit, range);
  }
}

using RepackRow = void (*)(const RepackedComponent &, int, int, int, const Range &);
RepackRow repack_row_of(const RepackedComponent &c) {
  const auto steps = [&](int wide, int eight) {
    return c.wide.step_bytes == wide && c.eight.step_bytes == eight;
  };
  if (steps(2, 1)) return repack_row<2, 1>;  // a plane of 16-bit samples
  if (steps(4, 2)) return repack_row<4, 2>;  // two components in one plane of 16-bit samples
  return repack_row<0, 0>;
}

}  // namespace

Status repack_cpu(const Execution &execution, const RepackedFrame &frame, int components) {
  const Range range = range_of(frame);
  return for_each_row(
      execution, frame, components, {0, 0, frame.width, frame.height},
      [&](const RepackedComponent &c, int x, int y, int count) { repack_row_of(c)(c, x, y, count, range); });
}

Status unpack_cpu(const Execution &execution, const RepackedFrame &frame, Region region,
                  ImageView<const std::uint8_t> replaced) {
  const Range range = range_of(frame);
  return for_each_row(
      execution, frame, frame.count, region, [&](const RepackedComponent &c, int x, int y, int count) {
        std::uint8_t *wide = &c.wide.at(x, y);
        const std::uint8_t *eight = &c.eight.at(x, y);
        const std::uint8_t *marks = replaced.data != nullptr ? replaced.row(y) + x : nullptr;
        for (int i = 0; i < count; ++i, wide += c.wide.step_bytes, eight += c.eight.step_bytes) {
          if (marks != nullptr && marks[i << c.eight.shift_x] != 0)
            replace_sample(wide, c.bit, c.low, range, *eight);
          else
            write_sample(wide, c.bit, range, *eight);
        }
      });
}

}  // namespace cudavision::repack
