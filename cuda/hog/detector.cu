// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of the detector: four kernels for all scales together. shrink makes the pictures,
// make_level_blocks their blocks, multiply_rows what scores are made of, find_boxes the scores, the hits and
// the boxes.
#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/common/launch.h"
#include "cuda/hog/hits.cuh"

namespace cudavision::hog {
namespace {

dim3 line_of(int blocks) { return dim3(static_cast<unsigned>(blocks)); }

class HogDetectorCuda final : public HogDetector {
 public:
  HogDetectorCuda(const Execution &execution, Size size, int channels, const HogModel &model,
                  const HogSearch &search)
      : execution_(execution),
        size_(size),
        channels_(channels),
        plan_(make_plan(size, model, search)),
        rules_(rules_of(plan_.params)),
        tiles_(plan_tiles(rules_, channels, {}, 0)),  // all scales together have tiles enough
        bias_(model.bias) {}

  Status allocate(const HogModel &model) {
    if (plan_.levels.empty()) return {};
    CUDAVISION_TRY(weights_.upload(plan_.params, execution_.stream));
    CUDAVISION_TRY(lay_out_levels());
    CUDAVISION_TRY(upload_model(model));
    CUDAVISION_TRY(channels_ == 1 ? gray_.allocate(pixels_) : color_.allocate(pixels_));
    CUDAVISION_TRY(blocks_.allocate(numbers_));
    CUDAVISION_TRY(products_.allocate(places_ * static_cast<std::size_t>(plan_.window_blocks.height)));
    CUDAVISION_TRY(scores_.allocate(windows_));
    CUDAVISION_TRY(block_hits_.allocate(static_cast<std::size_t>(window_blocks_)));
    CUDAVISION_TRY(hits_.allocate(kMaxHogHits));
    CUDAVISION_TRY(groups_.allocate(kMaxHogHits));
    CUDAVISION_TRY(done_.allocate(1));
    return CUDAVISION_CHECK_CUDA(cudaMemsetAsync(done_.data(), 0, sizeof(unsigned), execution_.stream));
  }

  Status run(const HogPicture &picture, const HogThresholds &thresholds, const HogBoxList &list) override {
    CUDAVISION_TRY(check_run(picture, size_, channels_));
    if (plan_.levels.empty())
      return CUDAVISION_CHECK_CUDA(cudaMemsetAsync(list.count, 0, sizeof *list.count, execution_.stream));
    CUDAVISION_TRY(channels_ == 1 ? make_blocks<1>(picture, gray_.data())
                                  : make_blocks<3>(picture, color_.data()));
    CUDAVISION_TRY(multiply());
    return find_boxes(thresholds, list);
  }

 private:
  int level_count() const { return static_cast<int>(plan_.levels.size()); }

  Status lay_out_levels() {
    std::size_t pixels = 0, numbers = 0, places = 0, windows = 0;
    int tiles = 0;
    for (const Level &level : plan_.levels) {
      DeviceLevel d{};
      const HogShape &blocks = level.blocks;
      d.scale = level.scale;
      const std::ptrdiff_t pitch = divide_up(blocks.cols, 32) * 32;
      d.picture = {level.size.width,
                   level.size.height,
                   blocks.rows,
                   blocks.cols,
                   divide_up(blocks.cols, 1 << tiles_.cols_log2),
                   {static_cast<std::ptrdiff_t>(numbers), pitch * blocks.length, 1, pitch}};
      d.pixels = static_cast<std::ptrdiff_t>(pixels);
      d.places = static_cast<std::ptrdiff_t>(places);
      d.windows = static_cast<std::ptrdiff_t>(windows);
      const auto add_taps = [&](int from, int to) {
        const int first = static_cast<int>(host_taps_.size());
        const std::vector<std::int32_t> taps = resize_taps(from, to);
        host_taps_.insert(host_taps_.end(), taps.begin(), taps.end());
        return first;
      };
      d.taps_x = add_taps(size_.width, level.size.width);
      d.taps_y = add_taps(size_.height, level.size.height);
      d.windows_x = level.windows.width;
      d.window_count = level.windows.width * level.windows.height;
      d.places_x = blocks.cols - (plan_.window_blocks.width - 1) * plan_.block_step.width;
      d.pixel_blocks = pixel_blocks_, d.tile_blocks = tiles, d.place_blocks = place_blocks_;
      d.window_blocks = window_blocks_;
      const int pixel_count = level.size.width * level.size.height;
      pixel_blocks_ += divide_up(pixel_count, kLineThreads * kLinePixels);
      tiles += d.picture.tiles_x * divide_up(blocks.rows, 1 << tiles_.rows_log2);
      place_blocks_ += divide_up(d.places_x, kPlaces) * divide_up(blocks.rows, kPlaceThreads / 32);
      window_blocks_ += divide_up(d.window_count, kLineThreads);
      pixels += static_cast<std::size_t>(pixel_count);
      numbers += static_cast<std::size_t>(pitch * blocks.length) * static_cast<std::size_t>(blocks.rows);
      places += static_cast<std::size_t>(d.places_x) * static_cast<std::size_t>(blocks.rows);
      windows += static_cast<std::size_t>(d.window_count);
      host_levels_.push_back(d);
    }
    tile_blocks_ = tiles;
    pixels_ = pixels, numbers_ = numbers, places_ = places, windows_ = windows;
    CUDAVISION_TRY(upload(host_levels_, &levels_));
    return upload(host_taps_, &taps_);
  }

