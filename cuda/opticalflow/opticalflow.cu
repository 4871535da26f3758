// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of optical flow. On each level prepare_level_kernel computes the derivatives and the next level
// (flow_pyramid.cuh). The vectors are then computed by track_tiles_kernel and finish_leftovers_kernel (flow_boxes.cuh,
// flow_leftovers.cuh), or by track_grid_kernel (flow_track.cuh). Each kernel waits for the end of the one ahead in the
// stream before it lets the next one start. So when a kernel starts, only the one ahead can still run; kernels rely on
// this.
#include <cuda_runtime.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cuda/common/buffer_cuda.h"
#include "cuda/common/device_limits_cuda.h"
#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/opticalflow/flow_boxes.cuh"
#include "cuda/opticalflow/flow_leftovers_cuda.h"
#include "cuda/opticalflow/flow_pyramid_cuda.h"
#include "cuda/opticalflow/flow_track.cuh"
#include "cuda/opticalflow/opticalflow_backends.h"

namespace cudavision::opticalflow {
namespace {

// track_grid_kernel is faster than the tiles on levels with at most this many pixels per multiprocessor: few tiles
// leave most of the device idle.
constexpr int kFewPixels = 120;

class OpticalFlowCuda final : public OpticalFlow {
 public:
  OpticalFlowCuda(const Execution &execution, Size size) : execution_(execution), size_(size) {}

  Status allocate() {
    const int levels = max_level_count(size_);
    for (DevicePyramid &pyramid : pyramids_) CUDAVISION_TRY(pyramid.allocate(size_, levels));
    Size size = size_;
    for (int level = 1; level <= levels; ++level) {
      size = next_level(size);
      CUDAVISION_TRY(fields_.emplace_back().allocate(size));
    }
    CUDAVISION_TRY(multiprocessor_count(&multiprocessors_));
    return leftovers_.allocate(size_);
  }

  Status run(ImageView<const std::uint8_t> luma, const OpticalFlowParams &params, ImageView<FlowVector> flow,
             ImageView<std::uint8_t> valid, const Places &places) override {
    CUDAVISION_TRY(check_run(luma.size(), flow.size(), valid.size(), size_, has_previous(), params, places));
    if (has_previous() && params.forward_backward > 0 && back_.view().data == nullptr)
      CUDAVISION_TRY(back_.allocate(size_));
    const int levels = level_count(size_, params), built = std::exchange(built_levels_, -1);
    std::swap(pyramids_[0], pyramids_[1]);
    CUDAVISION_TRY(pyramids_[1].build(execution_.stream, luma, levels));
    if (built >= 0) {
      CUDAVISION_TRY(pyramids_[0].extend(execution_.stream, built, levels));
      const Field fine{flow, size_, params.stride};
      CUDAVISION_TRY(estimate(pyramids_[0], pyramids_[1], levels, params, places, fine, valid));
      if (!places.everywhere()) CUDAVISION_TRY(clear_others(places, fine, valid));
      if (params.forward_backward > 0) CUDAVISION_TRY(check(levels, params, flow, valid));
    }
    built_levels_ = levels;
    return {};
  }

  bool has_previous() const override { return built_levels_ >= 0; }
  void drop_previous() override { built_levels_ = -1; }

 private:
  Field field_of(const DevicePyramid &pyramid, int level, int stride) const {
    const Size size = pyramid.picture(level).size(), vectors = flow_size(size, stride);
    const ImageView<FlowVector> all = fields_[static_cast<std::size_t>(level - 1)].view();
    return {all.crop({0, 0, vectors.width, vectors.height}), size, stride};
  }

  // Computes the flow from one pyramid to the other into `fine`. `valid` may be empty. Vectors outside of the places
  // are not specified.
  Status estimate(const DevicePyramid &from, const DevicePyramid &to, int levels,
                  const OpticalFlowParams &params, const Places &places, const Field &fine,
                  ImageView<std::uint8_t> valid) {
    CUDAVISION_TRY(leftovers_.begin(execution_.stream));
    DeviceWork work{};
    work.rules = rules_of(params);
    for (int level = levels; level >= 0; --level) {
      work.from = from.picture(level);
      work.to = to.picture(level);
      work.gradient = from.gradient(level);
      work.bytes = from.bytes(level);
      work.coarse = work.fine;
      work.fine = level == 0 ? fine : field_of(from, level, stride_of_level(fine.stride, level));
      if (level == 0) work.valid = valid;
      work.places = places_on_level(places, fine.size, fine.stride, level);
      CUDAVISION_TRY(track(work));
    }
    leftovers_.end();
    return {};
  }

