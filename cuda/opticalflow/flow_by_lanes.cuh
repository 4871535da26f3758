// SPDX-License-Identifier: LGPL-2.1-or-later
// The iteration of pixels by a warp, for pixels whose windows share little with those of others. The sums over a window
// are made by all lanes together: eight lanes side by side divide the columns of the window, and four such rows of lanes
// divide its rows. A warp has one pixel; or several, of which each belongs to a lane, so that the steps of all are made
// at the same time. All sums are integers, so that the result is that of the other kernels.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/dot.cuh"
#include "cuda/common/warp.cuh"
#include "cuda/opticalflow/flow_window.cuh"

namespace cudavision::opticalflow {

constexpr int kLanesAcross = 8, kLanesDown = 4;
static_assert(kLanesAcross * kLanesDown == 32);
// A lane has the columns of kPairs pairs, 1 or 2.
static_assert(2 * kMaxRadius + 1 <= 2 * 2 * kLanesAcross);
CUDAVISION_HOST_DEVICE constexpr int pairs_of_lane(int window) { return window <= 2 * kLanesAcross ? 1 : 2; }

// A pixel whose iteration is not finished.
struct UnfinishedPixel {
  Tracker track;
  int x, y;
  FromSums from;
};

// The part of a window that a lane sums: columns from x on, and rows from y on. It is empty in some lanes.
struct LaneShare {
  int x, columns, y, rows;
};
__device__ inline LaneShare share_of_lane(const Place &place, int window) {
  const PixelRect in = window_in(place, window);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int columns = divide_up(window, kLanesAcross), rows = divide_up(window, kLanesDown);
  const int x = in.x0 + lane % kLanesAcross * columns, y = in.y0 + lane / kLanesAcross * rows;
  const int left = max(min(columns, in.x1 - x), 0);
  return {x, left, y, left > 0 ? min(rows, in.y1 - y) : 0};
}

// The derivatives of a lane's columns in one row: those of neighbouring columns are the halves of a word.
template <int kPairs>
struct GradientPairs {
  unsigned x[kPairs], y[kPairs];
};

// Reads the derivatives of a lane's columns, row by row.
template <int kPairs>
class GradientReader {
 public:
  __device__ GradientReader(ImageView<const ScharrGradient> gradient, const LaneShare &share)
      : at_(reinterpret_cast<const unsigned *>(gradient.row(share.y) + share.x)),
        pitch_(gradient.pitch_bytes / static_cast<std::ptrdiff_t>(sizeof(unsigned))),
        columns_(share.columns) {}
  __device__ GradientPairs<kPairs> next() {
    unsigned word[2 * kPairs];
#pragma unroll
    for (int k = 0; k < 2 * kPairs; ++k) word[k] = k < columns_ ? at_[k] : 0u;
    at_ += pitch_;
    GradientPairs<kPairs> pairs;
#pragma unroll
    for (int k = 0; k < kPairs; ++k) {
      pairs.x[k] = __byte_perm(word[2 * k], word[2 * k + 1], 0x5410);
      pairs.y[k] = __byte_perm(word[2 * k], word[2 * k + 1], 0x7632);
    }
    return pairs;
  }

 private:
  const unsigned *at_;
  std::ptrdiff_t pitch_;
  int columns_;
};

// 2 kPairs pixels of a row, from a column on and from the next column on.
struct LanePixels {
  unsigned here, right;
};

// Reads pixels row by row, in whole words. A picture of a pyramid begins at a multiple of four bytes, and so do its
// rows.
class WordReader {
 public:
  static constexpr int kRowsAhead = 2;  // the rows that a loop may load at once
  // Whether all words lie in the picture; the rows are [y, y + rows).
  __device__ static bool reaches(ImageView<const std::uint8_t> picture, int x, int y, int rows) {
    return x >= 0 && (x & ~3) + 8 <= picture.width && y >= 0 && y + rows <= picture.height;
  }
  __device__ WordReader(ImageView<const std::uint8_t> picture, int x, int y)
      : at_(reinterpret_cast<const unsigned *>(picture.row(y) + (x & ~3))),
        pitch_(picture.pitch_bytes / static_cast<std::ptrdiff_t>(sizeof(unsigned))),
        shift_(static_cast<unsigned>(x & 3) * 8) {}
  __device__ LanePixels next() {
    const unsigned low = at_[0], high = at_[1];
    at_ += pitch_;
    return {__funnelshift_rc(low, high, shift_), __funnelshift_rc(low, high, shift_ + 8)};
  }

