// SPDX-License-Identifier: LGPL-2.1-or-later
// Box filters: the sums over the windows of all pixels of a tile, in shared memory.
//
// The sum over one row of the window slides along the row: the next sum is the last one, plus the product of the pixel
// that enters the window, minus the product of the pixel that leaves it. One instruction (dot.cuh) computes both
// products: with g for Ix or Iy, the halves of one word hold the derivatives -g(c) and g(c + window), and two bytes of
// another word hold the pixels J(c) and J(c + window). The sums of rows are then summed along the columns in the same
// way.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/dot.cuh"
#include "cuda/opticalflow/flow_work.cuh"

namespace cudavision::opticalflow {

constexpr int kBoxSide = 16;                      // side of a tile in pixels
constexpr int kBoxThreads = kBoxSide * kBoxSide;  // one per pixel
constexpr int kRun = kBoxSide;  // neighbouring sums that one thread computes in a row of the tile: all
constexpr int kDownRun = 8;     // neighbouring sums of a column that one thread computes
// The box filters serve cells that differ by at most this many pixels, in x and y, from the cell of the tile's middle.
constexpr int kBoxMargin = 4;
constexpr int kBoxCells = 2 * kBoxMargin + 1;  // in x or y
constexpr int kSumPitch = kBoxSide + 1;        // odd, because lanes write neighbouring rows at the same time

// The layout of a tile in shared memory. sum_rows() has four tasks per row, and the block has a thread for each.
struct BoxLayout {
  int rows;                     // that the windows of all pixels cover
  int gradient_pitch;           // words; odd
  int pixel_rows, pixel_pitch;  // the pitch in 16-bit elements; an odd number of words

  // The words of one derivative, Ix or Iy.
  CUDAVISION_HOST_DEVICE constexpr int gradient_words() const { return rows * gradient_pitch; }
  CUDAVISION_HOST_DEVICE constexpr int pixel_words() const { return pixel_rows * pixel_pitch / 2; }
  // The elements of a plane, which holds the sums of one derivative for the upper or the lower corners of a cell.
  CUDAVISION_HOST_DEVICE constexpr int plane() const { return rows * kSumPitch; }
  CUDAVISION_HOST_DEVICE constexpr int sum_words() const { return 2 * 2 * 2 * plane(); }
  CUDAVISION_HOST_DEVICE constexpr int bytes() const {
    return (2 * gradient_words() + pixel_words() + 1 + sum_words()) * static_cast<int>(sizeof(int));
  }
};
static_assert((kBoxSide + 2 * kMaxRadius) * 4 <= kBoxThreads);

CUDAVISION_HOST_DEVICE constexpr BoxLayout box_layout(int window) {
  const int rows = kBoxSide + window - 1, corners = kBoxCells + 1;
  // A thread of sum_rows() sums its first window, and then slides it kRun - 1 times.
  const int columns = window > kRun ? window : kRun;
  const int pixels = (columns + corners) / 2 * 2;
  return {.rows = rows,
          .gradient_pitch = columns / 2 * 2 + 1,
          .pixel_rows = rows + corners,
          .pixel_pitch = pixels / 2 % 2 == 1 ? pixels : pixels + 2};
}

// In how many turns a warp loads a row of pixels. A row of derivatives takes one turn.
constexpr int kColumnTurns = 2;
static_assert(box_layout(2 * kMaxRadius + 1).pixel_pitch <= 32 * kColumnTurns);
static_assert(box_layout(2 * kMaxRadius + 1).gradient_pitch <= 32);

// The state that all threads of a block share besides the layout's parts. Aligned, so that static shared memory of this
// size needs no padding.
struct alignas(16) BoxState {
  int requests[kBoxCells * kBoxCells];          // the pixels that need each cell next
  int middle_x, middle_y;                       // the middle cell of `requests`
  int followed;                                 // the unfinished pixel that follow_unfinished() has chosen
  FromSums from[kBoxSide * kBoxSide];           // the sum of (Ix, Iy) I over the window of each pixel
  StructureTensor tensor[kBoxSide * kBoxSide];  // of the window of each pixel
};

// The pixels J(c), in `going`, and J(c + window) of a picture. Together, they are `both`.
union PixelPair {
  std::uint16_t both;
  std::uint8_t going;
};

// threadIdx.x, read anew. The compiler would otherwise compute all addresses that follow from it once, ahead of the
// loop over the cells, and would spill them.
__device__ inline int thread_read_anew() {
#ifdef __CUDA_ARCH__
  int thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
#else
  return static_cast<int>(threadIdx.x);
#endif
}

struct BoxTile {
  BoxLayout layout;
  int window;
  unsigned *gradient;  // [x or y][row][column]: -g(column) (lower half), g(column + window) (upper half)
  PixelPair *pixels;   // [row][column]: J(column) and J(column + window)
  int2 *sums;  // [derivative][row of corners][row][column]: the sums for the left and the right corner

