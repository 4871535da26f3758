// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of reducing and enlarging pictures.
#include <algorithm>

#include "cuda/bgsub/bgsub_scale_backends.h"
#include "cuda/bgsub/bgsub_scale_rules.h"

namespace cudavision::bgsub {
namespace {

constexpr int kRowsPerTask = 16;

}  // namespace

Status reduce_cpu(const Execution &execution, const BgsubPicture &picture, int scale,
                  const BgsubPixels<std::uint8_t> &reduced, Input) {
  return execution.workers->run_rows(reduced.height, kRowsPerTask, [&](int y, int) {
    std::uint8_t *row = reduced.data + y * reduced.pitch_bytes;
    for (int x = 0; x < reduced.width; ++x, row += reduced.step_bytes)
      for (int c = 0; c < reduced.channels; ++c) row[c] = mean_of_square(picture, scale, x, y, c);
  });
}

Status enlarge_cpu(const Execution &execution, const BgsubPicture &reduced, int scale,
                   const BgsubPixels<std::uint8_t> &picture) {
  return execution.workers->run_rows(picture.height, kRowsPerTask, [&](int y, int) {
    const std::uint8_t *from = reduced.data + y / scale * reduced.pitch_bytes;
    std::uint8_t *to = picture.data + y * picture.pitch_bytes;
    for (int x = 0; x < picture.width; x += scale, from += reduced.step_bytes)
      for (int i = 0; i < std::min(scale, picture.width - x); ++i, to += picture.step_bytes)
        std::copy_n(from, picture.channels, to);
  });
}

}  // namespace cudavision::bgsub
