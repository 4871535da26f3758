// SPDX-License-Identifier: LGPL-2.1-or-later
// Gradients and non-maximum suppression of one tile. A warp takes a strip of rows, a lane two of its columns,
// so that the pixels of a lane form whole cells.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "cuda/canny/canny_rules.h"
#include "cuda/canny/tile_graph.cuh"
#include "cuda/common/warp.cuh"

namespace cudavision::canny {

constexpr int kTileThreads = 256;
constexpr int kStripRows = kTile * 32 / kTileThreads;  // of a warp
constexpr int kHalo = 4;  // columns of luma beside the tile: for aperture 7 and one neighbour, in whole words
constexpr int kLumaWords = (kTile + 2 * kHalo) / 4;

template <int kAperture, bool kL2>
struct GradientMemory {
  static constexpr int kRadius = kAperture / 2;
  static constexpr int kLumaRows = kTile + 2 * (kRadius + 1);
  static constexpr int kMargin = 2;  // columns of ranks beside the tile: one neighbour, and pairs aligned
  // L1 is computed in floats: they hold its integers exactly (sums stay below 2^24) and run at twice their rate.
  using Value = std::conditional_t<kL2, int, float>;

  union {  // the luma is no longer needed when the ranks are there
    // Row r is row r - kRadius - 1 of the tile, column c is column c - kHalo.
    alignas(16) Value luma[kLumaRows][4 * kLumaWords];
    // Row r is row r - 1, column c is column c - kMargin: odd ranks, of magnitude 0 outside the frame.
    alignas(16) int rank[kTile + 2][kTile + 2 * kMargin];
  };
};

// Magnitudes are compared as ranks: kZero + twice the magnitude, + 1 where a tie counts as more. The floats that
// L1 is computed in are ranks by their bits, without a conversion.
template <typename Value>
struct Rank;
template <>
struct Rank<float> {
  static constexpr int kZero = 0x4a800000;  // the bits of 2^22: there a float's last bit is a half
  __device__ static int of(float dx, float dy, bool wins) {
    return __float_as_int(fabsf(dx) + fabsf(dy) + __int_as_float(wins ? kZero + 1 : kZero));
  }
};
template <>
struct Rank<int> {
  static constexpr int kZero = 0;
  __device__ static int of(int dx, int dy, bool wins) { return 2 * magnitude<true>(dx, dy) + (wins ? 1 : 0); }
};

// What a lane knows of its two columns, and of its share of the ring of neighbours around the tile.
struct Strip {
  int rank[kStripRows][2];  // odd where the pixel wins a tie
  // Bytes in memory from a pixel to the later of the two neighbours across its edge.
  int across[kStripRows][2];
  int ring[2];
};

// Byte i of four pixels. For floats 2^23 + the byte is put together bit by bit and 2^23 subtracted: the
// instruction that converts has a quarter of the rate.
template <typename Value>
__device__ Value pixel_of(unsigned word, unsigned i) {
  if constexpr (std::is_same_v<Value, float>)
    return __uint_as_float(__byte_perm(word, 0x4b000000u, 0x7440u + i)) - 8388608.0f;
  else
    return static_cast<Value>(word >> (8 * i) & 255);
}

// Loads the tile's luma and its halo, replicated outside the frame: in turns of whole rows, a word a thread.
template <typename Memory>
__device__ void load_luma(Memory &memory, ImageView<const std::uint8_t> luma, int x0, int y0) {
  using Value = typename Memory::Value;
  constexpr int kRows = kTileThreads / kLumaWords, kTurns = divide_up(Memory::kLumaRows, kRows);
  const int first_x = x0 - kHalo, first_y = y0 - Memory::kRadius - 1;
  const int row = static_cast<int>(threadIdx.x) / kLumaWords,
            word = static_cast<int>(threadIdx.x) % kLumaWords;
  const int x = first_x + 4 * word;
  const bool whole_words =
      first_x >= 0 && first_x + 4 * kLumaWords <= luma.width &&
      (reinterpret_cast<std::uintptr_t>(luma.data) | static_cast<std::uintptr_t>(luma.pitch_bytes)) % 4 == 0;
  if (row >= kRows) return;
  const auto source = [&](int turn) {
    return luma.row(clamp_index(first_y + turn * kRows + row, luma.height));
  };
  unsigned words[kTurns];  // all are on their way before the first is needed
  if (whole_words) {
#pragma unroll
    for (int turn = 0; turn < kTurns; ++turn)
      words[turn] = *reinterpret_cast<const unsigned *>(source(turn) + x);
  } else {
#pragma unroll
    for (int turn = 0; turn < kTurns; ++turn) {
      words[turn] = 0;
      for (int byte = 0; byte < 4; ++byte)
        words[turn] |= static_cast<unsigned>(source(turn)[clamp_index(x + byte, luma.width)]) << (8 * byte);
    }
  }
#pragma unroll
  for (int turn = 0; turn < kTurns; ++turn) {
    struct alignas(16) Four {
      Value pixel[4];
    } four;
#pragma unroll
    for (unsigned byte = 0; byte < 4; ++byte) four.pixel[byte] = pixel_of<Value>(words[turn], byte);
    if (const int r = turn * kRows + row; r < Memory::kLumaRows)
      *reinterpret_cast<Four *>(&memory.luma[r][4 * word]) = four;
  }
}

__device__ inline int multiply_add(int a, int b, int c) { return a * b + c; }
__device__ inline float multiply_add(int a, float b, float c) {
  return __fmaf_rn(static_cast<float>(a), b, c);
}

// The two horizontal passes of the Sobel operator at kColumns columns from x, on row r of the memory.
template <typename Value, int kColumns>
struct RowSums {
  Value smooth[kColumns], derive[kColumns];
};
template <int kAperture, int kColumns, bool kL2>
__device__ auto row_sums(const GradientMemory<kAperture, kL2> &memory, int r, int x) {
  using Value = typename GradientMemory<kAperture, kL2>::Value;
  const Value *pixel = &memory.luma[r][x + kHalo - kAperture / 2];
  RowSums<Value, kColumns> sums;
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    sums.smooth[c] = pixel[c];  // the first coefficients are 1 and -1
    sums.derive[c] = -pixel[c];
#pragma unroll
    for (int k = 1; k < kAperture; ++k) {
      sums.smooth[c] = multiply_add(smooth_coefficient<kAperture>(k), pixel[c + k], sums.smooth[c]);
      if (derive_coefficient<kAperture>(k) != 0)
        sums.derive[c] = multiply_add(derive_coefficient<kAperture>(k), pixel[c + k], sums.derive[c]);
    }
  }
  return sums;
}

