// SPDX-License-Identifier: LGPL-2.1-or-later
// Gradients and non-maximum suppression of one tile. A warp processes a strip of kStripRows rows, and a lane
// two columns of it, so that the pixels of a lane form whole cells of 2 x 2 pixels.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "cuda/canny/canny_rules.h"
#include "cuda/canny/tile_graph.cuh"
#include "cuda/common/warp.cuh"

namespace cudavision::canny {

constexpr int kTileThreads = 256;
constexpr int kStripRows = kTile * 32 / kTileThreads;  // rows per warp
// Columns of luma on each side of the tile: 3 for aperture 7 and 1 for the neighbours of border pixels, together a
// word.
constexpr int kHalo = 4;
constexpr int kLumaWords = (kTile + 2 * kHalo) / 4;

// In shared memory: the luma of a tile and its halo, and the ranks of the gradient magnitudes (see rank_of()).
template <int kAperture, bool kL2>
struct GradientMemory {
  static constexpr int kRadius = kAperture / 2;
  static constexpr int kLumaRows = kTile + 2 * (kRadius + 1);
  // Columns of ranks on each side of the tile. One column would do for the neighbours of border pixels; the second
  // keeps pairs of columns aligned.
  static constexpr int kMargin = 2;
  // With L1, floats represent the integers exactly (sums are below 2^24), and their arithmetic is twice as fast.
  using Value = std::conditional_t<kL2, int, float>;

  // With L1, magnitudes are below 2^16: the lower half of a rank is enough.
  using StoredRank = std::conditional_t<kL2, int, std::uint16_t>;
  static_assert(kMargin % 2 == 0 && kTile + 2 * kMargin + 1 <= 127);  // for RankPair and LaneSteps

  // Row r is row r - kRadius - 1 of the tile, and column c is column c - kHalo.
  alignas(16) Value luma[kLumaRows][4 * kLumaWords];
  // Row r is row r - 1 of the tile, and column c is column c - kMargin. Pixels outside the frame have magnitude 0.
  alignas(16) StoredRank rank[kTile + 2][kTile + 2 * kMargin];

  // The ranks of adjacent columns of a row.
  template <int kColumns>
  struct alignas(kColumns * sizeof(StoredRank)) Ranks {
    StoredRank of[kColumns];
  };
  using RankPair = Ranks<2>;
  // The ranks of columns x and x + 1, for an even x.
  __device__ RankPair &pair(int x, int y) { return reinterpret_cast<RankPair &>(rank[y + 1][x + kMargin]); }
};

// The rank of a magnitude grows with it; ranks are compared as integers. For L1, which is computed in floats, the bits
// of 2^23 + magnitude are the rank, without a conversion: there the last bit of a float is worth 1.
__device__ inline int rank_of(float dx, float dy) {
  return __float_as_int(fabsf(dx) + fabsf(dy) + 8388608.0f);
}
__device__ inline int rank_of(int dx, int dy) { return magnitude<true>(dx, dy); }

// The directions of the gradients of a lane's pixels, one signed byte each, so that they take few registers. The byte
// is the distance in GradientMemory::rank from the pixel to the second of its two neighbours in this direction; the
// first one lies at the opposite distance. In rows and columns the distance is positive: the second neighbour is to the
// right or below, and may equal the pixel, so that of two equal maxima the left or upper one wins. On diagonals it is
// negative: both neighbours must be smaller than the pixel.
class LaneSteps {
 public:
  // Must be called only once for each pixel.
  __device__ void set(int row, int column, int step) {
    words_[row / 2] |= static_cast<unsigned>(step & 255) << shift(row, column);
#ifdef __CUDA_ARCH__  // keeps the compiler from setting all steps at the end, which would take 15 more registers
    asm volatile("" : "+r"(words_[row / 2]));
#endif
  }
  __device__ int get(int row, int column) const {
#ifdef __CUDA_ARCH__  // one instruction instead of two: its third operand repeats the byte's sign in the upper bytes
    int step;
    const int byte = shift(row, column) / 8;
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(step) : "r"(words_[row / 2]), "r"(0x8880 + 0x1111 * byte));
    return step;
#else
    return static_cast<std::int8_t>(words_[row / 2] >> shift(row, column));
#endif
  }

 private:
  __device__ static int shift(int row, int column) { return row % 2 * 16 + column * 8; }

  unsigned words_[kStripRows / 2] = {};
};

// Converts byte i of a word. The float is assembled as 2^23 + byte, and 2^23 is subtracted: the conversion
// instruction has a quarter of the throughput.
template <typename Value>
__device__ Value pixel_of(unsigned word, unsigned i) {
  if constexpr (std::is_same_v<Value, float>)
    return __uint_as_float(__byte_perm(word, 0x4b000000u, 0x7440u + i)) - 8388608.0f;
  else
    return static_cast<Value>(word >> (8 * i) & 255);
}

