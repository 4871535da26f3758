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
#include "cuda/opticalflow/flow_leftovers.cuh"
#include "cuda/opticalflow/flow_pyramid.cuh"
#include "cuda/opticalflow/flow_track.cuh"
#include "cuda/opticalflow/opticalflow_backends.h"

namespace cudavision::opticalflow {
namespace {

// The work list of leftover pixels (flow_leftovers.cuh): its device memory, and the launch of the kernel that
// finishes them.
class Leftovers {
 public:
  // Allocates a list with room for one in 16 pixels of the frame.
  Status allocate(Size frame) {
    const std::size_t pixels = static_cast<std::size_t>(frame.width) * static_cast<std::size_t>(frame.height);
    CUDAVISION_TRY(multiprocessor_count(&multiprocessors_));
    CUDAVISION_TRY(pixels_.allocate(pixels / 16 + 1));
    return counters_.allocate(kCounters);
  }

  // Call begin() before the first level of a frame and end() after its last one. begin() resets the counters if the
  // last frame did not reach end() because of an error.
  Status begin(cudaStream_t stream) {
    if (std::exchange(counters_are_zero_, false)) return {};
    return CUDAVISION_CHECK_CUDA(cudaMemsetAsync(counters_.data(), 0, kCounters * sizeof(unsigned), stream));
  }
  void end() { counters_are_zero_ = true; }

  LeftoverList list() const {
    return {.pixels = pixels_.data(),
            .capacity = static_cast<unsigned>(pixels_.count()),
            .count = counters_.data(),
            .taken = counters_.data() + 1,
            .blocks_done = counters_.data() + 2};
  }
  // Enqueues the kernel that finishes the pixels of the list.
  Status finish(cudaStream_t stream, const DeviceWork &work) const {
    return with_window(work.rules.window, [&](auto steps, auto window) {
      const int at_once = leftover_blocks(steps()) * multiprocessors_,
                most = divide_up(work.from.width * work.from.height, kLeftoverThreads / 32);
      const auto kernel = finish_leftovers_kernel<steps(), window()>;
      return CUDAVISION_LAUNCH_PDL("finish_leftovers_kernel", kernel,
                                   dim3(static_cast<unsigned>(std::min(at_once, most))),
                                   dim3(kLeftoverThreads), stream, work, list());
    });
  }

 private:
  DeviceBuffer<UnfinishedPixel> pixels_;
  static constexpr std::size_t kCounters = 3;
  DeviceBuffer<unsigned> counters_;  // LeftoverList::count, taken and blocks_done
  int multiprocessors_ = 1;
  bool counters_are_zero_ = false;
};

// The pyramid of a frame in device memory, with the Scharr derivatives of every level. One kernel per level
// computes both (flow_pyramid.cuh).
class DevicePyramid {
 public:
  // levels: the number of levels above the frame.
  Status allocate(Size frame, int levels) {
    for (int level = 0; level <= levels; ++level, frame = next_level(frame)) {
      Level &added = levels_.emplace_back();
      added.size = frame;
      const Size size = with_border(frame);
      CUDAVISION_TRY(added.picture.allocate(size));
      CUDAVISION_TRY(added.gradient.allocate(frame));
      CUDAVISION_TRY(added.bytes.allocate({size.width / 4, size.height}));
    }
    return {};
  }

  // Copies a frame and computes `levels` levels above it. Enqueues levels + 1 kernels.
  Status build(cudaStream_t stream, ImageView<const std::uint8_t> luma, int levels) {
    CUDAVISION_TRY(prepare(stream, luma, 0, levels));
    return prepare_above(stream, 0, levels);
  }
  // Adds levels to a pyramid that has `built` levels above the frame, until it has `levels`.
  Status extend(cudaStream_t stream, int built, int levels) {
    if (levels <= built) return {};
    CUDAVISION_TRY(prepare(stream, picture(built), built, levels));
    return prepare_above(stream, built, levels);
  }

  // All three views begin at the first pixel of the level.
  ImageView<std::uint8_t> picture(int level) const {
    const auto &[size, picture, gradient, bytes] = at(level);
    return picture.view().crop({kBorderLeft, kBorderAbove, size.width, size.height});
  }
  ImageView<ScharrGradient> gradient(int level) const { return at(level).gradient.view(); }
  ImageView<GradientBytes> bytes(int level) const {
    const auto &[size, picture, gradient, bytes] = at(level);
    return bytes.view().crop({kBorderLeft / 4, kBorderAbove, divide_up(size.width, 4), size.height});
  }

 private:
  struct Level {
    Size size;
    DeviceImage<std::uint8_t> picture;  // with its border
    DeviceImage<ScharrGradient> gradient;
    DeviceImage<GradientBytes> bytes;  // with its border
  };
  const Level &at(int level) const { return levels_[static_cast<std::size_t>(level)]; }

  // The width is a multiple of 4, because four pixels are written at once.
  static Size with_border(Size size) {
    return {divide_up(kBorderLeft + size.width + kBorderRight, 4) * 4,
            kBorderAbove + size.height + kBorderBelow};
  }

  Status prepare_above(cudaStream_t stream, int from, int levels) {
    for (int level = from + 1; level <= levels; ++level)
      CUDAVISION_TRY(prepare(stream, picture(level), level, levels));
    return {};
  }

  // Computes the derivatives of a level, and the level above it unless it is the last one.
  Status prepare(cudaStream_t stream, ImageView<const std::uint8_t> pixels, int level, int levels) {
    const Size size = with_border(pixels.size());
    const LevelOutput output{picture(level), gradient(level), bytes(level),
                             level < levels ? picture(level + 1) : ImageView<std::uint8_t>{}};
    return CUDAVISION_LAUNCH_PDL("prepare_level_kernel", prepare_level_kernel,
                                 grid_2d(size.width, size.height, kLevelX, kLevelY), dim3(kLevelThreads),
                                 stream, pixels, output);
  }

  std::vector<Level> levels_;
};

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