template <int kAperture>
__device__ float scale_gradient(float v) {
  constexpr float kRound = 12582912;  // 1.5 * 2^23: at this size floats are whole numbers
  return kAperture == 7 ? __fmaf_rn(v, 1.0f / 16, kRound) - kRound : v;
}
template <typename Value>
struct Gradient {
  Value dx, dy;
};
template <int kAperture, typename Value, int kColumns>
__device__ Gradient<Value> column_sums(const RowSums<Value, kColumns> (&rows)[kAperture], int c) {
  Value dx = rows[0].derive[c], dy = -rows[0].smooth[c];
#pragma unroll
  for (int k = 1; k < kAperture; ++k) {
    dx = multiply_add(smooth_coefficient<kAperture>(k), rows[k].derive[c], dx);
    if (derive_coefficient<kAperture>(k) != 0)
      dy = multiply_add(derive_coefficient<kAperture>(k), rows[k].smooth[c], dy);
  }
  return {scale_gradient<kAperture>(dx), scale_gradient<kAperture>(dy)};
}

// canny::sector, tested without branches: the lanes of a warp would take all of them.
struct SectorTests {
  bool horizontal, vertical, rising;  // the first that holds
};
__device__ inline SectorTests test_sector(int dx, int dy) {
  const Sector s = sector(dx, dy);
  return {s == Sector::horizontal, s == Sector::vertical, s == Sector::rising};
}
__device__ inline SectorTests test_sector(float dx, float dy) {
  constexpr float kTan22 = 13573.0f / 32768;  // exact, and a fused sum has the sign of the exact one
  const float x = fabsf(dx), y = fabsf(dy);
  return {__fmaf_rn(x, -kTan22, y) < 0, __fmaf_rn(x, -kTan22 - 2, y) > 0, dx * dy < 0};
}

// Two columns from (x, y) down.
template <int kAperture, bool kL2>
__device__ void strip_gradients(const GradientMemory<kAperture, kL2> &memory, int x, int y, Strip &strip) {
  using Value = typename GradientMemory<kAperture, kL2>::Value;
  constexpr int kRight = sizeof(int), kDown = sizeof(memory.rank[0]);
  RowSums<Value, 2> rows[kAperture];
#pragma unroll
  for (int k = 0; k < kAperture - 1; ++k) rows[k + 1] = row_sums<kAperture, 2>(memory, y + 1 + k, x);
#pragma unroll
  for (int i = 0; i < kStripRows; ++i) {
#pragma unroll
    for (int k = 0; k < kAperture - 1; ++k) rows[k] = rows[k + 1];
    rows[kAperture - 1] = row_sums<kAperture, 2>(memory, y + i + kAperture, x);
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const auto [dx, dy] = column_sums<kAperture>(rows, c);
      const auto [horizontal, vertical, rising] = test_sector(dx, dy);
      const int diagonal = rising ? kDown - kRight : kDown + kRight;
      // Of two equal neighbours the left or upper one wins; along diagonals both must be smaller.
      strip.rank[i][c] = Rank<Value>::of(dx, dy, horizontal | vertical);
      strip.across[i][c] = horizontal ? kRight : vertical ? kDown : diagonal;
    }
  }
}