// Loads the luma of the tile whose first pixel is (x0, y0), and its halo. Pixels outside the frame are
// replicated. Each iteration loads whole rows, with one word per thread.
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
  unsigned words[kTurns];  // all loads are issued before the first result is used
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

// The results of the two horizontal passes of the Sobel operator, at columns x to x + kColumns - 1 of row r of
// GradientMemory::luma.
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
  // Adding and subtracting 1.5 * 2^23 rounds to integer: floats of this size have no fraction.
  constexpr float kRound = 12582912;
  return kAperture == 7 ? __fmaf_rn(v, 1.0f / 16, kRound) - kRound : v;
}
template <typename Value>
struct Derivatives {
  Value dx, dy;
};
// The vertical passes of the Sobel operator at column c of `rows`.
template <int kAperture, typename Value, int kColumns>
__device__ Derivatives<Value> column_sums(const RowSums<Value, kColumns> (&rows)[kAperture], int c) {
  Value dx = rows[0].derive[c], dy = -rows[0].smooth[c];
#pragma unroll
  for (int k = 1; k < kAperture; ++k) {
    dx = multiply_add(smooth_coefficient<kAperture>(k), rows[k].derive[c], dx);
    if (derive_coefficient<kAperture>(k) != 0)
      dy = multiply_add(derive_coefficient<kAperture>(k), rows[k].smooth[c], dy);
  }
  return {scale_gradient<kAperture>(dx), scale_gradient<kAperture>(dy)};
}

// The sector of a gradient as independent tests without branches, which would diverge within a warp. The
// first test that holds decides; if none holds, the sector is Sector::falling.
struct SectorTests {
  bool horizontal, vertical, rising;
};
__device__ inline SectorTests test_sector(int dx, int dy) {
  const Sector s = sector(dx, dy);
  return {s == Sector::horizontal, s == Sector::vertical, s == Sector::rising};
}
__device__ inline SectorTests test_sector(float dx, float dy) {
  constexpr float kTan22 = 13573.0f / 32768;  // exact; a fused multiply-add has the sign of the exact sum
  const float x = fabsf(dx), y = fabsf(dy);
  return {__fmaf_rn(x, -kTan22, y) < 0, __fmaf_rn(x, -kTan22 - 2, y) > 0, dx * dy < 0};
}

// Computes ranks and directions of the lane's pixels: columns x and x + 1 of kStripRows rows from y on.
template <int kAperture, bool kL2>
__device__ void strip_gradients(GradientMemory<kAperture, kL2> &memory, int x, int y, LaneSteps &steps) {
  using Memory = GradientMemory<kAperture, kL2>;
  constexpr int kRight = 1, kDown = sizeof(memory.rank[0]) / sizeof(memory.rank[0][0]);
  RowSums<typename Memory::Value, 2> rows[kAperture];
#pragma unroll
  for (int k = 0; k < kAperture - 1; ++k) rows[k + 1] = row_sums<kAperture, 2>(memory, y + 1 + k, x);
#pragma unroll
  for (int i = 0; i < kStripRows; ++i) {
#pragma unroll
    for (int k = 0; k < kAperture - 1; ++k) rows[k] = rows[k + 1];
    rows[kAperture - 1] = row_sums<kAperture, 2>(memory, y + i + kAperture, x);
    typename Memory::RankPair ranks;
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const auto [dx, dy] = column_sums<kAperture>(rows, c);
      const auto [horizontal, vertical, rising] = test_sector(dx, dy);
      const int diagonal = rising ? kRight - kDown : -kRight - kDown;
      steps.set(i, c, horizontal ? kRight : vertical ? kDown : diagonal);
      ranks.of[c] = static_cast<typename Memory::StoredRank>(rank_of(dx, dy));
    }
    memory.pair(x, y + i) = ranks;
  }
}

// The ranks, numbers that order pixels as their gradient magnitudes do, of the pixels in columns x to x + kColumns - 1
// of one row. Outside the frame they are 0.
template <int kColumns, int kAperture, bool kL2>
__device__ auto ranks_at(const GradientMemory<kAperture, kL2> &memory, int x, int y, Region frame) {
  using Memory = GradientMemory<kAperture, kL2>;
  RowSums<typename Memory::Value, kColumns> rows[kAperture];
#pragma unroll
  for (int k = 0; k < kAperture; ++k) rows[k] = row_sums<kAperture, kColumns>(memory, y + 1 + k, x);
  typename Memory::template Ranks<kColumns> ranks;
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    const auto [dx, dy] = column_sums<kAperture>(rows, c);
    ranks.of[c] = static_cast<typename Memory::StoredRank>(contains(frame, x + c, y) ? rank_of(dx, dy) : 0);
  }
  return ranks;
}

