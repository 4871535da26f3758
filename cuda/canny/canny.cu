// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of Canny: two kernels, no synchronisation with the host, and a running time that depends
// little on the picture.
//
// 1. detect_edges: one block per tile of 64 x 64 pixels computes gradients, suppresses non-maxima
//    (tile_gradient.cuh) and performs hysteresis inside the tile (tile_components.cuh). The last block of four
//    neighbours unites weak components that touch across the borders of their tiles (tile_graph.cuh).
// 2. resolve_tiles: writes the pixels of weak components that are connected to a strong pixel
//    (tile_graph.cuh).
#include <cuda_runtime.h>

#include "cuda/canny/canny_backends.h"
#include "cuda/canny/tile_components.cuh"
#include "cuda/canny/tile_graph.cuh"
#include "cuda/common/buffer_cuda.h"
#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/common/resident_blocks.cuh"
#include "cuda/common/static_shared.cuh"
#include "cuda/gaussian/gaussian.h"

namespace cudavision::canny {
namespace {

// Expands two bits to the bytes 0 and 2 of a word: 1 where the bit is set.
__device__ inline unsigned to_even_bytes(unsigned bits) { return (bits & 3) * 0x8001u & 0x10001u; }

// Writes the pixels of the tile whose first pixel is (x0, y0): 255 for the maxima in those cells (of 2 x 2 pixels) that
// are set in `kept`, which has one word per row of cells; otherwise 0. Each thread writes kSpan pixels of a row.
__device__ inline void write_edges(const TileMaxima &maxima, const unsigned (&kept)[kCells],
                                   ImageView<std::uint8_t> edges, int x0, int y0) {
  constexpr int kSharers = kTileThreads / kTile, kSpan = kTile / kSharers;
  static_assert(kSpan == sizeof(uint4));
  const int share = static_cast<int>(threadIdx.x) % kSharers, row = static_cast<int>(threadIdx.x) / kSharers;
  const int x = x0 + share * kSpan, y = y0 + row;
  if (x >= edges.width || y >= edges.height) return;
  const unsigned cells = kept[row / 2] >> (share * kSpan / 2),
                 left = maxima.pixels[row].left >> (share * kSpan / 2) & cells,
                 right = maxima.pixels[row].right >> (share * kSpan / 2) & cells;
  std::uint8_t *out = edges.row(y) + x;
  if (x + kSpan <= edges.width && reinterpret_cast<std::uintptr_t>(out) % sizeof(uint4) == 0) {
    const auto four = [&](int i) {
      return (to_even_bytes(left >> i) | to_even_bytes(right >> i) << 8) * 255;
    };
    *reinterpret_cast<uint4 *>(out) = {four(0), four(2), four(4), four(6)};
    return;
  }
  for (int i = 0; i < min(kSpan, edges.width - x); ++i)
    out[i] = ((i % 2 == 0 ? left : right) >> (i / 2) & 1) != 0 ? 255 : 0;
}

template <int kAperture, bool kL2>
union TileMemory {  // the components are computed when the gradients are no longer needed
  GradientMemory<kAperture, kL2> gradient;
  ChainMemory chains;
};

// How many blocks shall fit on a multiprocessor at once, which limits the registers of a thread. With six, a large
// device runs the tiles of one and a half frames of 1080p at once: some blocks compute the gradients of a frame while
// blocks of the frame before wait at barriers or for the kernel ahead.
template <int kAperture, bool kL2>
constexpr int kResidentBlocks = resident_blocks(kTileThreads, kAperture == 7 ? 4
                                                              : kAperture == 5 && kL2 && !kCompilesForHopper
                                                                  ? 5
                                                                  : 6);

// One block of kTileThreads threads per tile.
template <int kAperture, bool kL2>
static __global__ void __launch_bounds__(kTileThreads, kResidentBlocks<kAperture, kL2>)
    detect_edges_kernel(ImageView<const std::uint8_t> luma, ImageView<std::uint8_t> edges,
                        Thresholds thresholds, bool hysteresis, TileGraph graph, Input input) {
  using Memory = TileMemory<kAperture, kL2>;
  CUDAVISION_SHARED(Memory, memory);
  CUDAVISION_SHARED(TileRows, rows);
  CUDAVISION_SHARED(bool[4], complete);
  const int tx = static_cast<int>(blockIdx.x), ty = static_cast<int>(blockIdx.y), x0 = tx * kTile,
            y0 = ty * kTile;
  const int x = static_cast<int>(threadIdx.x) % 32 * 2, y = static_cast<int>(threadIdx.x) / 32 * kStripRows;
  const Region frame{-x0, -y0, luma.width, luma.height};  // in coordinates of the tile

  let_next_kernel_start();
  wait_for_input(input);
  load_luma(memory.gradient, luma, x0, y0);
  __syncthreads();
  find_maxima(memory.gradient, hysteresis ? thresholds : Thresholds{thresholds.high, thresholds.high}, x, y,
              frame, rows);
  __syncthreads();
  if (!hysteresis) {
    wait_for_kernel_ahead();
    write_edges(rows, rows.strong, edges, x0, y0);
    return;
  }
  resolve_in_tile(rows, memory.chains, graph, ty * graph.tiles_x + tx);
  const int thread = static_cast<int>(threadIdx.x);
  const bool completes = thread < 4 && complete_quad(graph, tx, ty, thread);
  write_edges(rows, rows.strong, edges, x0, y0);  // while the atomics of complete_quad() are under way
  if (thread < 4) complete[thread] = completes;
  __syncthreads();
  join_complete_quads(graph, tx, ty, complete);
}

class CannyCuda final : public Canny {
 public:
  CannyCuda(const Execution &execution, Size size) : execution_(execution), size_(size) {}

