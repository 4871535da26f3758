// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of the Gaussian: each thread convolves the columns of a row, then the row itself.
#include <algorithm>
#include <vector>

#include "gaussian/gaussian_rules.h"

namespace cudavision::gaussian {
namespace {

constexpr int kRowsPerTask = 16;

class GaussianCpu final : public Gaussian {
 public:
  GaussianCpu(const Execution &execution, Size size)
      : execution_(execution),
        size_(size),
        scratch_(static_cast<std::size_t>(execution.workers->thread_count()), Scratch(size.width)) {}

  Status run(ImageView<const std::uint8_t> src, ImageView<std::uint8_t> dst, double sigma) override {
    CUDAVISION_TRY(check_run(src.size(), dst.size(), size_, sigma));
    const std::vector<std::uint16_t> weights = gaussian_weights(sigma);
    execution_.workers->run(divide_up(size_.height, kRowsPerTask), [&](int task, int slot) {
      const int last = std::min(size_.height, (task + 1) * kRowsPerTask);
      for (int y = task * kRowsPerTask; y < last; ++y)
        smooth_row(src, y, weights, scratch_[static_cast<std::size_t>(slot)], dst.row(y));
    });
    return {};
  }

 private:
  struct Scratch {  // column sums (at most 256 * 255) with a mirrored margin to both sides, and the sums of a
                    // row
    explicit Scratch(int width)
        : columns(static_cast<std::size_t>(width + 2 * kMaxGaussianRadius)),
          sums(static_cast<std::size_t>(width)) {}
    std::vector<std::uint16_t> columns;
    std::vector<std::uint32_t> sums;
  };

  // Integers all through, so that the order of the two passes changes nothing.
  static void smooth_row(ImageView<const std::uint8_t> src, int y, const std::vector<std::uint16_t> &weights,
                         Scratch &scratch, std::uint8_t *dst) {
    const int radius = static_cast<int>(weights.size()) - 1, width = src.width;
    std::uint16_t *columns = scratch.columns.data() + kMaxGaussianRadius;
    std::uint32_t *sums = scratch.sums.data();
    const std::uint8_t *centre = src.row(y);
    for (int x = 0; x < width; ++x) columns[x] = static_cast<std::uint16_t>(weights[0] * centre[x]);
    for (int k = 1; k <= radius; ++k) {
      const std::uint16_t weight = weights[static_cast<std::size_t>(k)];
      const std::uint8_t *above = src.row(mirror_index(y - k, src.height));
      const std::uint8_t *below = src.row(mirror_index(y + k, src.height));
      for (int x = 0; x < width; ++x)
        columns[x] = static_cast<std::uint16_t>(columns[x] + weight * (above[x] + below[x]));
    }
    for (int k = 1; k <= radius; ++k) {
      columns[-k] = columns[mirror_index(-k, width)];
      columns[width - 1 + k] = columns[mirror_index(width - 1 + k, width)];
    }
    for (int x = 0; x < width; ++x) sums[x] = static_cast<std::uint32_t>(weights[0] * columns[x]);
    for (int k = 1; k <= radius; ++k) {
      const std::uint32_t weight = weights[static_cast<std::size_t>(k)];
      for (int x = 0; x < width; ++x)
        sums[x] += weight * (static_cast<std::uint32_t>(columns[x - k]) + columns[x + k]);
    }
    for (int x = 0; x < width; ++x) dst[x] = static_cast<std::uint8_t>((sums[x] + (1u << 15)) >> 16);
  }

  Execution execution_;
  Size size_;
  std::vector<Scratch> scratch_;  // one for each thread
};

}  // namespace

Status make_gaussian_cpu(const Execution &execution, Size size, std::unique_ptr<Gaussian> *gaussian) {
  *gaussian = std::make_unique<GaussianCpu>(execution, size);
  return {};
}

}  // namespace cudavision::gaussian