  Status track(const DeviceWork &work) const {
    const Size vectors = work.fine.vectors.size();
    const int count = vectors.width * vectors.height;
    return work.fine.stride == 1 && count > kFewPixels * multiprocessors_ ? track_tiles(work)
                                                                          : track_by_warps(work, count);
  }
  Status track_by_warps(const DeviceWork &work, int count) const {
    return with_window(work.rules.window, [&](auto steps, auto window) {
      constexpr int kMany = many_pixels(steps());
      // Each vector has a warp of its own, unless these warps would fill the device more than kTurns times.
      constexpr int kTurns = 2;
      const bool are_many = count > resident_warps(steps()) * kTurns * multiprocessors_;
      const int warps = are_many ? divide_up(count, kMany) : count;
      const auto kernel =
          are_many ? track_grid_kernel<steps(), window(), kMany> : track_grid_kernel<steps(), window(), 1>;
      return CUDAVISION_LAUNCH_PDL("track_grid_kernel", kernel, dim3(blocks_for(warps, kGridThreads / 32)),
                                   dim3(kGridThreads), execution_.stream, work);
    });
  }

  // The instance of track_tiles_kernel for a window.
  static auto tile_kernel(int window) {
    return with_window(window, [](auto, auto exact) { return &track_tiles_kernel<exact()>; });
  }
  Status track_tiles(const DeviceWork &work) const {
    const Size size = work.fine.size;
    const int window = work.rules.window;
    const BlockSize block(dim3(kBoxThreads), static_cast<std::size_t>(box_layout(window).bytes()));
    CUDAVISION_TRY(CUDAVISION_LAUNCH_PDL("track_tiles_kernel", tile_kernel(window),
                                         grid_2d(size.width, size.height, kBoxSide, kBoxSide), block,
                                         execution_.stream, work, leftovers_.list()));
    return leftovers_.finish(execution_.stream, work);
  }

  Status clear_others(const Places &places, const Field &fine, ImageView<std::uint8_t> valid) const {
    return CUDAVISION_LAUNCH_PDL("clear_others_kernel", clear_others_kernel,
                                 grid_2d(valid.width, valid.height, kCheckX, kCheckY), dim3(kCheckThreads),
                                 execution_.stream, places, fine, valid);
  }

  Status check(int levels, const OpticalFlowParams &params, ImageView<const FlowVector> flow,
               ImageView<std::uint8_t> valid) {
    CUDAVISION_TRY(estimate(pyramids_[1], pyramids_[0], levels, params, {}, {back_.view(), size_, 1}, {}));
    return CUDAVISION_LAUNCH_PDL("check_way_back_kernel", check_way_back_kernel,
                                 grid_2d(flow.width, flow.height, kCheckX, kCheckY), dim3(kCheckThreads),
                                 execution_.stream, flow, params.stride, back_.view(),
                                 static_cast<float>(params.forward_backward), valid);
  }

  Execution execution_;
  Size size_;
  DevicePyramid pyramids_[2];  // [0] of the previous frame, [1] of the current frame
  // Between calls of run(): the levels above the frame that pyramids_[1] has; -1 if there is no previous frame.
  int built_levels_ = -1;
  std::vector<DeviceImage<FlowVector>> fields_;  // the flow of levels 1, 2, ...
  DeviceImage<FlowVector> back_;                 // the backward flow, for the forward-backward check
  Leftovers leftovers_;
  int multiprocessors_ = 1;
};

}  // namespace

Status make_opticalflow_cuda(const Execution &execution, Size size, std::unique_ptr<OpticalFlow> *flow) {
  return make_as<OpticalFlowCuda>(flow, execution, size);
}

}  // namespace cudavision::opticalflow
