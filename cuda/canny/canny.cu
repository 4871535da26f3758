// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of Canny: three kernels, no host round trip, and a cost that no picture can raise beyond
// reason.
//
// 1. detect_edges: a block per tile of 64 x 64 pixels computes gradients, suppresses non-maxima into bitmaps
//    and settles hysteresis inside the tile (tile_components.cuh).
// 2. join_tiles: what stayed open at the tiles' borders is united across them (tile_graph.cuh).
// 3. resolve_tiles: the open runs that hang together with something strong are written.
#include <cuda_runtime.h>

#include <algorithm>
#include <type_traits>

#include "canny/canny_rules.h"
#include "canny/tile_components.cuh"
#include "canny/tile_graph.cuh"
#include "common/buffer.h"
#include "common/launch.h"
#include "gaussian/gaussian.h"

namespace cudavision::canny {
namespace {

constexpr int kThreads = 256;
constexpr int kRowsPerThread = kTile * kTile / kThreads;  // a thread owns 16 pixels of one column
constexpr int kHalo = 4;  // columns of luma beside the tile: for aperture 7 and one neighbour, in whole words
constexpr int kLumaWords = (kTile + 2 * kHalo) / 4;

template <int kAperture, bool kL2>
struct GradientMemory {
  static constexpr int kRadius = kAperture / 2;
  static constexpr int kLumaRows = kTile + 2 * (kRadius + 1);
  using Magnitude = std::conditional_t<kL2, int, std::uint16_t>;  // L1: at most 24480

