// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of the detector: kernels that process all scales at once. pack_kernel copies a colour
// picture to words, scale_kernel computes the scaled pictures, make_level_blocks_kernel their blocks,
// multiply_rows_kernel the products of blocks and weights, find_hits_kernel the scores and the hits, and
// group_hits_kernel or suppress_hits_kernel the boxes.
#include <cuda_runtime.h>

#include <vector>

#include "cuda/common/device_limits_cuda.h"
#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/hog/block_tile_cuda.h"
#include "cuda/hog/hits.cuh"
#include "cuda/hog/hog_backends.h"
#include "cuda/hog/hog_detector_plan.h"

namespace cudavision::hog {
namespace {

dim3 grid_of(int blocks, int chunks = 1) {
  return dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(chunks));
}

class HogDetectorCuda final : public HogDetector {
 public:
  HogDetectorCuda(const Execution &execution, Size size, int channels, const HogModel &model,
                  const HogSearch &search)
      : execution_(execution),
        size_(size),
        channels_(channels),
        plan_(make_detection_plan(size, model, search)),
        rules_(rules_of(plan_.params)),
        search_{.places = {}, .window = plan_.window, .win_stride = plan_.win_stride, .grid = plan_.grid},
        bias_(model.bias) {}

  Status allocate(const HogModel &model) {
    if (plan_.levels.empty()) return {};
    CUDAVISION_TRY(weights_.upload(plan_.params, execution_.stream));
    CUDAVISION_TRY(multiprocessor_count(&multiprocessors_));
    std::vector<HogShape> grids;
    for (const Level &level : plan_.levels) grids.push_back(level.blocks);
    tiles_ = plan_tiles(rules_, channels_, grids,
                        level_tiles_at_once(has_default_params(rules_)) * multiprocessors_);
    CUDAVISION_TRY(lay_out_levels());
    CUDAVISION_TRY(upload_model(model));
    if (channels_ == 1) {
      CUDAVISION_TRY(allocate_pixels(&gray_));
    } else {
      CUDAVISION_TRY(allocate_pixels(&color_));
      CUDAVISION_TRY(allocate_packed());
    }
    CUDAVISION_TRY(allocate_blocks());
    CUDAVISION_TRY(
        products_.allocate(positions_ * static_cast<std::size_t>(plan_.grid.blocks_per_window.height)));
    CUDAVISION_TRY(scores_.allocate(windows_));
    CUDAVISION_TRY(block_hits_.allocate(static_cast<std::size_t>(score_grid_)));
    CUDAVISION_TRY(hits_.allocate(kMaxHogHits));
    CUDAVISION_TRY(groups_.allocate(kMaxHogHits));
    CUDAVISION_TRY(parents_.allocate(kMaxHogHits));
    CUDAVISION_TRY(hit_count_.allocate(1));
    CUDAVISION_TRY(done_.allocate(1));
    return CUDAVISION_CHECK_CUDA(cudaMemsetAsync(done_.data(), 0, sizeof(unsigned), execution_.stream));
  }

  Status run(const HogPicture &picture, const HogThresholds &thresholds, const HogBoxList &list,
             const Places &places) override {
    CUDAVISION_TRY(check_run(picture, size_, channels_));
    CUDAVISION_TRY(check_places(places, size_));
    search_.places = places;
    if (plan_.levels.empty() || places.count == 0)
      return CUDAVISION_CHECK_CUDA(cudaMemsetAsync(list.count, 0, sizeof *list.count, execution_.stream));
    if (channels_ == 1) {
      CUDAVISION_TRY(make_blocks<1>(FrameSource<1>(picture), gray_.data()));
    } else {
      CUDAVISION_TRY(pack(picture));
      CUDAVISION_TRY(make_blocks<3>(LevelSource<3>{packed_.data(), size_.width}, color_.data()));
    }
    CUDAVISION_TRY(multiply());
    return find_boxes(thresholds, list);
  }

