// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of Canny: three kernels, no synchronisation with the host, and a running time that depends
// little on the picture.
//
// 1. detect_edges: one block per tile of 64 x 64 pixels computes gradients, suppresses non-maxima
//    (tile_gradient.cuh) and performs hysteresis inside the tile (tile_components.cuh).
// 2. join_tiles: unites weak components that touch across the borders of tiles (tile_graph.cuh).
// 3. resolve_tiles: writes the pixels of weak components that are connected to a strong pixel
//    (tile_graph.cuh).
#include <cuda_runtime.h>

#include "cuda/canny/canny_backends.h"
#include "cuda/canny/tile_components.cuh"
#include "cuda/canny/tile_graph.cuh"
#include "cuda/common/buffer.h"
#include "cuda/common/launch.h"
#include "cuda/gaussian/gaussian.h"

namespace cudavision::canny {
namespace {

// Expands the pixels of a lane's strip from bits, ordered as in Maxima, to bytes 0 and 255. (x, y) is the
// first pixel of the strip; x must be even.
__device__ void write_edges(unsigned pixels, ImageView<std::uint8_t> edges, int x, int y) {
  const int rows = min(kStripRows, edges.height - y), columns = min(2, edges.width - x);
  const bool pairs =
      columns == 2 &&
      (reinterpret_cast<std::uintptr_t>(edges.data) | static_cast<std::uintptr_t>(edges.pitch_bytes)) % 2 ==
          0;
  std::uint8_t *out = edges.row(y) + x;
  if (pairs && rows == kStripRows) {
#pragma unroll
    for (int i = 0; i < kStripRows; ++i, out += edges.pitch_bytes) {
      const unsigned left = pixels >> (2 * i) & 1, right = pixels >> (2 * i + 1) & 1;
      *reinterpret_cast<std::uint16_t *>(out) = static_cast<std::uint16_t>((left | right << 8) * 255);
    }
    return;
  }
  for (int i = 0; i < rows; ++i, out += edges.pitch_bytes)
    for (int c = 0; c < columns; ++c) out[c] = (pixels >> (2 * i + c) & 1) != 0 ? 255 : 0;
}

template <int kAperture, bool kL2>
union TileMemory {  // the components are computed when the gradients are no longer needed
  GradientMemory<kAperture, kL2> gradient;
  ChainMemory chains;
};

// The minimum number of resident blocks per multiprocessor. With four, all tiles of a 1080p frame run at once
// on a large device. For compute capability 10.0 and newer the compiler pairs floats, and would spill
// registers with four.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
constexpr int kResidentBlocks = 3;
#else
constexpr int kResidentBlocks = 4;
#endif

// One block of kTileThreads threads per tile.
template <int kAperture, bool kL2>
static __global__ void __launch_bounds__(kTileThreads, kResidentBlocks)
    detect_edges_kernel(ImageView<const std::uint8_t> luma, ImageView<std::uint8_t> edges,
                        Thresholds thresholds, bool hysteresis, TileGraph graph) {
  __shared__ TileMemory<kAperture, kL2> memory;
  __shared__ TileRows rows;
  const int x0 = static_cast<int>(blockIdx.x) * kTile, y0 = static_cast<int>(blockIdx.y) * kTile;
  const int x = static_cast<int>(threadIdx.x) % 32 * 2, y = static_cast<int>(threadIdx.x) / 32 * kStripRows;
  const Region frame{-x0, -y0, luma.width, luma.height};  // in coordinates of the tile

  wait_for_kernel_ahead();
  load_luma(memory.gradient, luma, x0, y0);
  __syncthreads();
  if (!hysteresis) thresholds.low = thresholds.high;
  const Maxima maxima = find_maxima(memory.gradient, thresholds, x, y, frame, rows.pixels);
  const unsigned found =
      hysteresis
          ? resolve_in_tile(rows, memory.chains, maxima, graph,
                            static_cast<int>(blockIdx.y) * graph.tiles_x + static_cast<int>(blockIdx.x))
          : maxima.pixels;
  write_edges(found, edges, x0 + x, y0 + y);
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
    CUDAVISION_TRY(cells_.allocate(count * kMaxCells));
    CUDAVISION_TRY(cell_count_.allocate(count));
    // The strong node stays its own root. The kernels write every other entry before they read it.
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
    const TileGraph graph{.tiles_x = static_cast<int>(tiles_.x),
                          .tiles_y = static_cast<int>(tiles_.y),
                          .parent = parent_.data(),
                          .border = border_.data(),
                          .cells = cells_.data(),
                          .cell_count = cell_count_.data()};
    CUDAVISION_TRY(CUDAVISION_LAUNCH_PDL("detect_edges_kernel",
                                         kDetect[params.aperture / 2 - 1][params.l2_gradient], tiles_,
                                         dim3(kTileThreads), execution_.stream, luma, edges,
                                         integer_thresholds(params), params.hysteresis, graph));
    if (!params.hysteresis) return {};
    CUDAVISION_TRY(CUDAVISION_LAUNCH_PDL("join_tiles_kernel", join_tiles_kernel, tiles_, dim3(2 * kTile),
                                         execution_.stream, graph));
    return CUDAVISION_LAUNCH_PDL("resolve_tiles_kernel", resolve_tiles_kernel, tiles_, dim3(kResolveThreads),
                                 execution_.stream, graph, edges);
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
  DeviceBuffer<unsigned> parent_, cells_;
  DeviceBuffer<std::uint8_t> border_;
  DeviceBuffer<int> cell_count_;
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