  __device__ const unsigned *gradient_row(int derivative, int row) const {
    return gradient + derivative * layout.gradient_words() + row * layout.gradient_pitch;
  }
  __device__ int2 *plane(int derivative, int below) const {
    return sums + (derivative * 2 + below) * layout.plane();
  }
  // Reads the sums of a derivative at this thread's pixel, for the four corners of the cell.
  __device__ void read_sums(int derivative, int (&corners)[4]) const {
    const int thread = thread_read_anew(), at = thread / kBoxSide * kSumPitch + thread % kBoxSide;
    const int2 above = plane(derivative, 0)[at], below = plane(derivative, 1)[at];
    corners[0] = above.x, corners[1] = above.y, corners[2] = below.x, corners[3] = below.y;
  }
  // The same memory as planes of int, for sum_tensors(): [product][row][column].
  __device__ int *single_plane(int product) const {
    return reinterpret_cast<int *>(sums) + product * layout.plane();
  }
};

__device__ inline BoxTile share_box_tile(int *shared, const BoxLayout &layout, int window) {
  auto *sums = reinterpret_cast<int2 *>(shared);  // first, because int2 must be aligned to 8 bytes
  auto *gradient = reinterpret_cast<unsigned *>(shared + layout.sum_words());
  return {layout, window, gradient, reinterpret_cast<PixelPair *>(gradient + 2 * layout.gradient_words()),
          sums};
}

// --- loads: a warp takes a row at a time ---

// Loads the derivatives that the tile's windows cover, from pixel (x0, y0) on. They are zero outside the picture.
__device__ inline void load_gradients(const DeviceWork &work, int x0, int y0, const BoxTile &tile) {
  const auto halves = [](int going, int coming) {
    return (static_cast<unsigned>(-going) & 0xffffu) | static_cast<unsigned>(coming) << 16;
  };
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int row = static_cast<int>(threadIdx.x) / 32; row < tile.layout.rows; row += kBoxThreads / 32) {
    const int y = y0 + row;
    const bool is_row = y >= 0 && y < work.gradient.height;
    const ScharrGradient *from = work.gradient.row(is_row ? y : 0);
    const auto at = [&](int column) {
      const bool inside = is_row && x0 + column >= 0 && x0 + column < work.gradient.width;
      return inside ? from[x0 + column] : ScharrGradient{0, 0};
    };
    if (lane >= tile.layout.gradient_pitch) continue;
    const ScharrGradient going = at(lane), coming = at(lane + tile.window);
    unsigned *to = tile.gradient + row * tile.layout.gradient_pitch + lane;
    to[0] = halves(going.x, coming.x);
    to[tile.layout.gradient_words()] = halves(going.y, coming.y);
  }
}

// Loads `rows` rows of pixels of a picture, mirrored at its borders, from pixel (x0, y0) on.
__device__ inline void load_pixels(ImageView<const std::uint8_t> picture, int x0, int y0, int rows,
                                   const BoxTile &tile) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  int going[kColumnTurns], coming[kColumnTurns];
#pragma unroll
  for (int i = 0; i < kColumnTurns; ++i) {
    going[i] = mirror_index(x0 + lane + 32 * i, picture.width);
    coming[i] = mirror_index(x0 + lane + 32 * i + tile.window, picture.width);
  }
  for (int row = static_cast<int>(threadIdx.x) / 32; row < rows; row += kBoxThreads / 32) {
    const std::uint8_t *from = picture.row(mirror_index(y0 + row, picture.height));
    PixelPair *to = tile.pixels + row * tile.layout.pixel_pitch + lane;
#pragma unroll
    for (int i = 0; i < kColumnTurns; ++i)
      if (lane + 32 * i < tile.layout.pixel_pitch)
        to[32 * i].both = static_cast<std::uint16_t>(from[going[i]] | from[coming[i]] << 8);
  }
}

// --- the sums for the corners of a cell ---

// Sums the products g J along the rows of the windows. Each thread computes the sums of one row and one derivative g,
// for the two upper or the two lower corners of a cell. (x, y): where in BoxTile::pixels the upper left corner of the
// cell displaces J to. All threads must call this.
template <int kWindow>
__device__ void sum_rows(const BoxTile &tile, int x, int y) {
  const BoxLayout &layout = tile.layout;
  const int thread = thread_read_anew(), part = thread / layout.rows;
  const int row = thread - part * layout.rows, below = part % 2, derivative = part / 2;
  if (derivative >= 2) return;  // some threads are left over
  const int window = kWindow > 0 ? kWindow : tile.window;
  const unsigned *g = tile.gradient_row(derivative, row);
  const PixelPair *j = tile.pixels + (row + y + below) * layout.pixel_pitch + x;
  int left = 0, right = 0;
  unsigned here = j[0].going;
#pragma unroll 7
  for (int k = 0; k < window; ++k) {
    const unsigned next = j[k + 1].going;
    left = dot_of_low_bytes(g[k], here, left);
    right = dot_of_low_bytes(g[k], next, right);
    here = next;
  }
  left = -left, right = -right;
  int2 *to = tile.plane(derivative, below) + row * kSumPitch;
  to[0] = {left, right};
  here = j[0].both;
#pragma unroll
  for (int k = 1; k < kRun; ++k) {
    const unsigned next = j[k].both;
    left = dot_of_low_bytes(g[k - 1], here, left);
    right = dot_of_low_bytes(g[k - 1], next, right);
    to[k] = {left, right};
    here = next;
  }
}

