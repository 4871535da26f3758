// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of reducing and enlarging pictures.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cuda/bgsub/bgsub_backends.h"

namespace cudavision::bgsub {
namespace {

constexpr int kRowsPerTask = 16;

// Whether reduce_row() and enlarge_row() can process these pictures: planes, at the scales that cudabgsub offers.
bool has_quick_rows(const BgsubPicture &picture, int scale, const BgsubPicture &reduced) {
  return picture.step_bytes == 1 && reduced.step_bytes == 1 && (scale == 2 || scale == 4);
}

// Computes the means of `count` squares that lie within a plane. from: the first pixel of the first square.
template <int kScale>
void reduce_row(const std::uint8_t *from, std::ptrdiff_t pitch, int count, std::uint8_t *row) {
  constexpr int kPixels = kScale * kScale;
  for (int x = 0; x < count; ++x, from += kScale) {
    int sum = kPixels / 2;
    for (int i = 0; i < kPixels; ++i) sum += from[i / kScale * pitch + i % kScale];
    row[x] = static_cast<std::uint8_t>(sum / kPixels);
  }
}

template <int kScale>
void enlarge_row(const std::uint8_t *from, int count, std::uint8_t *to) {
  for (int x = 0; x < count; ++x, to += kScale) std::memset(to, from[x], kScale);
}

}  // namespace

Status reduce_cpu(const Execution &execution, const BgsubPicture &picture, int scale,
                  const BgsubPixels<std::uint8_t> &reduced, Input) {
  const bool is_quick = has_quick_rows(picture, scale, reduced);
  return execution.workers->run_rows(reduced.height, kRowsPerTask, [&](int y, int) {
    std::uint8_t *row = reduced.data + y * reduced.pitch_bytes;
    const int whole = is_quick && (y + 1) * scale <= picture.height ? picture.width / scale : 0;
    const std::uint8_t *from = picture.data + y * scale * picture.pitch_bytes;
    if (scale == 2) reduce_row<2>(from, picture.pitch_bytes, whole, row);
    if (scale == 4) reduce_row<4>(from, picture.pitch_bytes, whole, row);
    for (int x = whole; x < reduced.width; ++x)
      for (int c = 0; c < reduced.channels; ++c)
        row[x * reduced.step_bytes + c] = mean_of_square(picture, scale, x, y, c);
  });
}

Status enlarge_cpu(const Execution &execution, const BgsubPicture &reduced, int scale,
                   const BgsubPixels<std::uint8_t> &picture) {
  const bool is_quick = has_quick_rows(picture, scale, reduced);
  return execution.workers->run_rows(picture.height, kRowsPerTask, [&](int y, int) {
    const std::uint8_t *from = reduced.data + y / scale * reduced.pitch_bytes;
    std::uint8_t *to = picture.data + y * picture.pitch_bytes;
    const int whole = is_quick ? picture.width / scale : 0;
    if (scale == 2) enlarge_row<2>(from, whole, to);
    if (scale == 4) enlarge_row<4>(from, whole, to);
    for (int x = whole * scale; x < picture.width; ++x)
      std::copy_n(from + x / scale * reduced.step_bytes, picture.channels, to + x * picture.step_bytes);
  });
}

}  // namespace cudavision::bgsub
