// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/hog/planes_cpu.h"

namespace cudavision::hog {

Status PlaneSplitter::take(const Workers &workers, const HogPicture &picture, BytePlanes *planes) {
  constexpr int kRowsPerTask = 32;
  const Component &luma = picture.component[0];
  if (picture.channels == 1 && luma.step_bytes == 1) {
    *planes = {1, {{luma.data, luma.pitch_bytes, picture.width, picture.height}, {}, {}}};
    return {};
  }
  const auto copy_of_row = [&](int c, int y) {
    return bytes_.data() + (static_cast<std::ptrdiff_t>(c) * picture.height + y) * picture.width;
  };
  planes->count = picture.channels;
  for (int c = 0; c < picture.channels; ++c)
    planes->plane[c] = {copy_of_row(c, 0), picture.width, picture.width, picture.height};
  return workers.run_rows(picture.height, kRowsPerTask, [&](int y, int) {
    for (int c = 0; c < picture.channels; ++c) {
      const Component &channel = picture.component[picture.channels - 1 - c];  // B, G, R
      copy_channel(channel.data + y * channel.pitch_bytes, channel.step_bytes, picture.width,
                   copy_of_row(c, y));
    }
  });
}

}  // namespace cudavision::hog
