// SPDX-License-Identifier: LGPL-2.1-or-later
// The vectorised inner loops of the CPU backend, which Highway compiles once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cuda/hog/hog_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include <hwy/highway.h>

#include <algorithm>

#include "cuda/common/fused-inl.h"
#include "cuda/hog/hog_simd.h"

HWY_BEFORE_NAMESPACE();
namespace cudavision::hog::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using cudavision::HWY_NAMESPACE::fused_multiply_add;
using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

void copy_channel(const std::uint8_t *samples, int step, int width, std::uint8_t *out) {
  for (int x = 0; x < width; ++x) out[x] = samples[x * step];
}

void color_row(const Rules &rules, const std::uint8_t *bytes, int width, float *colors) {
  const Floats d;
  const hn::Rebind<std::uint8_t, Floats> d8;
  const hn::Rebind<std::int32_t, Floats> d32;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const Vector unit = hn::Set(d, rules.unit);
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    Vector v = hn::ConvertTo(d, hn::PromoteTo(d32, hn::LoadU(d8, bytes + x)));
    if (rules.gamma) v = hn::Sqrt(v);
    hn::StoreU(hn::Mul(v, unit), d, colors + x);
  }
  for (; x < width; ++x) colors[x] = color_value(rules, static_cast<float>(bytes[x]));
  colors[-1] = colors[mirror_index(-1, width)];
  colors[width] = colors[mirror_index(width, width)];
}

// hog::angle_of() of a vector.
HWY_INLINE Vector angle_of(const Rules &rules, Vector dx, Vector dy) {
  const Floats d;
  const auto set = [d](float v) HWY_ATTR { return hn::Set(d, v); };
  const Vector ax = hn::Abs(dx), ay = hn::Abs(dy), more = hn::Max(ax, ay), less = hn::Min(ax, ay);
  const float quarter = quarter_turn(rules.variant);
  Vector a;
  if (rules.variant == HogVariant::opencv) {
    const Vector c = hn::Div(less, hn::Add(more, set(static_cast<float>(DBL_EPSILON)))), c2 = hn::Mul(c, c);
    a = set(kDegrees * -0.04432655554792128f);
    for (const float factor : {0.1555786518463281f, -0.3258083974640975f, 0.9997878412794807f})
      a = fused_multiply_add(d, a, c2, set(kDegrees * factor));
    a = hn::Mul(a, c);
  } else {
    const Vector c = hn::Div(less, hn::Add(more, set(FLT_MIN))), c2 = hn::Mul(c, c);
    a = set(0.0028662257f);
    for (const float factor : {-0.0161657367f, 0.0429096138f, -0.0752896400f, 0.1065626393f, -0.1420889944f,
                               0.1999355085f, -0.3333314528f, 1.0f})
      a = hn::Add(hn::Mul(a, c2), set(factor));
    a = hn::Mul(a, c);
  }
  const Vector zero = hn::Zero(d);
  const auto left = hn::Lt(dx, zero), up = hn::Lt(dy, zero);
  a = hn::IfThenElse(hn::Lt(ax, ay), hn::Sub(set(quarter), a), a);
  const Vector mirrored = hn::Sub(set(2 * quarter), a);
  if (!rules.signed_gradient) return hn::IfThenElse(hn::Xor(left, up), mirrored, a);
  a = hn::IfThenElse(left, mirrored, a);
  return hn::IfThenElse(up, hn::Sub(set(4 * quarter), a), a);
}

