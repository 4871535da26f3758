// SPDX-License-Identifier: LGPL-2.1-or-later
// A fused multiply-add for every instruction set, for files that Highway compiles once per instruction set. Like CUDA's
// fmaf() it rounds once, so that sums of products have the same bits on all processors.
#if defined(CUDAVISION_COMMON_FUSED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CUDAVISION_COMMON_FUSED_INL_H_
#undef CUDAVISION_COMMON_FUSED_INL_H_
#else
#define CUDAVISION_COMMON_FUSED_INL_H_
#endif

#include <hwy/highway.h>

#include "cuda/common/fused.h"

HWY_BEFORE_NAMESPACE();
namespace cudavision::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Returns a * b + c, rounded once. Without an FMA instruction (x86 before AVX2), computes one lane after the other.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V fused_multiply_add(D d, V a, V b, V c) {
#if HWY_NATIVE_FMA
  (void)d;
  return hn::MulAdd(a, b, c);
#else
  float factor[hn::MaxLanes(d)], other[hn::MaxLanes(d)], sum[hn::MaxLanes(d)];
  hn::StoreU(a, d, factor), hn::StoreU(b, d, other), hn::StoreU(c, d, sum);
  for (std::size_t i = 0; i < hn::MaxLanes(d); ++i) sum[i] = fused_by_doubles(factor[i], other[i], sum[i]);
  return hn::LoadU(d, sum);
#endif
}

}  // namespace cudavision::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // the include guard, which Highway toggles
