// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of HOG: one kernel, from the frame to its blocks (block_tile.cuh).
#include <cuda_runtime.h>

#include "cuda/common/launch.h"
#include "cuda/hog/block_tile.cuh"
#include "cuda/hog/weights_cuda.h"

namespace cudavision::hog {
namespace {

template <int kChannels>
struct FrameTask {
  FrameSource<kChannels> source;
  TiledPicture picture;
  Rules rules;
  TilePlan plan;
  DeviceWeights x_weights, y_weights;
  float *blocks;
};

template <bool kUsual, int kChannels>
__global__ void __launch_bounds__(kTileThreads, 5) make_blocks_kernel(FrameTask<kChannels> task) {
  CUDAVISION_DYNAMIC_SHARED(float, shared);
  wait_for_kernel_ahead();
  make_tile<kUsual>(task.source, task.picture, task.rules, task.plan, task.x_weights, task.y_weights,
                    static_cast<int>(blockIdx.x), task.blocks, shared);
}

class HogCuda final : public Hog {
 public:
  HogCuda(const Execution &execution, Size size, int channels, const HogParams &params)
      : execution_(execution), size_(size), channels_(channels), rules_(rules_of(params)) {}

  Status allocate(const HogParams &params) {
    CUDAVISION_TRY(hog_shape(size_, params, &shape_));
    int device = 0, multiprocessors = 0;
    CUDAVISION_TRY_CUDA(cudaGetDevice(&device));
    CUDAVISION_TRY_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    plan_ = plan_tiles(rules_, channels_, {shape_.cols, shape_.rows}, multiprocessors);
    return weights_.upload(params, execution_.stream);
  }

  Status run(const HogPicture &picture, float *blocks) override {
    CUDAVISION_TRY(check_run(picture, size_, channels_));
    return channels_ == 1 ? make_blocks<1>(picture, blocks) : make_blocks<3>(picture, blocks);
  }

 private:
  template <int kChannels>
  Status make_blocks(const HogPicture &picture, float *blocks) const {
    const int tiles_x = divide_up(shape_.cols, 1 << plan_.cols_log2),
              tiles_y = divide_up(shape_.rows, 1 << plan_.rows_log2);
    const FrameTask<kChannels> task{
        FrameSource<kChannels>(picture),
        {size_.width,
         size_.height,
         shape_.rows,
         shape_.cols,
         tiles_x,
         {0, static_cast<std::ptrdiff_t>(shape_.cols) * shape_.length, shape_.length, 1}},
        rules_,
        plan_,
        weights_.x(),
        weights_.y(),
        blocks};
    const auto kernel =
        are_usual(rules_) ? make_blocks_kernel<true, kChannels> : make_blocks_kernel<false, kChannels>;
    return CUDAVISION_LAUNCH_EARLY(
        "make_blocks_kernel", kernel, dim3(static_cast<unsigned>(tiles_x * tiles_y)),
        BlockSize(dim3(kTileThreads), plan_.shared_bytes), execution_.stream, task);
  }

  Execution execution_;
  Size size_;
  int channels_;
  Rules rules_;
  TilePlan plan_{};
  HogShape shape_;
  OwnedWeights weights_;
};

}  // namespace

TilePlan plan_tiles(const Rules &rules, int channels, Size blocks, int multiprocessors) {
  constexpr std::size_t kMostBytes = 48 * 1024;
  TilePlan plan{3, 2, 0, 0, 0, 0};
  while (plan.rows_log2 > 0 &&
         divide_up(blocks.width, 1 << plan.cols_log2) * divide_up(blocks.height, 1 << plan.rows_log2) <
             multiprocessors)
    --plan.rows_log2;
  for (;;) {
    const int cols = 1 << plan.cols_log2, rows = 1 << plan.rows_log2;
    plan.width = (cols - 1) * rules.stride.width + rules.block.width;
    plan.height = (rows - 1) * rules.stride.height + rules.block.height;
    plan.items = kChunkRows * cols * rules.cells_x;
    const int pixels = kChunkRows * plan.width;
    const int weights = rules.cells_x * rules.block.width + rules.cells_y * padded_height(rules);
    const int floats = 256 + weights + channels * (kChunkRows + 2) * (plan.width + 2) + 2 * pixels +
                       rules.bins * plan.items + cols * rows * rules.length;
    plan.shared_bytes = static_cast<std::size_t>(floats) * sizeof(float) + static_cast<std::size_t>(pixels);
    if (plan.shared_bytes <= kMostBytes) return plan;
    // A single block of the largest size fits.
    if (plan.rows_log2 > 0)
      --plan.rows_log2;
    else
      --plan.cols_log2;
  }
}

Status OwnedWeights::upload(const HogParams &params, CUstream_st *stream) {
  const AxisWeights axes[2] = {
      axis_weights(params.cell.width, params.block.width, params.variant, sigma_of(params)),
      axis_weights(params.cell.height, params.block.height, params.variant, sigma_of(params))};
  for (int i = 0; i < 2; ++i) {
    cells_[i] = axes[i].cells, side_[i] = axes[i].side;
    host_ints_.insert(host_ints_.end(), axes[i].begin.begin(), axes[i].begin.end());
    host_ints_.insert(host_ints_.end(), axes[i].end.begin(), axes[i].end.end());
    host_floats_.insert(host_floats_.end(), axes[i].weight.begin(), axes[i].weight.end());
  }
  CUDAVISION_TRY(ints_.allocate(host_ints_.size()));
  CUDAVISION_TRY(floats_.allocate(host_floats_.size()));
  CUDAVISION_TRY_CUDA(cudaMemcpyAsync(ints_.data(), host_ints_.data(), host_ints_.size() * sizeof(int),
                                      cudaMemcpyHostToDevice, stream));
  return CUDAVISION_CHECK_CUDA(cudaMemcpyAsync(floats_.data(), host_floats_.data(),
                                               host_floats_.size() * sizeof(float), cudaMemcpyHostToDevice,
                                               stream));
}

DeviceWeights OwnedWeights::view(int axis) const {
  const int *begin = ints_.data() + (axis == 0 ? 0 : 2 * cells_[0]);
  return {begin, begin + cells_[axis], floats_.data() + (axis == 0 ? 0 : cells_[0] * side_[0])};
}
DeviceWeights OwnedWeights::x() const { return view(0); }
DeviceWeights OwnedWeights::y() const { return view(1); }

Status make_hog_cuda(const Execution &execution, Size size, int channels, HogParams params,
                     std::unique_ptr<Hog> *hog) {
  auto made = std::make_unique<HogCuda>(execution, size, channels, params);
  CUDAVISION_TRY(made->allocate(params));
  *hog = std::move(made);
  return {};
}

}  // namespace cudavision::hog