// Computes the votes of the columns [begin, end), and of more columns up to a whole number of vectors.
// kOrder: 1 for the channels in the order of `rows`, -1 for the reverse order.
template <int kChannels, int kOrder>
void vote_columns(const Rules &rules, const ColorRows &rows, int begin, int end, const VoteRow &votes) {
  const Floats d;
  const hn::Rebind<std::int32_t, Floats> d32;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const Vector scale = hn::Set(d, rules.angle_scale), minus_half = hn::Set(d, -0.5f), one = hn::Set(d, 1.0f);
  const auto last = hn::Set(d32, rules.bins - 1);
  for (int x = begin; x < end; x += lanes) {
    Vector dx{}, dy{}, length{};
    for (int i = 0; i < kChannels; ++i) {
      const int c = kOrder > 0 ? i : kChannels - 1 - i;
      const Vector gx = hn::Sub(hn::LoadU(d, rows.here[c] + x + 1), hn::LoadU(d, rows.here[c] + x - 1));
      const Vector gy = hn::Sub(hn::LoadU(d, rows.below[c] + x), hn::LoadU(d, rows.above[c] + x));
      const Vector g = hn::Add(hn::Mul(gx, gx), hn::Mul(gy, gy));
      if (i == 0) {
        dx = gx, dy = gy, length = g;
      } else {
        const auto longer = hn::Gt(g, length);
        dx = hn::IfThenElse(longer, gx, dx);
        dy = hn::IfThenElse(longer, gy, dy);
        length = hn::Max(g, length);
      }
    }
    const Vector magnitude = hn::Sqrt(length);
    const Vector position = fused_multiply_add(d, angle_of(rules, dx, dy), scale, minus_half);
    const Vector below = hn::Floor(position), share = hn::Sub(position, below);
    if (rules.bins == 1) {
      hn::StoreU(magnitude, d, votes.first + x);
      hn::StoreU(hn::Zero(d), d, votes.second + x);
      hn::StoreU(hn::Zero(d32), d32, votes.bin + x);
      continue;
    }
    auto bin = hn::ConvertTo(d32, below);
    bin = hn::IfThenElse(hn::Lt(bin, hn::Zero(d32)), last, bin);
    hn::StoreU(hn::Mul(magnitude, hn::Sub(one, share)), d, votes.first + x);
    hn::StoreU(hn::Mul(magnitude, share), d, votes.second + x);
    hn::StoreU(bin, d32, votes.bin + x);
  }
}

void vote_row(const Rules &rules, const ColorRows &rows, int tail, int width, const VoteRow &votes) {
  if (rows.channels == 1) return vote_columns<1, 1>(rules, rows, 0, width, votes);
  vote_columns<3, 1>(rules, rows, 0, tail, votes);
  vote_columns<3, -1>(rules, rows, tail, width, votes);
}

// Expands each vote to a histogram in the ring buffer. A histogram can then be summed as vectors in registers; adding
// single votes to a histogram in memory would make each addition wait for the store of the previous one.
void expand_votes(const Rules &rules, const VoteRow &votes, int begin, int end, int pitch, float *ring) {
  const hn::CappedTag<float, kHistogramStep> d;
  const int lanes = static_cast<int>(hn::Lanes(d)), bins = rules.bins;
  const float *__restrict__ first = votes.first, *__restrict__ second = votes.second;
  const std::int32_t *__restrict__ bin_of = votes.bin;
  for (int x = begin; x < end; ++x) {
    float *__restrict__ histogram = ring + (x & (kRingPixels - 1)) * pitch;
    for (int b = 0; b < pitch; b += lanes) hn::StoreU(hn::Zero(d), d, histogram + b);
    const int bin = bin_of[x], next = bin + 1 == bins ? 0 : bin + 1;
    histogram[next] = second[x];
    histogram[bin] = first[x];  // if there is only one bin, overwrites the second vote
  }
}

// sum_row() for blocks of two cells in a row that overlap by one cell. Each pixel is expanded once, for the
// right half of one block and the left half of the next one.
void sum_row_of_pairs(const Rules &rules, const float *weights, const VoteRow &votes, int cols, float *out) {
  const hn::CappedTag<float, kHistogramStep> d;
  const hn::Rebind<std::int32_t, decltype(d)> d32;
  const int lanes = static_cast<int>(hn::Lanes(d)), bins = rules.bins, stride = rules.stride.width;
  const float *__restrict__ first = votes.first, *__restrict__ second = votes.second;
  const std::int32_t *__restrict__ bin_of = votes.bin;
  const float *__restrict__ weight0 = weights, *__restrict__ weight1 = weights + rules.block.width;
  HWY_ALIGN float left[2][kHistogramStep] = {}, whole[2][kHistogramStep];  // one histogram per cell
  for (int col = -1; col < cols; ++col) {
    for (int b = 0; b < kHistogramStep; b += lanes) {
      const auto here = hn::Iota(d32, b);
      const auto before =
          hn::IfThenElse(hn::Eq(here, hn::Zero(d32)), hn::Set(d32, bins - 1), hn::Iota(d32, b - 1));
      auto whole0 = hn::LoadU(d, left[0] + b), whole1 = hn::LoadU(d, left[1] + b);
      auto left0 = hn::Zero(d), left1 = left0;
      for (int i = 0, x = (col + 1) * stride; i < stride; ++i, ++x) {
        const auto bin = hn::Set(d32, bin_of[x]);
        const auto vote =
            hn::Or(hn::IfThenElseZero(hn::RebindMask(d, hn::Eq(here, bin)), hn::Set(d, first[x])),
                   hn::IfThenElseZero(hn::RebindMask(d, hn::Eq(before, bin)), hn::Set(d, second[x])));
        whole0 = fused_multiply_add(d, hn::Set(d, weight0[stride + i]), vote, whole0);
        whole1 = fused_multiply_add(d, hn::Set(d, weight1[stride + i]), vote, whole1);
        left0 = fused_multiply_add(d, hn::Set(d, weight0[i]), vote, left0);
        left1 = fused_multiply_add(d, hn::Set(d, weight1[i]), vote, left1);
      }
      hn::StoreU(whole0, d, whole[0] + b), hn::StoreU(whole1, d, whole[1] + b);
      hn::StoreU(left0, d, left[0] + b), hn::StoreU(left1, d, left[1] + b);
    }
    if (col < 0) continue;
    for (const float *cell : whole) {
      for (int b = 0; b < kHistogramStep; b += lanes)  // the excess is overwritten by the next cell
        hn::StoreU(hn::LoadU(d, cell + b), d, out + b);
      out += bins;
    }
  }
}

