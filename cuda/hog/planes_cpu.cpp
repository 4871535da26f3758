// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures with one plane of bytes per channel, for the CPU backend.
#include "cuda/hog/planes_cpu.h"

#include <algorithm>

namespace cudavision::hog {
namespace {

constexpr int kRowsPerTask = 32;

}  // namespace

OwnedPlanes::OwnedPlanes(Size size, int count)
    : size_(size),
      count_(count),
      pitch_(divide_up(size.width, kRowPadding) * kRowPadding + kRowPadding),
      bytes_(static_cast<std::size_t>(pitch_) * static_cast<std::size_t>(size.height) *
             static_cast<std::size_t>(count)) {}

BytePlanes OwnedPlanes::view() const {
  BytePlanes planes;
  planes.count = count_;
  for (int c = 0; c < count_; ++c)
    planes.plane[c] = {bytes_.data() + static_cast<std::ptrdiff_t>(c) * size_.height * pitch_, pitch_,
                       size_.width, size_.height};
  return planes;
}

PlaneSplitter::PlaneSplitter(Size size, int channels) : planes_(size, channels) {}

Status PlaneSplitter::take(const Workers &workers, const HogPicture &picture, BytePlanes *planes) {
  const Component &luma = picture.component[0];
  if (picture.channels == 1 && luma.step_bytes == 1) {
    *planes = {1, {{luma.data, luma.pitch_bytes, picture.width, picture.height}, {}, {}}};
    return {};
  }
  *planes = planes_.view();
  return workers.run_rows(picture.height, kRowsPerTask, [&](int y, int) {
    const std::uint8_t *samples[3];
    std::uint8_t *rows[3];
    for (int i = 0; i < 3; ++i) {
      const int c = std::min(i, picture.channels - 1);
      const Component &component = picture.component[picture.channels - 1 - c];  // B, G, R
      samples[i] = component.data + y * component.pitch_bytes;
      rows[i] = planes_.row(c, y);
    }
    split_row(samples, picture.channels, luma.step_bytes, picture.width, rows);
  });
}

}  // namespace cudavision::hog