 private:
  const unsigned *at_;
  std::ptrdiff_t pitch_;
  unsigned shift_;
};

// Reads pixels row by row, mirrored at the borders of the picture.
template <int kPairs>
class MirrorReader {
 public:
  static constexpr int kRowsAhead = 1;
  __device__ MirrorReader(ImageView<const std::uint8_t> picture, int x, int y) : picture_(picture), y_(y) {
#pragma unroll
    for (int k = 0; k <= 2 * kPairs; ++k) column_[k] = mirror_index(x + k, picture.width);
  }
  __device__ LanePixels next() {
    const std::uint8_t *row = picture_.row(mirror_index(y_++, picture_.height));
    unsigned here = 0, last = 0;
#pragma unroll
    for (int k = 0; k <= 2 * kPairs; ++k) {
      last = row[column_[k]];
      if (k < 2 * kPairs) here |= last << (8 * k);
    }
    return {here, here >> 8 | last << (16 * kPairs - 8)};
  }

 private:
  ImageView<const std::uint8_t> picture_;
  int y_, column_[2 * kPairs + 1];
};

// sum + the products of the derivatives of a lane's columns and the pixels.
template <int kPairs>
__device__ int add_products(const unsigned (&pairs)[kPairs], unsigned pixels, int sum) {
  sum = dot_of_low_bytes(pairs[0], pixels, sum);
  if constexpr (kPairs == 2) sum = dot_of_high_bytes(pairs[1], pixels, sum);
  return sum;
}

// Calls function(reader) with a reader of the rows [y, y + rows) of the picture from column x on.
template <int kPairs, typename Function>
__device__ void with_reader(ImageView<const std::uint8_t> picture, int x, int y, int rows,
                            const Function &function) {
  if (WordReader::reaches(picture, x, y, rows))
    function(WordReader(picture, x, y));
  else
    function(MirrorReader<kPairs>(picture, x, y));
}

// Returns, in all lanes, the sums of (Ix, Iy) J of a pixel for a cell. All lanes of the warp must call this with the same
// cell, and their shares of the pixel's window.
template <int kPairs>
__device__ CellSums correlate_by_lanes(const DeviceWork &work, const LaneShare &share,
                                       const DisplacementCell &cell) {
  CellSums e = {};
  if (share.rows > 0)
    with_reader<kPairs>(work.to, share.x + cell.x, share.y + cell.y, share.rows + 1, [&](auto pixels) {
      GradientReader<kPairs> gradients(work.gradient, share);
      LanePixels above = pixels.next();
#pragma unroll(decltype(pixels)::kRowsAhead)
      for (int row = 0; row < share.rows; ++row) {
        const GradientPairs<kPairs> g = gradients.next();
        const LanePixels below = pixels.next();
        e.x[0] = add_products<kPairs>(g.x, above.here, e.x[0]);
        e.x[1] = add_products<kPairs>(g.x, above.right, e.x[1]);
        e.x[2] = add_products<kPairs>(g.x, below.here, e.x[2]);
        e.x[3] = add_products<kPairs>(g.x, below.right, e.x[3]);
        e.y[0] = add_products<kPairs>(g.y, above.here, e.y[0]);
        e.y[1] = add_products<kPairs>(g.y, above.right, e.y[1]);
        e.y[2] = add_products<kPairs>(g.y, below.here, e.y[2]);
        e.y[3] = add_products<kPairs>(g.y, below.right, e.y[3]);
        above = below;
      }
    });
#pragma unroll
  for (int k = 0; k < 4; ++k) e.x[k] = warp_sum(e.x[k]), e.y[k] = warp_sum(e.y[k]);
  return e;
}

// The sums over a window that are the same for all cells.
struct StartSums {
  long long xx, xy, yy;
  FromSums from;
};
// Returns those of a pixel in all lanes. All lanes of the warp must call this with the same arguments.
template <int kPairs>
__device__ StartSums start_sums_by_lanes(const DeviceWork &work, const Place &place) {
  const LaneShare share = share_of_lane(place, work.rules.window);
  int xx = 0, xy = 0, yy = 0;
  FromSums from = {};
  if (share.rows > 0)
    with_reader<kPairs>(work.from, share.x, share.y, share.rows, [&](auto pixels) {
      GradientReader<kPairs> gradients(work.gradient, share);
#pragma unroll(decltype(pixels)::kRowsAhead)
      for (int row = 0; row < share.rows; ++row) {
        const GradientPairs<kPairs> g = gradients.next();
        const LanePixels i = pixels.next();
        from.x = add_products<kPairs>(g.x, i.here, from.x);
        from.y = add_products<kPairs>(g.y, i.here, from.y);
#pragma unroll
        for (int k = 0; k < 2 * kPairs; ++k) {
          const int gx = static_cast<std::int16_t>(g.x[k / 2] >> (k % 2 * 16) & 0xffffu),
                    gy = static_cast<std::int16_t>(g.y[k / 2] >> (k % 2 * 16) & 0xffffu);
          xx += gx * gx, xy += gx * gy, yy += gy * gy;
        }
      }
    });
  return {warp_sum_wide(xx), warp_sum_wide(xy), warp_sum_wide(yy), {warp_sum(from.x), warp_sum(from.y)}};
}

// Calls function(owner, place) for each lane whose `is_there` is true, with the place of its pixel. All lanes of the warp
// must call this; those of a call of the function have the same arguments.
template <typename Function>
__device__ void for_each_pixel(bool is_there, const Place &place, const Function &function) {
  for (unsigned rest = __ballot_sync(kFullWarp, is_there); rest != 0; rest &= rest - 1) {
    const int owner = __ffs(static_cast<int>(rest)) - 1;
    function(owner, Place{__shfl_sync(kFullWarp, place.x, owner), __shfl_sync(kFullWarp, place.y, owner),
                          place.size});
  }
}

// Starts the iteration of a pixel.
__device__ inline UnfinishedPixel start_with(const StartSums &sums, const DeviceWork &work,
                                             const Place &place, FlowVector start) {
  const StructureTensor s{scaled(sums.xx), scaled(sums.xy), scaled(sums.yy)};
  return {start_tracking(place, work.rules, s, start), place.x, place.y, sums.from};
}

// Starts the iteration of one pixel. All lanes of the warp must call this with the same arguments.
template <int kPairs>
__device__ UnfinishedPixel start_by_warp(const DeviceWork &work, const Place &place, FlowVector start) {
  return start_with(start_sums_by_lanes<kPairs>(work, place), work, place, start);
}

// Starts the iteration of each lane's pixel, if it is there. All lanes of the warp must call this.
template <int kPairs>
__device__ UnfinishedPixel start_by_lanes(const DeviceWork &work, bool is_there, const Place &place,
                                          FlowVector start) {
  StartSums mine = {};
  for_each_pixel(is_there, place, [&](int owner, const Place &of_owner) {
    const StartSums sums = start_sums_by_lanes<kPairs>(work, of_owner);
    if (static_cast<int>(threadIdx.x) % 32 == owner) mine = sums;
  });
  UnfinishedPixel pixel = start_with(mine, work, place, start);
  if (!is_there) pixel.track.running = false;
  return pixel;
}

// Makes the steps of a pixel inside the cell; e: the sums of (Ix, Iy) J for the cell, and from: those of (Ix, Iy) I.
__device__ inline void step_in_cell(const Place &place, const TrackingRules &rules, CellSums e,
                                    const FromSums &from, Tracker *t) {
#pragma unroll
  for (int corner = 0; corner < 4; ++corner) e.x[corner] -= from.x, e.y[corner] -= from.y;
  const DisplacementCell cell = cell_of(t->d);
  do {
    step(place, rules, interpolate(e, t->d), t);
  } while (t->running && is_same_cell(cell_of(t->d), cell));
}

// Finishes the iteration of one pixel. All lanes of the warp must call this with the same arguments.
template <int kPairs>
__device__ Tracker finish_by_warp(const DeviceWork &work, const UnfinishedPixel &pixel) {
  const Place place{pixel.x, pixel.y, work.fine.size};
  const LaneShare share = share_of_lane(place, work.rules.window);
  Tracker t = pixel.track;
  while (t.running)
    step_in_cell(place, work.rules, correlate_by_lanes<kPairs>(work, share, cell_of(t.d)), pixel.from, &t);
  return t;
}

// Finishes the iteration of each lane's pixel that is running. All lanes of the warp must call this.
template <int kPairs>
__device__ void finish_by_lanes(const DeviceWork &work, UnfinishedPixel *pixel) {
  const Place place{pixel->x, pixel->y, work.fine.size};
  Tracker &t = pixel->track;
  while (__any_sync(kFullWarp, t.running)) {
    const DisplacementCell cell = cell_of(t.d);
    CellSums e = {};
    for_each_pixel(t.running, place, [&](int owner, const Place &of_owner) {
      const DisplacementCell of_cell{__shfl_sync(kFullWarp, cell.x, owner),
                                     __shfl_sync(kFullWarp, cell.y, owner)};
      const CellSums sums =
          correlate_by_lanes<kPairs>(work, share_of_lane(of_owner, work.rules.window), of_cell);
      if (static_cast<int>(threadIdx.x) % 32 == owner) e = sums;
    });
    if (t.running) step_in_cell(place, work.rules, e, pixel->from, &t);
  }
}

}  // namespace cudavision::opticalflow