  Status upload_model(const HogModel &model) {
    const int across = plan_.window_blocks.width, down = plan_.window_blocks.height, length = rules_.length;
    chunks_ = divide_up(down, kRowsAtOnce);
    host_weights_.assign(static_cast<std::size_t>(chunks_ * across * length) * (kRowsAtOnce / 4), float4{});
    auto *out = reinterpret_cast<float *>(host_weights_.data());
    for (int i = 0; i < across; ++i)
      for (int j = 0; j < down; ++j)
        for (int k = 0; k < length; ++k)
          out[((j / kRowsAtOnce * across + i) * length + k) * kRowsAtOnce + j % kRowsAtOnce] =
              model.weights[static_cast<std::size_t>((i * down + j) * length + k)];
    return upload(host_weights_, &model_);
  }

  template <typename T>
  Status upload(const std::vector<T> &host, DeviceBuffer<T> *device) {
    CUDAVISION_TRY(device->allocate(host.size()));
    return CUDAVISION_CHECK_CUDA(cudaMemcpyAsync(device->data(), host.data(), host.size() * sizeof(T),
                                                 cudaMemcpyHostToDevice, execution_.stream));
  }

  template <int kChannels>
  Status make_blocks(const HogPicture &picture, typename PixelOf<kChannels>::Type *pixels) const {
    const ShrinkTask<kChannels> shrink{
        FrameSource<kChannels>(picture), size_, levels_.data(), level_count(), taps_.data(), pixels};
    CUDAVISION_TRY(CUDAVISION_LAUNCH_EARLY("shrink_kernel", shrink_kernel<kChannels>, line_of(pixel_blocks_),
                                           dim3(kLineThreads), execution_.stream, shrink));
    const LevelBlocksTask<kChannels> task{levels_.data(), level_count(), pixels,       rules_,
                                          tiles_,         weights_.x(),  weights_.y(), blocks_.data()};
    const auto kernel = are_usual(rules_) ? make_level_blocks_kernel<true, kChannels>
                                          : make_level_blocks_kernel<false, kChannels>;
    return CUDAVISION_LAUNCH_EARLY("make_level_blocks_kernel", kernel, line_of(tile_blocks_),
                                   BlockSize(dim3(kTileThreads), tiles_.shared_bytes), execution_.stream,
                                   task);
  }

  Status multiply() const {
    const ProductTask task{levels_.data(),   level_count(),    rules_.length,
                           blocks_.data(),   model_.data(),    plan_.window_blocks,
                           plan_.block_step, products_.data(), static_cast<std::ptrdiff_t>(places_)};
    const dim3 grid(static_cast<unsigned>(place_blocks_), static_cast<unsigned>(chunks_));
    return CUDAVISION_LAUNCH_EARLY("multiply_rows_kernel", multiply_rows_kernel, grid, dim3(kPlaceThreads),
                                   execution_.stream, task);
  }

  Status find_boxes(const HogThresholds &thresholds, const HogBoxList &list) const {
    const ScoreRules scores{products_.data(),           static_cast<std::ptrdiff_t>(places_),
                            plan_.window_blocks.height, plan_.block_step.height,
                            plan_.window_step,          bias_};
    const HitTask task{levels_.data(),
                       level_count(),
                       scores,
                       thresholds,
                       size_,
                       plan_.window,
                       plan_.win_stride,
                       scores_.data(),
                       block_hits_.data(),
                       done_.data(),
                       hits_.data(),
                       groups_.data(),
                       list};
    return CUDAVISION_LAUNCH_EARLY("find_boxes_kernel", find_boxes_kernel, line_of(window_blocks_),
                                   dim3(kLineThreads), execution_.stream, task);
  }

  Execution execution_;
  Size size_;
  int channels_;
  Plan plan_;
  Rules rules_;
  TilePlan tiles_;
  float bias_;
  OwnedWeights weights_;
  int chunks_ = 0;                                                                 // of a window's rows
  int pixel_blocks_ = 0, tile_blocks_ = 0, place_blocks_ = 0, window_blocks_ = 0;  // of each launch
  std::size_t pixels_ = 0, numbers_ = 0, places_ = 0, windows_ = 0;                // of all scales

  // What is uploaded once stays on the host for the copies that the stream makes of it.
  std::vector<DeviceLevel> host_levels_;
  std::vector<std::int32_t> host_taps_;
  std::vector<float4> host_weights_;
  DeviceBuffer<DeviceLevel> levels_;
  DeviceBuffer<std::int32_t> taps_;
  DeviceBuffer<float4> model_;

  DeviceBuffer<std::uint8_t> gray_;    // shrunk pictures of one channel
  DeviceBuffer<std::uint32_t> color_;  // or of three
  DeviceBuffer<float> blocks_, products_, scores_;
  DeviceBuffer<int> block_hits_;
  DeviceBuffer<unsigned> done_;
  DeviceBuffer<HogBox> hits_;
  DeviceBuffer<GroupSums> groups_;
};

}  // namespace

Status make_hog_detector_cuda(const Execution &execution, Size size, int channels, const HogModel &model,
                              const HogSearch &search, std::unique_ptr<HogDetector> *detector) {
  auto made = std::make_unique<HogDetectorCuda>(execution, size, channels, model, search);
  CUDAVISION_TRY(made->allocate(model));
  *detector = std::move(made);
  return {};
}

}  // namespace cudavision::hog
