// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of HOG: one kernel computes the blocks of a picture (block_tile.cuh).
#include <cuda_runtime.h>

#include "cuda/common/device_limits_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/common/resident_blocks.cuh"
#include "cuda/hog/block_tile_cuda.h"
#include "cuda/hog/hog_backends.h"

namespace cudavision::hog {
namespace {

template <int kChannels>
struct FrameTask {
  FrameSource<kChannels> source;
  TiledPicture picture;
  Rules rules;
  TilePlan plan;
  AxisWeights weights;
  float *blocks;
  Input input;
};

template <bool kDefaultParams, int kChannels>
static __global__ void __launch_bounds__(kTileThreads, resident_blocks(kTileThreads, kFrameTilesAtOnce))
    make_blocks_kernel(FrameTask<kChannels> task) {
  CUDAVISION_DYNAMIC_SHARED(float, shared);
  let_next_kernel_start();
  make_tile<kDefaultParams>(task.source, task.picture, task.rules, task.plan, task.weights,
                            static_cast<int>(blockIdx.x), task.blocks, shared,
                            [&] { wait_for_input(task.input); });
}

class HogCuda final : public Hog {
 public:
  HogCuda(const Execution &execution, Size size, int channels, const HogParams &params)
      : execution_(execution), size_(size), channels_(channels), rules_(rules_of(params)) {}

  Status allocate(const HogParams &params) {
    CUDAVISION_TRY(hog_shape(size_, params, &shape_));
    int multiprocessors = 0;
    CUDAVISION_TRY(multiprocessor_count(&multiprocessors));
    plan_ = plan_tiles(rules_, channels_, {&shape_, 1}, kFrameTilesAtOnce * multiprocessors);
    return weights_.upload(params, execution_.stream);
  }

  Status run(const HogPicture &picture, float *blocks, Input input) override {
    CUDAVISION_TRY(check_run(picture, size_, channels_));
    return channels_ == 1 ? make_blocks<1>(picture, blocks, input) : make_blocks<3>(picture, blocks, input);
  }

 private:
  template <int kChannels>
  Status make_blocks(const HogPicture &picture, float *blocks, Input input) const {
    const int tiles_x = divide_up(shape_.cols, 1 << plan_.cols_log2),
              tiles_y = divide_up(shape_.rows, plan_.rows);
    const FrameTask<kChannels> task{
        .source = FrameSource<kChannels>(picture),
        .picture = {.width = size_.width,
                    .height = size_.height,
                    .rows = shape_.rows,
                    .cols = shape_.cols,
                    .tiles_x = tiles_x,
                    .place = {.first = 0,
                              .row_stride = static_cast<std::ptrdiff_t>(shape_.cols) * shape_.length,
                              .col_stride = shape_.length,
                              .number_stride = 1}},
        .rules = rules_,
        .plan = plan_,
        .weights = weights_.view(),
        .blocks = blocks,
        .input = input};
    const auto kernel = has_default_params(rules_) ? make_blocks_kernel<true, kChannels>
                                                   : make_blocks_kernel<false, kChannels>;
    return CUDAVISION_LAUNCH_PDL("make_blocks_kernel", kernel, dim3(static_cast<unsigned>(tiles_x * tiles_y)),
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

Status make_hog_cuda(const Execution &execution, Size size, int channels, const HogParams &params,
                     std::unique_ptr<Hog> *hog) {
  auto made = std::make_unique<HogCuda>(execution, size, channels, params);
  CUDAVISION_TRY(made->allocate(params));
  *hog = std::move(made);
  return {};
}

}  // namespace cudavision::hog