 private:
  int level_count() const { return static_cast<int>(plan_.levels.size()); }

  // Allocates pixels and sets them to 0: a tile of which only some blocks are needed also reads pixels never written.
  template <typename T>
  Status allocate_pixels(DeviceBuffer<T> *pixels) {
    CUDAVISION_TRY(pixels->allocate(pixels_));
    return CUDAVISION_CHECK_CUDA(cudaMemsetAsync(pixels->data(), 0, pixels_ * sizeof(T), execution_.stream));
  }

  // Also allocates, and sets to 0, a row and a pixel behind the last pixel: scale_kernel reads them, with weight 0.
  Status allocate_packed() {
    const auto width = static_cast<std::size_t>(size_.width), height = static_cast<std::size_t>(size_.height);
    const std::size_t pixels = width * height, behind = width + 1;
    CUDAVISION_TRY(packed_.allocate(pixels + behind));
    return CUDAVISION_CHECK_CUDA(
        cudaMemsetAsync(packed_.data() + pixels, 0, behind * sizeof(std::uint32_t), execution_.stream));
  }

  // multiply_rows_kernel loads the numbers of whole groups of positions, and so also numbers behind the last one, which
  // are not used: they are allocated, and set to 0.
  Status allocate_blocks() {
    const auto behind = static_cast<std::size_t>(
        staged_positions(plan_.grid.blocks_per_window.width, plan_.grid.block_step.width));
    CUDAVISION_TRY(blocks_.allocate(numbers_ + behind));
    return CUDAVISION_CHECK_CUDA(
        cudaMemsetAsync(blocks_.data(), 0, (numbers_ + behind) * sizeof(float), execution_.stream));
  }

  // Chooses the variant of multiply_rows_kernel for this model, and the size of its shared memory.
  void choose_products_kernel() {
    constexpr std::size_t kMostBytes = 48 * 1024;  // the limit for kernels without allow_shared_bytes()
    using enum Factors;
    products_bytes_ = staged_bytes(product_task());
    if (products_bytes_ > kMostBytes)
      products_kernel_ = multiply_rows_kernel<global, 0>, products_bytes_ = 0;
    else if (plan_.grid.block_step.width > 1)
      products_kernel_ = multiply_rows_kernel<staged, 0>;
    else if (plan_.grid.blocks_per_window.width == kPeopleAcross)
      products_kernel_ = multiply_rows_kernel<staged_unit_step, kPeopleAcross>;
    else
      products_kernel_ = multiply_rows_kernel<staged_unit_step, 0>;
  }

  // Fills host_levels_ and the grid sizes, and uploads the levels and their taps.
  Status lay_out_levels() {
    choose_products_kernel();
    std::size_t pixels = 0, numbers = 0, positions = 0, windows = 0;
    for (const Level &level : plan_.levels) {
      DeviceLevel d{};
      const HogShape &blocks = level.blocks;
      d.scale = level.scale;
      const int position_count = blocks.cols * blocks.rows;
      const std::ptrdiff_t plane = divide_up(position_count, 4) * 4;
      d.picture = {.width = level.size.width,
                   .height = level.size.height,
                   .rows = blocks.rows,
                   .cols = blocks.cols,
                   .tiles_x = divide_up(blocks.cols, 1 << tiles_.cols_log2),
                   .place = {.first = static_cast<std::ptrdiff_t>(numbers),
                             .row_stride = blocks.cols,
                             .col_stride = 1,
                             .number_stride = plane}};
      d.pixels = static_cast<std::ptrdiff_t>(pixels);
      d.positions = static_cast<std::ptrdiff_t>(positions);
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
      d.first_scale_block = scale_grid_, d.first_tile_block = tile_grid_;
      d.first_product_block = product_grid_, d.first_score_block = score_grid_;
      const int pixel_count = level.size.width * level.size.height;
      scale_grid_ += scale_tiles_x(level.size.width) * divide_up(level.size.height, kScaleTile.height);
      tile_grid_ += d.picture.tiles_x * divide_up(blocks.rows, tiles_.rows);
      product_grid_ += divide_up(position_count, kProductPositions);
      score_grid_ += divide_up(d.window_count, kLineThreads);
      pixels += static_cast<std::size_t>(pixel_count);
      numbers += static_cast<std::size_t>(plane * blocks.length);
      positions += static_cast<std::size_t>(plane);
      windows += static_cast<std::size_t>(d.window_count);
      host_levels_.push_back(d);
    }
    pixels_ = pixels, numbers_ = numbers, positions_ = positions, windows_ = windows;
    CUDAVISION_TRY(upload(host_levels_, &levels_));
    return upload(host_taps_, &taps_);
  }