  // Row r is row r - kRadius - 1 of the tile, byte c is column c - kHalo.
  union {
    unsigned luma_words[kLumaRows][kLumaWords];
    std::uint8_t luma[kLumaRows][4 * kLumaWords];
  };
  // Row r is row r - 1 of the tile, element c is column c - 1. Zero outside the frame.
  Magnitude magnitude[kTile + 2][kTile + 2];
};

template <int kAperture, bool kL2>
union TileMemory {  // components are found when the gradients are no longer needed
  GradientMemory<kAperture, kL2> gradient;
  ComponentMemory components;
};

// Loads the tile's luma and its halo, replicated outside the frame.
template <typename Memory>
__device__ void load_luma(Memory &memory, ImageView<const std::uint8_t> luma, int x0, int y0) {
  const int first_x = x0 - kHalo, first_y = y0 - Memory::kRadius - 1;
  const bool inside = first_x >= 0 && first_x + 4 * kLumaWords <= luma.width;
  const bool aligned =
      (reinterpret_cast<std::uintptr_t>(luma.data) | static_cast<std::uintptr_t>(luma.pitch_bytes)) % 4 == 0;
  for (int i = static_cast<int>(threadIdx.x); i < Memory::kLumaRows * kLumaWords; i += kThreads) {
    const int r = i / kLumaWords, word = i % kLumaWords, x = first_x + 4 * word;
    const std::uint8_t *row = luma.row(clamp_index(first_y + r, luma.height));
    if (inside && aligned) {
      memory.luma_words[r][word] = *reinterpret_cast<const unsigned *>(row + x);
    } else {
      for (int byte = 0; byte < 4; ++byte)
        memory.luma[r][4 * word + byte] = row[clamp_index(x + byte, luma.width)];
    }
  }
}

// The two horizontal passes of the Sobel operator at column x of the tile, on row r of the memory.
struct RowSums {
  int smooth, derive;
};
template <int kAperture, typename Memory>
__device__ RowSums row_sums(const Memory &memory, int r, int x) {
  RowSums sums{0, 0};
#pragma unroll
  for (int k = 0; k < kAperture; ++k) {
    const int v = memory.luma[r][x + kHalo - kAperture / 2 + k];
    sums.smooth += smooth_coefficient<kAperture>(k) * v;
    sums.derive += derive_coefficient<kAperture>(k) * v;
  }
  return sums;
}

struct Gradient {
  int dx, dy;
};
template <int kAperture>
__device__ Gradient column_sums(const RowSums (&rows)[kAperture]) {
  int dx = 0, dy = 0;
#pragma unroll
  for (int k = 0; k < kAperture; ++k) {
    dx += smooth_coefficient<kAperture>(k) * rows[k].derive;
    dy += derive_coefficient<kAperture>(k) * rows[k].smooth;
  }
  return {scale_gradient<kAperture>(dx), scale_gradient<kAperture>(dy)};
}

// The magnitudes of this thread's pixels go to memory; returns their sectors, two bits each from the top row
// down.
template <int kAperture, bool kL2, typename Memory>
__device__ unsigned tile_gradients(Memory &memory, int x, int y, int inside_width, int inside_height) {
  unsigned sectors = 0;
  RowSums rows[kAperture];
#pragma unroll
  for (int k = 0; k < kAperture - 1; ++k) rows[k + 1] = row_sums<kAperture>(memory, y + 1 + k, x);
#pragma unroll
  for (int i = 0; i < kRowsPerThread; ++i) {
#pragma unroll
    for (int k = 0; k < kAperture - 1; ++k) rows[k] = rows[k + 1];
    rows[kAperture - 1] = row_sums<kAperture>(memory, y + i + kAperture, x);
    const auto [dx, dy] = column_sums(rows);
    const bool inside = x < inside_width && y + i < inside_height;
    memory.magnitude[y + i + 1][x + 1] =
        static_cast<typename Memory::Magnitude>(inside ? magnitude<kL2>(dx, dy) : 0);
    sectors |= static_cast<unsigned>(sector(dx, dy)) << (2 * i);
  }
  return sectors;
}

// The magnitudes of the ring around the tile: pixel i of its top row, bottom row, left and right column.
template <int kAperture, bool kL2, typename Memory>
__device__ void ring_gradient(Memory &memory, int i, Region inside) {
  constexpr int kRow = kTile + 2;
  const int x = i < 2 * kRow ? i % kRow - 1 : (i - 2 * kRow) / kTile * (kTile + 1) - 1;
  const int y = i < 2 * kRow ? i / kRow * (kTile + 1) - 1 : (i - 2 * kRow) % kTile;
  int value = 0;
  if (x >= inside.x && y >= inside.y && x < inside.x + inside.width && y < inside.y + inside.height) {
    RowSums rows[kAperture];
#pragma unroll
    for (int k = 0; k < kAperture; ++k) rows[k] = row_sums<kAperture>(memory, y + 1 + k, x);
    const auto [dx, dy] = column_sums(rows);
    value = magnitude<kL2>(dx, dy);
  }
  memory.magnitude[y + 1][x + 1] = static_cast<typename Memory::Magnitude>(value);
}

// Whether the pixel is a maximum across its edge. OpenCV's ties: of two equal neighbours the left or upper
// one wins; along diagonals both neighbours must be smaller.
template <typename Magnitude>
__device__ bool is_maximum(const Magnitude *pixel, int stride, Sector sector) {
  const int m = *pixel;
  switch (sector) {
    case Sector::horizontal:
      return m > pixel[-1] && m >= pixel[1];
    case Sector::vertical:
      return m > pixel[-stride] && m >= pixel[stride];
    case Sector::falling:
      return m > pixel[-stride - 1] && m > pixel[stride + 1];
    default:
      return m > pixel[-stride + 1] && m > pixel[stride - 1];
  }
}

// Writes the tile's bitmaps: each warp a half row at a time.
template <typename Memory>
__device__ void suppress(TileBitmaps &tile, const Memory &memory, Thresholds thresholds, unsigned sectors,
                         int x, int y) {
  for (int i = 0; i < kRowsPerThread; ++i) {
    const auto *pixel = &memory.magnitude[y + i + 1][x + 1];
    const int m = *pixel;
    const bool maximum =
        m > thresholds.low && is_maximum(pixel, kTile + 2, static_cast<Sector>(sectors >> (2 * i) & 3));
    const unsigned mask = __ballot_sync(kFullWarp, maximum);
    const unsigned strong = __ballot_sync(kFullWarp, maximum && m > thresholds.high);
    if (x % 32 == 0) {
      reinterpret_cast<unsigned *>(&tile.mask[y + i])[x / 32] = mask;
      reinterpret_cast<unsigned *>(&tile.strong[y + i])[x / 32] = strong;
    }
  }
}

// Four bits become four bytes of 0 or 255.
__device__ unsigned expand_nibble(unsigned bits) { return ((bits * 0x00204081u) & 0x01010101u) * 255u; }

// 16 pixels of a row from the bitmap to the picture: thread 4 y + q takes quarter q of row y.
__device__ void write_edges(const Word (&bitmap)[kTile], ImageView<std::uint8_t> edges, int x0, int y0) {
  const int y = static_cast<int>(threadIdx.x) / 4, part = 16 * (static_cast<int>(threadIdx.x) % 4);
  const int x = x0 + part, count = min(16, edges.width - x);
  if (y0 + y >= edges.height || count <= 0) return;
  const unsigned bits = static_cast<unsigned>(bitmap[y] >> part & 0xffff);
  std::uint8_t *out = edges.row(y0 + y) + x;
  if (count == 16 && reinterpret_cast<std::uintptr_t>(out) % 16 == 0) {
    *reinterpret_cast<uint4 *>(out) = make_uint4(expand_nibble(bits & 15), expand_nibble(bits >> 4 & 15),
                                                 expand_nibble(bits >> 8 & 15), expand_nibble(bits >> 12));
  } else {
    for (int i = 0; i < count; ++i) out[i] = (bits >> i & 1) != 0 ? 255 : 0;
  }
}

template <int kAperture, bool kL2>
__global__ void __launch_bounds__(kThreads)
    detect_edges_kernel(ImageView<const std::uint8_t> luma, ImageView<std::uint8_t> edges,
                        Thresholds thresholds, bool hysteresis, TileGraph graph) {
  __shared__ TileMemory<kAperture, kL2> memory;
  __shared__ TileBitmaps tile;
  const int x0 = static_cast<int>(blockIdx.x) * kTile, y0 = static_cast<int>(blockIdx.y) * kTile;
  const int thread = static_cast<int>(threadIdx.x), x = thread % kTile, y = thread / kTile * kRowsPerThread;
  const Region inside{-x0, -y0, luma.width, luma.height};  // the frame, in coordinates of the tile

  load_luma(memory.gradient, luma, x0, y0);
  __syncthreads();
  const unsigned sectors =
      tile_gradients<kAperture, kL2>(memory.gradient, x, y, luma.width - x0, luma.height - y0);
  for (int i = thread; i < 4 * kTile + 4; i += kThreads)
    ring_gradient<kAperture, kL2>(memory.gradient, i, inside);
  __syncthreads();
  suppress(tile, memory.gradient, thresholds, sectors, x, y);
  __syncthreads();
  if (hysteresis) {
    settle_tile(tile, memory.components, graph,
                static_cast<int>(blockIdx.y) * graph.tiles_x + static_cast<int>(blockIdx.x));
    write_edges(tile.edges, edges, x0, y0);
  } else {
    write_edges(tile.strong, edges, x0, y0);
  }
}

class CannyCuda final : public Canny {
 public:
  CannyCuda(const Execution &execution, Size size)
      : execution_(execution),
        size_(size),
        tiles_(static_cast<unsigned>(divide_up(size.width, kTile)),
               static_cast<unsigned>(divide_up(size.height, kTile))) {}