void sum_row(const Rules &rules, const float *weights, const VoteRow &votes, int width, int cols, float *ring,
             float *out) {
  if (rules.cells_x == 2 && rules.stride.width == rules.cell.width && rules.bins <= kHistogramStep)
    return sum_row_of_pairs(rules, weights, votes, cols, out);
  const hn::CappedTag<float, kHistogramStep> d;
  const int lanes = static_cast<int>(hn::Lanes(d)), pitch = histogram_pitch(rules.bins);
  constexpr int kAhead = 64;  // pixels are expanded this early, so that loads do not wait for recent stores
  const int bins = rules.bins, stride = rules.stride.width, side = rules.block.width;
  int expanded = 0;
  for (int col = 0; col < cols; ++col) {
    const int x = col * stride;
    if (const int end = std::min(x + side + kAhead, width); expanded < end) {
      expand_votes(rules, votes, std::max(expanded, x), end, pitch, ring);
      expanded = end;
    }
    for (int cell = 0; cell < rules.cells_x; ++cell, out += bins) {
      const float *weight = weights + cell * side;
      const int begin = first_voter(rules, cell), end = end_of_voters(rules, cell);
      for (int b = 0; b < bins; b += lanes) {
        auto sum = hn::Zero(d);
        for (int i = begin; i < end; ++i) {
          const float *histogram = ring + ((x + i) & (kRingPixels - 1)) * pitch + b;
          sum = fused_multiply_add(d, hn::Set(d, weight[i]), hn::LoadU(d, histogram), sum);
        }
        hn::StoreU(sum, d, out + b);  // the excess is overwritten by the next cell
      }
    }
  }
}

void add_weighted(const float *row, float weight, int count, float *sums) {
  const Floats d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const Vector w = hn::Set(d, weight);
  for (int i = 0; i < count; i += lanes)
    hn::StoreU(fused_multiply_add(d, w, hn::LoadU(d, row + i), hn::LoadU(d, sums + i)), d, sums + i);
}

// Adds the kPartialSums sums in the order that hog_rules.h defines.
float sum_of_partial(float *sums) {
  for (int half = kPartialSums / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) sums[i] += sums[i + half];
  return sums[0];
}

void normalize_block(const Rules &rules, float *block) {
  const hn::CappedTag<float, kPartialSums> d;
  const int lanes = static_cast<int>(hn::Lanes(d)), length = rules.length;
  const bool squares = rules.norm == HogNorm::l2 || rules.norm == HogNorm::l2_hys;
  HWY_ALIGN float sums[kPartialSums];
  for (int first = 0; first < kPartialSums; first += lanes) {
    auto sum = hn::Zero(d);
    for (int i = first; i < length; i += kPartialSums) {
      const auto v = hn::LoadU(d, block + i);
      sum = squares ? fused_multiply_add(d, v, v, sum) : hn::Add(sum, v);
    }
    hn::Store(sum, d, sums + first);
  }
  const auto scale = hn::Set(d, scale_of(rules, sum_of_partial(sums))), clip = hn::Set(d, rules.clip);
  for (int first = 0; first < kPartialSums; first += lanes) {
    auto sum = hn::Zero(d);
    for (int i = first; i < length; i += kPartialSums) {
      auto v = hn::Mul(hn::LoadU(d, block + i), scale);
      if (rules.norm == HogNorm::l1_sqrt) v = hn::Sqrt(v);
      if (rules.norm == HogNorm::l2_hys) {
        v = hn::Min(v, clip);
        sum = fused_multiply_add(d, v, v, sum);
      }
      hn::StoreU(v, d, block + i);
    }
    hn::Store(sum, d, sums + first);
  }
  if (rules.norm != HogNorm::l2_hys) return;
  const auto second = hn::Set(d, second_scale_of(rules, sum_of_partial(sums)));
  for (int i = 0; i < length; i += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, block + i), second), d, block + i);
}

