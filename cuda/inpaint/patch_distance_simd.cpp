// SPDX-License-Identifier: LGPL-2.1-or-later
// The exemplar search, compiled once per instruction set by Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cuda/inpaint/patch_distance_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include <hwy/highway.h>

#include <algorithm>

#include "cuda/inpaint/patch_distance_simd.h"

HWY_BEFORE_NAMESPACE();
namespace cudavision::inpaint::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Lowers *best to least, if that is smaller, and returns *best.
inline std::uint64_t lower(std::atomic<std::uint64_t> *best, std::uint64_t least) {
  std::uint64_t known = best->load(std::memory_order_relaxed);
  while (least < known && !best->compare_exchange_weak(known, least, std::memory_order_relaxed)) {
  }
  return std::min(known, least);
}

#if HWY_TARGET == HWY_SCALAR

void search_row(const Search &search, int y, int first, int last, std::atomic<std::uint64_t> *best) {
  std::uint64_t least = kNoSource;
  for (int x = first; x < last; ++x)
    if (search.sources.row(y)[x] != 0) least = std::min(least, key_of(search, x, y));
  lower(best, least);
}

#else

// The number of target pixels between two comparisons with the best sum.
constexpr int kGroup = 4;

// Searches a vector of candidates at a time. Within a group, the low bytes of the squares are summed in 16
// bits, and so are the high bytes: neither sum of kPlanes * kGroup squares overflows.
template <int kPlanes>
void search(const Search &search, int y, int first, int last, std::atomic<std::uint64_t> *best) {
  const hn::ScalableTag<std::uint16_t> d16;
  const hn::RepartitionToWide<decltype(d16)> d32;
  const hn::Half<decltype(d16)> half16;
  const hn::Rebind<std::uint8_t, decltype(d16)> bytes;
  const int lanes = static_cast<int>(hn::Lanes(d16));
  const Target &target = *search.target;
  const std::ptrdiff_t row = y * search.planes.pitch_bytes;
  const std::uint8_t *sources = search.sources.row(y);
  const auto low_byte = hn::Set(d16, 255);
  HWY_ALIGN std::uint32_t sums[HWY_MAX_BYTES / 2];
  std::uint64_t known = best->load(std::memory_order_relaxed);

  for (int x = first; x < last; x += lanes) {
    if (hn::AllTrue(bytes, hn::Eq(hn::LoadU(bytes, sources + x), hn::Zero(bytes)))) continue;
    const auto limit = hn::Set(d32, sum_of_source(known));
    auto sum0 = hn::Zero(d32), sum1 = sum0;
    bool abandoned = false;
    for (int begin = 0; begin < target.count && !abandoned; begin += kGroup) {
      auto low = hn::Zero(d16), high = low;
      for (int i = begin, end = std::min(target.count, begin + kGroup); i < end; ++i)
        for (int p = 0; p < kPlanes; ++p) {
          const auto candidate = hn::LoadU(bytes, search.planes.plane[p] + row + x + target.offset[i]);
          const auto wanted = hn::Set(bytes, target.byte[p][i]);
          const auto difference = hn::PromoteTo(
              d16, hn::Or(hn::SaturatedSub(candidate, wanted), hn::SaturatedSub(wanted, candidate)));
          const auto square = hn::Mul(difference, difference);
          low = hn::Add(low, hn::And(square, low_byte));
          high = hn::Add(high, hn::ShiftRight<8>(square));
        }
      const auto flush = [&](auto l, auto u, auto &sum) HWY_ATTR {
        sum = hn::Add(sum, hn::Add(hn::PromoteTo(d32, l), hn::ShiftLeft<8>(hn::PromoteTo(d32, u))));
      };
      flush(hn::LowerHalf(half16, low), hn::LowerHalf(half16, high), sum0);
      flush(hn::UpperHalf(half16, low), hn::UpperHalf(half16, high), sum1);
      abandoned = hn::AllTrue(d32, hn::And(hn::Gt(sum0, limit), hn::Gt(sum1, limit)));
    }
    if (abandoned) continue;
    hn::Store(sum0, d32, sums);
    hn::Store(sum1, d32, sums + lanes / 2);
    std::uint64_t least = known;
    for (int i = 0; i < std::min(lanes, last - x); ++i)
      if (sources[x + i] != 0) least = std::min(least, source_key(sums[i], {x + i, y}));
    known = lower(best, least);
  }
}

void search_row(const Search &work, int y, int first, int last, std::atomic<std::uint64_t> *best) {
  if (work.planes.count == 1)
    search<1>(work, y, first, last, best);
  else
    search<3>(work, y, first, last, best);
}

#endif

}  // namespace cudavision::inpaint::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cudavision::inpaint {

HWY_EXPORT(search_row);

void search_row(const Search &search, int y, int first, int last, std::atomic<std::uint64_t> *best) {
  HWY_DYNAMIC_DISPATCH(search_row)(search, y, first, last, best);
}

std::uint64_t key_of(const Search &search, int x, int y) {
  const Target &target = *search.target;
  std::uint32_t sum = 0;
  for (int p = 0; p < search.planes.count; ++p) {
    const std::uint8_t *candidate = search.planes.plane[p] + y * search.planes.pitch_bytes + x;
    for (int i = 0; i < target.count; ++i) {
      const int difference = candidate[target.offset[i]] - target.byte[p][i];
      sum += static_cast<std::uint32_t>(difference * difference);
    }
  }
  return source_key(sum, {x, y});
}

}  // namespace cudavision::inpaint
#endif