  // Uploads the weights in the layout of ProductTask::weights, with zeros for the rows that the last chunk lacks, and
  // for kStageNumbers numbers behind the last one.
  Status upload_model(const HogModel &model) {
    const int across = plan_.grid.blocks_per_window.width, down = plan_.grid.blocks_per_window.height,
              length = rules_.length;
    chunks_ = divide_up(down, kRowsAtOnce);
    host_weights_.assign(
        static_cast<std::size_t>((chunks_ * length + kStageNumbers) * across) * (kRowsAtOnce / 4), float4{});
    auto *out = reinterpret_cast<float *>(host_weights_.data());
    for (int i = 0; i < across; ++i)
      for (int j = 0; j < down; ++j)
        for (int k = 0; k < length; ++k)
          out[((j / kRowsAtOnce * length + k) * across + i) * kRowsAtOnce + j % kRowsAtOnce] =
              model.weights[static_cast<std::size_t>((i * down + j) * length + k)];
    return upload(host_weights_, &model_);
  }

  template <typename T>
  Status upload(const std::vector<T> &host, DeviceBuffer<T> *device) {
    CUDAVISION_TRY(device->allocate(host.size()));
    return CUDAVISION_CHECK_CUDA(cudaMemcpyAsync(device->data(), host.data(), host.size() * sizeof(T),
                                                 cudaMemcpyHostToDevice, execution_.stream));
  }

  Status pack(const HogPicture &picture) const {
    const dim3 blocks(blocks_for(size_.width, kLineThreads * kPackedPixels),
                      static_cast<unsigned>(size_.height));
    return CUDAVISION_LAUNCH_PDL("pack_kernel", pack_kernel, blocks, dim3(kLineThreads), execution_.stream,
                                 FrameSource<3>(picture), size_.width, packed_.data());
  }

  template <int kChannels>
  Status make_blocks(const decltype(ScaleTask<kChannels>::source) &source,
                     PixelType<kChannels> *pixels) const {
    const ScaleTask<kChannels> scale{.source = source,
                                     .size = size_,
                                     .levels = levels_.data(),
                                     .level_count = level_count(),
                                     .taps = taps_.data(),
                                     .pixels = pixels,
                                     .search = search_};
    CUDAVISION_TRY(CUDAVISION_LAUNCH_PDL("scale_kernel", scale_kernel<kChannels>, grid_of(scale_grid_),
                                         dim3(kLineThreads), execution_.stream, scale));
    const LevelBlocksTask<kChannels> task{.levels = levels_.data(),
                                          .level_count = level_count(),
                                          .pixels = pixels,
                                          .rules = rules_,
                                          .plan = tiles_,
                                          .weights = weights_.view(),
                                          .blocks = blocks_.data(),
                                          .search = search_};
    const auto kernel = has_default_params(rules_) ? make_level_blocks_kernel<true, kChannels>
                                                   : make_level_blocks_kernel<false, kChannels>;
    return CUDAVISION_LAUNCH_PDL("make_level_blocks_kernel", kernel, grid_of(tile_grid_),
                                 BlockSize(dim3(kTileThreads), tiles_.shared_bytes), execution_.stream, task);
  }

