// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of the Gaussian, compiled once per instruction set by Highway. For each output row it
// convolves the columns and then the row of column sums.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cuda/gaussian/gaussian_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include <hwy/highway.h>

#include <algorithm>

#include "cuda/common/per_thread.h"
#include "cuda/gaussian/gaussian_backends.h"

HWY_BEFORE_NAMESPACE();
namespace cudavision::gaussian::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Computes one row of dst. rows: the 2 * radius + 1 source rows around it, from top to bottom. high, low:
// scratch memory for `width` elements, with a margin of kMaxGaussianRadius elements before them and of
// kMaxGaussianRadius elements and one vector after them.
//
// 16 bits suffice. A column sum S is at most 256 * 255 and is stored as S = 256 high + low. Let H and L be
// the weighted sums of high and low, at most 256 * 255 each. Then the result, with all divisions rounded
// down, is
//   (256 H + L + 2^15) / 2^16 = (H + L / 256 + 128) / 256, and H + L / 256 is at most 256 * 255.
void smooth_row(const std::uint8_t *const *rows, const std::uint16_t *weights, int radius, int width,
                std::uint16_t *high, std::uint16_t *low, std::uint8_t *dst) {
  const hn::ScalableTag<std::uint16_t> d;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto store = [&](int x, hn::Vec<decltype(d)> sum) HWY_ATTR {
    hn::StoreU(hn::ShiftRight<8>(sum), d, high + x);
    hn::StoreU(hn::And(sum, hn::Set(d, 255)), d, low + x);
  };
  const auto columns = [&](int x) HWY_ATTR {
    const auto load = [&](int row) HWY_ATTR { return hn::PromoteTo(d, hn::LoadU(bytes, rows[row] + x)); };
    auto sum = hn::Mul(load(radius), hn::Set(d, weights[0]));
    for (int k = 1; k <= radius; ++k)
      sum = hn::Add(sum, hn::Mul(hn::Add(load(radius - k), load(radius + k)), hn::Set(d, weights[k])));
    store(x, sum);
  };
  int x = 0;
  for (; x + lanes <= width; x += lanes) columns(x);
  if (x < width && width >= lanes) {
    columns(width - lanes);  // the last vector overlaps the one before it, to stay inside the row
  } else {
    for (; x < width; ++x) {
      int sum = weights[0] * rows[radius][x];
      for (int k = 1; k <= radius; ++k) sum += weights[k] * (rows[radius - k][x] + rows[radius + k][x]);
      high[x] = static_cast<std::uint16_t>(sum >> 8);
      low[x] = static_cast<std::uint16_t>(sum & 255);
    }
  }
  for (std::uint16_t *sums : {high, low})
    for (int k = 1; k <= radius; ++k) {
      sums[-k] = sums[mirror_index(-k, width)];
      sums[width - 1 + k] = sums[mirror_index(width - 1 + k, width)];
    }

  HWY_ALIGN std::uint8_t last[HWY_MAX_BYTES];
  for (x = 0; x < width; x += lanes) {
    const auto weigh = [&](const std::uint16_t *sums) HWY_ATTR {
      auto sum = hn::Mul(hn::LoadU(d, sums + x), hn::Set(d, weights[0]));
      for (int k = 1; k <= radius; ++k)
        sum = hn::Add(sum, hn::Mul(hn::Add(hn::LoadU(d, sums + x - k), hn::LoadU(d, sums + x + k)),
                                   hn::Set(d, weights[k])));
      return sum;
    };
    const auto result =
        hn::ShiftRight<8>(hn::Add(hn::Add(weigh(high), hn::ShiftRight<8>(weigh(low))), hn::Set(d, 128)));
    // The last vector may extend beyond the row.
    std::uint8_t *out = x + lanes <= width ? dst + x : last;
    hn::StoreU(hn::DemoteTo(bytes, hn::BitCast(hn::RebindToSigned<decltype(d)>(), result)), bytes, out);
    if (out == last) std::copy_n(last, width - x, dst + x);
  }
}

}  // namespace cudavision::gaussian::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <vector>

namespace cudavision::gaussian {
namespace {

HWY_EXPORT(smooth_row);

constexpr int kRowsPerTask = 16;
constexpr int kVector = 64;  // more than the number of lanes of any vector

class GaussianCpu final : public Gaussian {
 public:
  GaussianCpu(const Execution &execution, Size size)
      : execution_(execution),
        size_(size),
        scratch_(*execution.workers, [width = size.width] { return Scratch(width); }) {}

  Status run(ImageView<const std::uint8_t> src, ImageView<std::uint8_t> dst, double sigma) override {
    CUDAVISION_TRY(check_run(src.size(), dst.size(), size_, sigma));
    const Weights &weights = weights_.of(sigma);
    scratch_.fit(*execution_.workers);
    return execution_.workers->run_rows(src.height, kRowsPerTask, [&](int y, int slot) {
      smooth(src, y, weights, scratch_[slot], dst.row(y));
    });
  }

 private:
  struct Scratch {
    explicit Scratch(int width)
        : high(static_cast<std::size_t>(width + 2 * kMaxGaussianRadius + kVector)), low(high.size()) {}
    std::vector<std::uint16_t> high, low;
  };

  static void smooth(ImageView<const std::uint8_t> src, int y, const Weights &weights, Scratch &scratch,
                     std::uint8_t *dst) {
    const int radius = weights.radius;
    const std::uint8_t *rows[2 * kMaxGaussianRadius + 1];
    for (int k = -radius; k <= radius; ++k) rows[k + radius] = src.row(mirror_index(y + k, src.height));
    HWY_DYNAMIC_DISPATCH(smooth_row)
    (rows, weights.w, radius, src.width, scratch.high.data() + kMaxGaussianRadius,
     scratch.low.data() + kMaxGaussianRadius, dst);
  }

  Execution execution_;
  Size size_;
  PerThread<Scratch> scratch_;
  WeightsOfSigma weights_;
};

}  // namespace

Status make_gaussian_cpu(const Execution &execution, Size size, std::unique_ptr<Gaussian> *gaussian) {
  return make_as<GaussianCpu>(gaussian, execution, size);
}

}  // namespace cudavision::gaussian
#endif