  Status allocate() {
    const std::size_t count = std::size_t{tiles_.x} * tiles_.y;
    CUDAVISION_TRY(parent_.allocate(1 + count * kMaxNodes));
    CUDAVISION_TRY(border_.allocate(count * kSides * kTile));
    CUDAVISION_TRY(runs_.allocate(count * kMaxRuns));
    CUDAVISION_TRY(run_count_.allocate(count));
    // The strong node is its own root for good; every other entry is written by the kernels before it is
    // read.
    return CUDAVISION_CHECK_CUDA(cudaMemsetAsync(parent_.data(), 0, sizeof(unsigned), execution_.stream));
  }

  Status run(ImageView<const std::uint8_t> luma, ImageView<std::uint8_t> edges,
             const CannyParams &params) override {
    CUDAVISION_TRY(check_run(luma.size(), edges.size(), size_, params));
    if (params.gaussian_sigma > 0) CUDAVISION_TRY(smooth(&luma, params.gaussian_sigma));
    static constexpr decltype(&detect_edges_kernel<3, false>) kDetect[3][2] = {
        {detect_edges_kernel<3, false>, detect_edges_kernel<3, true>},
        {detect_edges_kernel<5, false>, detect_edges_kernel<5, true>},
        {detect_edges_kernel<7, false>, detect_edges_kernel<7, true>}};
    const TileGraph graph{
        static_cast<int>(tiles_.x), static_cast<int>(tiles_.y), parent_.data(), border_.data(), runs_.data(),
        run_count_.data()};
    CUDAVISION_TRY(CUDAVISION_LAUNCH_NAMED(
        "detect_edges_kernel", kDetect[params.aperture / 2 - 1][params.l2_gradient], tiles_, dim3(kThreads),
        execution_.stream, luma, edges, integer_thresholds(params), params.hysteresis, graph));
    if (!params.hysteresis) return {};
    CUDAVISION_TRY(CUDAVISION_LAUNCH(join_tiles_kernel, tiles_, dim3(2 * kTile), execution_.stream, graph));
    return CUDAVISION_LAUNCH(resolve_tiles_kernel, tiles_, dim3(kResolveThreads), execution_.stream, graph,
                             edges);
  }

 private:
  Status smooth(ImageView<const std::uint8_t> *luma, double sigma) {
    if (!gaussian_) {
      CUDAVISION_TRY(smoothed_.allocate(size_));
      CUDAVISION_TRY(make_gaussian(execution_, size_, &gaussian_));
    }
    CUDAVISION_TRY(gaussian_->run(*luma, smoothed_.view(), sigma));
    *luma = smoothed_.view();
    return {};
  }

  Execution execution_;
  Size size_;
  dim3 tiles_;
  DeviceBuffer<unsigned> parent_, runs_;
  DeviceBuffer<std::uint8_t> border_;
  DeviceBuffer<int> run_count_;
  std::unique_ptr<Gaussian> gaussian_;
  DeviceImage<std::uint8_t> smoothed_;
};

}  // namespace

Status make_canny_cuda(const Execution &execution, Size size, std::unique_ptr<Canny> *canny) {
  auto made = std::make_unique<CannyCuda>(execution, size);
  CUDAVISION_TRY(made->allocate());
  *canny = std::move(made);
  return {};
}

}  // namespace cudavision::canny