// Pixel i of the ring around the tile, in the tile's coordinates: top, bottom, left and right side, corners.
constexpr int kRing = 4 * kTile + 4;
struct Point {
  int x, y;
};
__device__ inline Point ring_point(int i) {
  const int side = i / kTile, at = i % kTile;
  if (side == 4) return {at % 2 == 0 ? -1 : kTile, at / 2 == 0 ? -1 : kTile};
  const int across = side % 2 == 0 ? -1 : kTile;
  return side < 2 ? Point{at, across} : Point{across, at};
}
template <int kAperture, bool kL2>
__device__ int ring_rank(const GradientMemory<kAperture, kL2> &memory, Point p) {
  using Value = typename GradientMemory<kAperture, kL2>::Value;
  RowSums<Value, 1> rows[kAperture];
#pragma unroll
  for (int k = 0; k < kAperture; ++k) rows[k] = row_sums<kAperture, 1>(memory, p.y + 1 + k, p.x);
  const auto [dx, dy] = column_sums<kAperture>(rows, 0);
  return Rank<Value>::of(dx, dy, true);
}

__device__ inline bool contains(Region r, int x, int y) {
  return x >= r.x && y >= r.y && x < r.x + r.width && y < r.y + r.height;
}

// The ranks of the tile and of its ring, from luma to ranks in memory. inside: the frame, in the tile's
// coordinates.
template <int kAperture, bool kL2>
__device__ void find_gradients(GradientMemory<kAperture, kL2> &memory, int x, int y, Region inside,
                               Strip &strip) {
  using Memory = GradientMemory<kAperture, kL2>;
  constexpr int kZero = Rank<typename Memory::Value>::kZero;
  const int thread = static_cast<int>(threadIdx.x);
  strip_gradients(memory, x, y, strip);
#pragma unroll
  for (int turn = 0; turn < 2; ++turn)
    if (const int i = turn * kTileThreads + thread; i < kRing) {
      const Point p = ring_point(i);
      strip.ring[turn] = contains(inside, p.x, p.y) ? ring_rank(memory, p) : kZero | 1;
    }
  __syncthreads();
  if (inside.x + inside.width < kTile || inside.y + inside.height < kTile)
#pragma unroll
    for (int i = 0; i < kStripRows; ++i)
#pragma unroll
      for (int c = 0; c < 2; ++c)
        if (!contains(inside, x + c, y + i)) strip.rank[i][c] = kZero;
          // Odd: the neighbour before wins a tie, the one after loses it.
#pragma unroll
  for (int i = 0; i < kStripRows; ++i)
#pragma unroll
    for (int c = 0; c < 2; ++c) memory.rank[y + i + 1][x + c + Memory::kMargin] = strip.rank[i][c] | 1;
#pragma unroll
  for (int turn = 0; turn < 2; ++turn)
    if (const int i = turn * kTileThreads + thread; i < kRing) {
      const Point p = ring_point(i);
      memory.rank[p.y + 1][p.x + Memory::kMargin] = strip.ring[turn];
    }
  __syncthreads();
}

// The pixels of one row of the tile, in words: its even and its odd columns.
struct PixelRow {
  unsigned left, right;
};

// The local maxima above the low threshold. Of a lane, pixel (i, c) of its strip in bit 2 i + c: four bits are a
// cell. Of the tile, in rows.
struct Maxima {
  unsigned pixels = 0;
  unsigned strong_cells = 0;  // bit i: cell i of the lane has a pixel above the high threshold
};

template <int kAperture, bool kL2>
__device__ Maxima suppress(const GradientMemory<kAperture, kL2> &memory, const Strip &strip,
                           Thresholds thresholds, int x, int y, PixelRow (&rows)[kTile]) {
  constexpr int kZero = Rank<typename GradientMemory<kAperture, kL2>::Value>::kZero;
  const int low = kZero + 2 * thresholds.low + 1, high = kZero + 2 * thresholds.high + 1;
  Maxima maxima;
  int highest = 0;  // rank of the cell
#pragma unroll
  for (int i = 0; i < kStripRows; ++i) {
    unsigned words[2];
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const auto *pixel = reinterpret_cast<const char *>(&memory.rank[y + i + 1][x + c + memory.kMargin]);
      const int rank = strip.rank[i][c], step = strip.across[i][c],
                before = *reinterpret_cast<const int *>(pixel - step),
                after = *reinterpret_cast<const int *>(pixel + step);
      // Without branches: the lanes of a warp would take all of them.
      const bool maximum = (rank > low) & (rank > before) & (rank >= after);
      words[c] = __ballot_sync(kFullWarp, maximum);
      maxima.pixels |= maximum ? 1u << (2 * i + c) : 0;
      if (maximum) highest = max(highest, rank);
    }
    if (x == 0) rows[y + i] = {words[0], words[1]};
    if (i % 2 == 0) continue;
    maxima.strong_cells |= highest > high ? 1u << (i / 2) : 0;
    highest = 0;
  }
  return maxima;
}

template <int kAperture, bool kL2>
__device__ Maxima find_maxima(GradientMemory<kAperture, kL2> &memory, Thresholds thresholds, int x, int y,
                              Region inside, PixelRow (&rows)[kTile]) {
  Strip strip;
  find_gradients(memory, x, y, inside, strip);
  return suppress(memory, strip, thresholds, x, y, rows);
}

}  // namespace cudavision::canny