// Turns the sums of rows into sums of windows, in place: element [row][column] of a plane then belongs to pixel
// (column, row) of the tile, and is scale(sum). planes: how many, of int2 or int, `sums` holds. All threads must call
// this.
template <int kWindow, typename Sum, typename Stored, typename Element, typename Scale>
__device__ void sum_columns(const BoxTile &tile, Element *sums, int planes, const Scale &scale) {
  constexpr int kGroups = kBoxSide / kDownRun;
  const int thread = thread_read_anew(), window = kWindow > 0 ? kWindow : tile.window;
  const int column = thread % kBoxSide, row = thread / kBoxSide % kGroups * kDownRun,
            plane = thread / (kBoxSide * kGroups);
  Element *from = sums + plane * tile.layout.plane() + row * kSumPitch + column;
  Stored found[kDownRun];
  if (plane < planes) {
    Sum sum{};
#pragma unroll 7
    for (int k = 0; k < window; ++k) sum += from[k * kSumPitch];
    found[0] = scale(sum);
#pragma unroll
    for (int k = 1; k < kDownRun; ++k) {
      sum.slide(from[(k - 1) * kSumPitch], from[(k - 1 + window) * kSumPitch]);
      found[k] = scale(sum);
    }
  }
  __syncthreads();
  if (plane < planes) {
    auto *to = reinterpret_cast<Stored *>(from);
#pragma unroll
    for (int k = 0; k < kDownRun; ++k) to[k * kSumPitch] = found[k];
  }
  __syncthreads();
}

// The sums of sum_columns(): two that slide at the same time, and one of 64 bits.
struct TwoSums {
  int2 value{0, 0};
  __device__ TwoSums &operator+=(int2 more) { return value.x += more.x, value.y += more.y, *this; }
  __device__ void slide(int2 going, int2 coming) {
    value.x += coming.x - going.x, value.y += coming.y - going.y;
  }
};
struct WideSum {
  long long value = 0;
  __device__ WideSum &operator+=(int more) { return value += more, *this; }
  __device__ void slide(int going, int coming) { value += coming, value -= going; }
};

// Computes the sums of g J for the corners of a cell, which window_sums() then reads. (x, y): as for sum_rows(). All
// threads must call this, and must meet at a barrier before they call it again.
template <int kWindow>
__device__ void sum_windows(const BoxTile &tile, int x, int y) {
  sum_rows<kWindow>(tile, x, y);
  __syncthreads();
  sum_columns<kWindow, TwoSums, int2>(tile, tile.sums, 4, [](const TwoSums &sum) { return sum.value; });
}
// The sums that sum_windows() has computed for this thread's pixel.
__device__ inline CellSums window_sums(const BoxTile &tile) {
  CellSums e;
  tile.read_sums(0, e.x);
  tile.read_sums(1, e.y);
  return e;
}

// --- the structure tensors ---

// Returns the structure tensor of this thread's pixel. All threads must call this.
template <int kWindow>
__device__ StructureTensor sum_tensors(const BoxTile &tile) {
  const int thread = static_cast<int>(threadIdx.x), window = kWindow > 0 ? kWindow : tile.window;
  const int product = thread / tile.layout.rows,
            row = thread - product * tile.layout.rows;  // product: Ix Ix, Ix Iy, Iy Iy
  if (product < 3) {
    const unsigned *a = tile.gradient_row(product / 2, row), *b = tile.gradient_row((product + 1) / 2, row);
    const auto going = [=](int k) {
      return static_cast<std::int16_t>(a[k] & 0xffffu) * static_cast<std::int16_t>(b[k] & 0xffffu);
    };
    const auto coming = [=](int k) {
      return (static_cast<int>(a[k]) >> 16) * (static_cast<int>(b[k]) >> 16);
    };
    int sum = 0;
#pragma unroll 7
    for (int k = 0; k < window; ++k) sum += going(k);
    int *to = tile.single_plane(product) + row * kSumPitch;
    to[0] = sum;
#pragma unroll
    for (int k = 1; k < kRun; ++k) {
      sum += coming(k - 1) - going(k - 1);
      to[k] = sum;
    }
  }
  __syncthreads();
  sum_columns<kWindow, WideSum, float>(tile, tile.single_plane(0), 3,
                                       [](const WideSum &sum) { return scaled(sum.value); });
  const auto of = [&](int plane) {
    return reinterpret_cast<const float *>(
        tile.single_plane(plane))[thread / kBoxSide * kSumPitch + thread % kBoxSide];
  };
  const StructureTensor tensor{of(0), of(1), of(2)};
  __syncthreads();
  return tensor;
}

}  // namespace cudavision::opticalflow