void add_products(const Products &products, int count, float *scores) {
  const Floats d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int i = 0; i < count; i += 2 * lanes) {
    Vector even = hn::Zero(d), odd = even;
    for (int k = 0; k < products.length; ++k) {
      const float *weight = products.weights + k;
      const float *numbers = products.planes + k * products.plane_stride + i;
      for (int col = 0; col < products.cols;
           ++col, weight += products.weight_stride, numbers += products.col_step) {
        const Vector w = hn::Set(d, *weight);
        even = fused_multiply_add(d, w, hn::LoadU(d, numbers), even);
        odd = fused_multiply_add(d, w, hn::LoadU(d, numbers + lanes), odd);
      }
    }
    hn::StoreU(hn::Add(even, hn::LoadU(d, scores + i)), d, scores + i);
    hn::StoreU(hn::Add(odd, hn::LoadU(d, scores + i + lanes)), d, scores + i + lanes);
  }
}

void resize_row(const std::uint8_t *above, const std::uint8_t *below, int weight, int begin, int end,
                const std::int32_t *taps, int count, std::uint16_t *columns, std::uint8_t *out) {
  for (int x = begin; x < end; ++x)
    columns[x] = static_cast<std::uint16_t>(above[x] * (256 - weight) + below[x] * weight);
  columns[end] = 0;  // the last pair may include it, with the weight 0
  const hn::ScalableTag<std::int32_t> d;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto *base = reinterpret_cast<const std::int32_t *>(columns);
  for (int i = 0; i < count; i += lanes) {
    const auto tap = hn::LoadU(d, taps + i);
    const auto left = hn::ShiftRight<9>(tap), right_weight = hn::And(tap, hn::Set(d, 511));
    const auto pair = hn::GatherOffset(d, base, hn::Add(left, left));
    const auto first = hn::And(pair, hn::Set(d, 0xffff));
    const auto second =
        hn::BitCast(d, hn::ShiftRight<16>(hn::BitCast(hn::RebindToUnsigned<decltype(d)>(), pair)));
    const auto sum =
        hn::Add(hn::Mul(first, hn::Sub(hn::Set(d, 256), right_weight)), hn::Mul(second, right_weight));
    hn::StoreU(hn::DemoteTo(d8, hn::ShiftRight<16>(hn::Add(sum, hn::Set(d, 32768)))), d8, out + i);
  }
}

}  // namespace cudavision::hog::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cudavision::hog {

HWY_EXPORT(copy_channel);
HWY_EXPORT(color_row);
HWY_EXPORT(vote_row);
HWY_EXPORT(sum_row);
HWY_EXPORT(add_weighted);
HWY_EXPORT(normalize_block);
HWY_EXPORT(add_products);
HWY_EXPORT(resize_row);

void copy_channel(const std::uint8_t *samples, int step, int width, std::uint8_t *out) {
  HWY_DYNAMIC_DISPATCH(copy_channel)(samples, step, width, out);
}
void color_row(const Rules &rules, const std::uint8_t *bytes, int width, float *colors) {
  HWY_DYNAMIC_DISPATCH(color_row)(rules, bytes, width, colors);
}
void vote_row(const Rules &rules, const ColorRows &colors, int tail, int width, const VoteRow &votes) {
  HWY_DYNAMIC_DISPATCH(vote_row)(rules, colors, tail, width, votes);
}
void sum_row(const Rules &rules, const float *weights, const VoteRow &votes, int width, int cols, float *ring,
             float *out) {
  HWY_DYNAMIC_DISPATCH(sum_row)(rules, weights, votes, width, cols, ring, out);
}
void add_weighted(const float *row, float weight, int count, float *sums) {
  HWY_DYNAMIC_DISPATCH(add_weighted)(row, weight, count, sums);
}
void normalize_block(const Rules &rules, float *block) {
  HWY_DYNAMIC_DISPATCH(normalize_block)(rules, block);
}
void add_products(const Products &products, int count, float *scores) {
  HWY_DYNAMIC_DISPATCH(add_products)(products, count, scores);
}
void resize_row(const std::uint8_t *above, const std::uint8_t *below, int weight, int begin, int end,
                const std::int32_t *taps, int count, std::uint16_t *columns, std::uint8_t *out) {
  HWY_DYNAMIC_DISPATCH(resize_row)(above, below, weight, begin, end, taps, count, columns, out);
}

}  // namespace cudavision::hog
#endif