  ProductTask product_task() const {
    return {.levels = levels_.data(),
            .level_count = level_count(),
            .length = rules_.length,
            .blocks = blocks_.data(),
            .weights = model_.data(),
            .blocks_per_window = plan_.grid.blocks_per_window,
            .block_step = plan_.grid.block_step,
            .products = products_.data(),
            .position_count = static_cast<std::ptrdiff_t>(positions_),
            .search = search_};
  }

  Status multiply() const {
    return CUDAVISION_LAUNCH_PDL("multiply_rows_kernel", products_kernel_, grid_of(product_grid_, chunks_),
                                 BlockSize(dim3(kProductThreads), products_bytes_), execution_.stream,
                                 product_task());
  }

  Status find_boxes(const HogThresholds &thresholds, const HogBoxList &list) const {
    const ScoreRules scores{.products = products_.data(),
                            .position_count = static_cast<std::ptrdiff_t>(positions_),
                            .rows = plan_.grid.blocks_per_window.height,
                            .row_step = plan_.grid.block_step.height,
                            .window_step = plan_.grid.window_step,
                            .bias = bias_};
    const HitTask task{.levels = levels_.data(),
                       .level_count = level_count(),
                       .rules = scores,
                       .thresholds = thresholds,
                       .picture = size_,
                       .search = search_,
                       .scores = scores_.data(),
                       .block_hits = block_hits_.data(),
                       .done = done_.data(),
                       .hit_count = hit_count_.data(),
                       .hits = hits_.data(),
                       .parents = parents_.data(),
                       .groups = groups_.data(),
                       .list = list};
    CUDAVISION_TRY(CUDAVISION_LAUNCH_PDL("find_hits_kernel", find_hits_kernel, grid_of(score_grid_),
                                         dim3(kLineThreads), execution_.stream, task));
    if (thresholds.list_all_hits()) return {};
    if (thresholds.grouping == HogGrouping::best)
      return CUDAVISION_LAUNCH_PDL("suppress_hits_kernel", suppress_hits_kernel, grid_of(1),
                                   dim3(kLineThreads), execution_.stream, task);
    return CUDAVISION_LAUNCH_PDL("group_hits_kernel", group_hits_kernel, grid_of(2 * multiprocessors_),
                                 dim3(kLineThreads), execution_.stream, task);
  }

  Execution execution_;
  Size size_;
  int channels_;
  DetectionPlan plan_;
  Rules rules_;
  Search search_;  // its places are those of the last frame
  TilePlan tiles_{};
  float bias_;
  OwnedWeights weights_;
  int multiprocessors_ = 1;
  int chunks_ = 0;  // chunks of kRowsAtOnce rows of a window
  void (*products_kernel_)(ProductTask) = nullptr;
  std::size_t products_bytes_ = 0;  // the shared memory of products_kernel_
  // The number of thread blocks of each kernel.
  int scale_grid_ = 0, tile_grid_ = 0, product_grid_ = 0, score_grid_ = 0;
  // The sizes of the arrays of all scales.
  std::size_t pixels_ = 0, numbers_ = 0, positions_ = 0, windows_ = 0;

  // Sources of asynchronous copies, which must live until the copies are done.
  std::vector<DeviceLevel> host_levels_;
  std::vector<std::int32_t> host_taps_;
  std::vector<float4> host_weights_;
  DeviceBuffer<DeviceLevel> levels_;
  DeviceBuffer<std::int32_t> taps_;
  DeviceBuffer<float4> model_;

  DeviceBuffer<std::uint8_t> gray_;             // the scaled pictures, if they have one channel
  DeviceBuffer<std::uint32_t> packed_, color_;  // with three channels, the picture and the scaled ones
  DeviceBuffer<float> blocks_, products_, scores_;
  DeviceBuffer<int> block_hits_;
  DeviceBuffer<unsigned> done_, parents_;
  DeviceBuffer<int> hit_count_;
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