  Status allocate() {
    const dim3 tiles = tiles_of(size_);
    const std::size_t count = std::size_t{tiles.x} * tiles.y;
    CUDAVISION_TRY(parent_.allocate(1 + count * kMaxNodes));
    CUDAVISION_TRY(border_.allocate(count * kSides * kTile));
    CUDAVISION_TRY(cells_.allocate(count * kMaxCells));
    CUDAVISION_TRY(cell_count_.allocate(count));
    CUDAVISION_TRY(arrivals_.allocate(count));
    // Makes the strong node, entry 0, its own root for good. The kernels write every other entry before they read it.
    CUDAVISION_TRY_CUDA(cudaMemsetAsync(parent_.data(), 0, sizeof(unsigned), execution_.stream));
    return CUDAVISION_CHECK_CUDA(
        cudaMemsetAsync(arrivals_.data(), 0, count * sizeof(unsigned), execution_.stream));
  }

  Status run(ImageView<const std::uint8_t> luma, ImageView<std::uint8_t> edges, const CannyParams &params,
             Input input) override {
    CUDAVISION_TRY(check_run(luma.size(), edges.size(), size_, params));
    if (params.gaussian_sigma > 0) {
      CUDAVISION_TRY(smooth(&luma, params.gaussian_sigma));
      input = Input::in_stream_order;
    }
    static constexpr decltype(&detect_edges_kernel<3, false>) kDetect[3][2] = {
        {detect_edges_kernel<3, false>, detect_edges_kernel<3, true>},
        {detect_edges_kernel<5, false>, detect_edges_kernel<5, true>},
        {detect_edges_kernel<7, false>, detect_edges_kernel<7, true>}};
    const dim3 tiles = tiles_of(luma.size());
    const TileGraph graph{.tiles_x = static_cast<int>(tiles.x),
                          .tiles_y = static_cast<int>(tiles.y),
                          .parent = parent_.data(),
                          .border = border_.data(),
                          .cells = cells_.data(),
                          .cell_count = cell_count_.data(),
                          .arrivals = arrivals_.data()};
    CUDAVISION_TRY(CUDAVISION_LAUNCH_PDL("detect_edges_kernel",
                                         kDetect[params.aperture / 2 - 1][params.l2_gradient], tiles,
                                         dim3(kTileThreads), execution_.stream, luma, edges,
                                         integer_thresholds(params), params.hysteresis, graph, input));
    if (!params.hysteresis) return {};
    return CUDAVISION_LAUNCH_PDL("resolve_tiles_kernel", resolve_tiles_kernel, tiles, dim3(kResolveThreads),
                                 execution_.stream, graph, edges);
  }

 private:
  static dim3 tiles_of(Size size) {
    return dim3(blocks_for(size.width, kTile), blocks_for(size.height, kTile));
  }

  Status smooth(ImageView<const std::uint8_t> *luma, double sigma) {
    if (!gaussian_) {
      CUDAVISION_TRY(smoothed_.allocate(size_));
      CUDAVISION_TRY(make_gaussian(execution_, size_, &gaussian_));
    }
    const ImageView<std::uint8_t> smoothed = smoothed_.view().crop({0, 0, luma->width, luma->height});
    CUDAVISION_TRY(gaussian_->run(*luma, smoothed, sigma));
    *luma = smoothed;
    return {};
  }

  Execution execution_;
  Size size_;
  DeviceBuffer<unsigned> parent_, cells_, arrivals_;
  DeviceBuffer<std::uint8_t> border_;
  DeviceBuffer<int> cell_count_;
  std::unique_ptr<Gaussian> gaussian_;
  DeviceImage<std::uint8_t> smoothed_;
};

}  // namespace

Status make_canny_cuda(const Execution &execution, Size size, std::unique_ptr<Canny> *canny) {
  return make_as<CannyCuda>(canny, execution, size);
}

}  // namespace cudavision::canny