// Computes the ranks around the tile: the first warp those of the row above, the last warp those of the row below, and
// the other warps those of the columns to the left and right, with the corners.
template <int kAperture, bool kL2>
__device__ void find_ring(GradientMemory<kAperture, kL2> &memory, Region frame) {
  using Memory = GradientMemory<kAperture, kL2>;
  constexpr int kWarps = kTileThreads / 32, kColumn = kTile + 2;
  static_assert(2 * kColumn <= kTileThreads - 2 * 32);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
  if (warp == 0 || warp == kWarps - 1) {
    const int x = thread % 32 * 2, y = warp == 0 ? -1 : kTile;
    memory.pair(x, y) = ranks_at<2>(memory, x, y, frame);
  } else if (const int i = thread - 32; i < 2 * kColumn) {
    const int x = i < kColumn ? -1 : kTile, y = i % kColumn - 1;
    memory.rank[y + 1][x + Memory::kMargin] = ranks_at<1>(memory, x, y, frame).of[0];
  }
}

// Computes the ranks of the tile and of its ring from the luma. (x, y): the first pixel of the lane.
template <int kAperture, bool kL2>
__device__ void find_gradients(GradientMemory<kAperture, kL2> &memory, int x, int y, Region frame,
                               LaneSteps &steps) {
  using Memory = GradientMemory<kAperture, kL2>;
  using Rank = typename Memory::StoredRank;
  strip_gradients(memory, x, y, steps);
  if (frame.x + frame.width < kTile || frame.y + frame.height < kTile)
    for (int i = 0; i < 2 * kStripRows; ++i)
      if (!contains(frame, x + i % 2, y + i / 2))
        memory.rank[y + i / 2 + 1][x + i % 2 + Memory::kMargin] = Rank{0};
  find_ring(memory, frame);
}

// The local maxima of one row of the tile: one word for the even columns (left) and one for the odd columns
// (right). Bit x is cell x of 2 x 2 pixels.
struct PixelRow {
  unsigned left, right;
};

// The local maxima of a tile above the low threshold.
struct TileMaxima {
  PixelRow pixels[kTile];
  unsigned strong[kCells];  // bit x: cell (x, y) has a maximum above the high threshold
};

// Performs non-maximum suppression in the warp's strip, and writes the strip's maxima to `found`.
template <int kAperture, bool kL2>
__device__ void suppress(GradientMemory<kAperture, kL2> &memory, const LaneSteps &steps,
                         Thresholds thresholds, int x, int y, TileMaxima &found) {
  using Rank = typename GradientMemory<kAperture, kL2>::StoredRank;
  constexpr int kBytes = sizeof(Rank), kRowBytes = sizeof(memory.rank[0]);
  const auto *first = reinterpret_cast<const unsigned char *>(&memory.pair(x, y));
  // The rank `offset` bytes after that of the lane's pixel in row i and column c. With offsets in bytes, the address of
  // each neighbour takes one instruction.
  const auto rank_at = [&](int offset, int i, int c) -> int {
    return *reinterpret_cast<const Rank *>(first + offset + (i * kRowBytes + c * kBytes));
  };
  int highest = 0;  // the largest rank of a maximum of the lane's cell
#pragma unroll
  for (int i = 0; i < kStripRows; ++i) {
    unsigned words[2];
    const auto ranks = memory.pair(x, y + i);
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const int step = steps.get(i, c), rank = ranks.of[c], before = rank_at(-kBytes * step, i, c),
                after = rank_at(kBytes * step, i, c);
      // No branches here: they would diverge within the warp.
      const bool maximum = (rank > thresholds.low) & (rank > before) & (rank >= after + (step < 0 ? 1 : 0));
      words[c] = __ballot_sync(kFullWarp, maximum);
      if (maximum) highest = max(highest, rank);
    }
    if (x == 0) found.pixels[y + i] = {words[0], words[1]};
    if (i % 2 == 0) continue;
    const unsigned strong = __ballot_sync(kFullWarp, highest > thresholds.high);
    if (x == 0) found.strong[(y + i) / 2] = strong;
    highest = 0;
  }
}

// Computes the local maxima of the tile from its luma. All threads of the block must call it. (x, y): the
// first pixel of the lane; frame: the frame's rectangle; both in the tile's coordinates.
template <int kAperture, bool kL2>
__device__ void find_maxima(GradientMemory<kAperture, kL2> &memory, Thresholds thresholds, int x, int y,
                            Region frame, TileMaxima &found) {
  LaneSteps steps;
  find_gradients(memory, x, y, frame, steps);
  __syncthreads();
  suppress(memory, steps, thresholds, x, y, found);
}

}  // namespace cudavision::canny
