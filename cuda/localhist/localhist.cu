// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of local histograms. One kernel computes the bin and the weight of each pixel's gradient (not needed
// for brightness), one the histograms of strips of rows (only for high windows), and one computes the windows and
// writes every result once.
//
// A block owns a tile of windows. Its shared memory holds the histogram of each pixel column over the height of a
// window; from one row of windows to the next, each column loses its topmost pixels and gains as many at the bottom.
// Along a row, a thread slides over a segment, a run of neighbouring windows, with one word of bins: it adds the column
// that enters on the right and subtracts the column that leaves on the left. The first window of a segment is made of
// sums over spans of columns, so that it does not cost as many additions as the window is wide.
#include <cuda_runtime.h>

#include "cuda/common/buffer_cuda.h"
#include "cuda/common/device_limits_cuda.h"
#include "cuda/common/dynamic_shared.cuh"
#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/common/resident_blocks.cuh"
#include "cuda/localhist/localhist_backends.h"
#include "cuda/localhist/samples_cuda.h"
#include "cuda/localhist/window_output.cuh"
#include "cuda/localhist/window_sums.cuh"

namespace cudavision::localhist {
namespace {

// With four blocks, a thread has at most 64 registers.
constexpr int kMinBlocksPerMultiprocessor = kSpillsSooner ? 3 : 4;

// The work of a thread in each row of a tile: one word of bins of the windows of a segment. It stays the same in all
// rows. Threads with a segment from plan.segments on compute nothing.
struct Lane {
  int segment, word;

  __device__ explicit Lane(const TilePlan &plan)
      : segment(static_cast<int>(threadIdx.x) / plan.words),
        word(static_cast<int>(threadIdx.x) - segment * plan.words) {}
  __device__ bool is_used(const TilePlan &plan) const { return segment < plan.segments; }
};

// Writes `count` windows, each one column to the right of the one before. left: the first column of the first window;
// right: the first column behind that window. Loads one column more than it uses.
template <typename Sums, typename Writer>
__device__ void slide_by_one(const unsigned *left, const unsigned *right, int stride, Sums sums, int count,
                             Writer &writer) {
  constexpr int kAhead = 4;  // columns that are loaded before the first of these windows is written
  for (; count >= kAhead; count -= kAhead) {
    unsigned entering[kAhead], leaving[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k, left += stride, right += stride)
      entering[k] = *right, leaving[k] = *left;
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      writer.write(sums);
      sums.move(entering[k], leaving[k]);
    }
  }
  for (; count > 0; --count, left += stride, right += stride) {
    writer.write(sums);
    sums.move(*right, *left);
  }
}

// Writes the windows of the calling thread in this row of the tile.
template <typename Sums, typename Tile, typename Writer>
__device__ void slide(const Windows &w, const Tile &tile, const Lane &lane, int count, Writer &writer) {
  const int stride = w.plan.column_stride;
  Sums sums = tile.first_window(w.plan, w.window.width, lane.segment, lane.word);
  const unsigned *left = tile.words + lane.segment * w.plan.span * stride + lane.word;
  const unsigned *right = left + w.window.width * stride;
  if (w.stride_x == 1) return slide_by_one(left, right, stride, sums, count, writer);
  for (;;) {
    writer.write(sums);
    if (--count == 0) return;
    for (int i = 0; i < w.stride_x; ++i, left += stride, right += stride) sums.move(*right, *left);
  }
}

// Computes the windows of a row and writes them as kOutput says. All threads of the block must call this, after a
// barrier.
template <typename Sums, RowOutput kOutput, typename Tile>
__device__ void write_row(const Windows &w, const Tile &tile, const Lane &lane, const WindowRow &row,
                          int bins, WordWriter<Sums, kOutput> &writer) {
  const int count = lane.is_used(w.plan) ? min(w.plan.segment, row.cols - lane.segment * w.plan.segment) : 0;
  if (w.plan.spans_of_window > 0) {
    if (lane.is_used(w.plan)) tile.sum_spans(w.plan, lane.segment, lane.word);
    __syncthreads();
  }
  const int shift = kOutput == RowOutput::staged ? stage_shift<typename Sums::Element>(w, row) : 0;
  writer.begin_row(shift);
  if (count > 0) slide<Sums>(w, tile, lane, count, writer);
  __syncthreads();
  if constexpr (kOutput == RowOutput::staged) write_staged<Sums>(w, tile, row, shift, bins);
  if constexpr (kOutput == RowOutput::reduced) write_reduction<Sums>(w, tile, row, bins);
}

constexpr int kStripColumns = 32;  // pixel columns per block of sum_strips_kernel

// Computes the StripSums (column_tile.cuh) of kStripColumns columns of a group of strips: each warp computes the
// histograms of one strip, and adds those of the strips before it. blockIdx.y: the group.
template <typename Source, typename Sums>
static __global__ void __launch_bounds__(kStripColumns *kGroupStrips)
    sum_strips_kernel(const __grid_constant__ Source source, const __grid_constant__ TilePlan plan,
                      bool has_total, StripSums strips) {
  CUDAVISION_DYNAMIC_SHARED(unsigned, shared);
  const int column = static_cast<int>(threadIdx.x) % kStripColumns,
            own = static_cast<int>(threadIdx.x) / kStripColumns,
            strip = static_cast<int>(blockIdx.y) * kGroupStrips + own,
            words = kStripColumns * plan.column_stride;
  ColumnTile<Sums, true> tile(shared + own * words, plan);
  tile.first_bin = 0, tile.has_total = has_total;
  tile.x = static_cast<int>(blockIdx.x) * kStripColumns;
  const bool is_used =
      tile.x + column < source.pixels.width && (strip + 1) * kStripRows <= source.pixels.height;
  wait_for_kernel_ahead();
  tile.clear(plan, column);
  if (is_used) tile.count_rows(source, plan, column, strip * kStripRows, (strip + 1) * kStripRows);
  __syncthreads();
  if (!is_used) return;
  for (int w = 0; w < plan.words; ++w) {
    unsigned sum = 0;
    for (int s = 0; s <= own; ++s) sum += shared[s * words + column * plan.column_stride + w];
    *strips.at(strip, w, plan.words, tile.x + column) = sum;
  }
}

// Computes a tile and writes its results. blockIdx.x and y: the tile; z: the group of bins, or 0 with a reduction.
template <typename Source, typename Sums, RowOutput kOutput>
static __global__ void __launch_bounds__(kMaxBlockThreads, kMinBlocksPerMultiprocessor)
    slide_windows_kernel(const __grid_constant__ Source source, const __grid_constant__ Windows w,
                         StripSums strips) {
  CUDAVISION_DYNAMIC_SHARED(unsigned, shared);
  const TilePlan &plan = w.plan;
  const Lane lane(plan);
  constexpr bool kReduces = kOutput == RowOutput::reduced;
  using Tile = ColumnTile<Sums, kReduces>;
  Tile tile(shared, plan);
  const int first_row = static_cast<int>(blockIdx.y) * plan.rows;
  WindowRow row{first_row, static_cast<int>(blockIdx.x) * plan.cols, 0};
  row.cols = min(plan.cols, w.cols - row.first_col);
  const int end_row = min(first_row + plan.rows, w.rows);
  tile.x = row.first_col * w.stride_x;
  tile.columns = (row.cols - 1) * w.stride_x + w.window.width;
  tile.has_total = w.has_total;

  // With brightness the next kernel is usually this one again, for the next frame. If its blocks started early, the
  // multiprocessors that finish first would get most of them.
  if constexpr (!std::is_same_v<Source, BrightnessSource>) let_next_kernel_start();
  wait_for_kernel_ahead();
  // A reduction visits all groups of bins in ascending order, so one block processes all of them.
  const int first_group = kReduces ? 0 : static_cast<int>(blockIdx.z);
  const int end_group = kReduces ? plan.groups : first_group + 1;
  for (int group = first_group; group < end_group; ++group) {
    tile.first_bin = group * plan.group_bins;
    const int bins = min(plan.group_bins, w.bins - tile.first_bin);
    tile.count(source, plan, strips, first_row * w.stride_y, w.window.height);
    Mover<Source, Tile> mover(source, tile, plan, first_row * w.stride_y, w.window.height);
    row.y = first_row;
    WordWriter<Sums, kOutput> writer(w, tile, row, lane.segment * plan.segment, lane.word);
    for (;;) {
      const bool is_last = row.y + 1 == end_row;
      if (!is_last) mover.load(source, tile, plan);
      __syncthreads();
      write_row<Sums, kOutput>(w, tile, lane, row, bins, writer);
      if (is_last) break;
      mover.move(source, tile, plan);
      for (int i = 1; i < w.stride_y; ++i) {
        mover.load(source, tile, plan);
        mover.move(source, tile, plan);
      }
      ++row.y;
    }
  }
}

class LocalHistCuda final : public LocalHist {
 public:
  LocalHistCuda(const Execution &execution, Size size, const LocalHistParams &params)
      : execution_(execution), size_(size), params_(params), sums_(sums_of(params)) {}

  Status allocate() {
    CUDAVISION_TRY(ask_limits(&limits_));
    CUDAVISION_TRY(shape_of(size_, params_, &shape_));
    plan_ = plan_tiles(params_, shape_, limits_);
    if (plan_.sums_strips) CUDAVISION_TRY(strips_.allocate(strip_words(params_, size_)));
    if (params_.feature == LocalHistFeature::brightness) return {};
    table_ = make_orientation_table(params_.bins);
    return is_weighted(sums_) ? weights_.allocate(size_) : bins_.allocate(size_);
  }

  Status run(ImageView<const std::uint8_t> luma, const LocalHistOutput &output, const float *model,
             Input input) override {
    CUDAVISION_TRY(check_run(luma.size(), size_, params_, output, model));
    const int scale = weight_scale(params_.weight);
    const bool pairs_align =
        params_.bins % 2 == 0 && reinterpret_cast<std::uintptr_t>(output.histograms) % 4 == 0;
    const Windows windows{.plan = plan_,
                          .rows = shape_.rows,
                          .cols = shape_.cols,
                          .window = params_.window,
                          .stride_x = params_.stride_x,
                          .stride_y = params_.stride_y,
                          .bins = params_.bins,
                          .layout = params_.layout,
                          .reduction = params_.reduction,
                          .has_total = needs_total(params_),
                          .pairs_align = pairs_align,
                          .unit = 1.0f / static_cast<float>(scale),
                          .output = output,
                          .model = model};
    return with_source(luma, input, [&]<typename Source>(const Source &source) {
      if constexpr (std::is_same_v<Source, MapSource<WeightMap>>)
        return sums_ == SumKind::weights32 ? slide_windows<Weights<unsigned>>(source, windows)
                                           : slide_windows<Weights<unsigned long long>>(source, windows);
      else
        return sums_ == SumKind::counts16 ? slide_windows<Counts16>(source, windows)
                                          : slide_windows<Counts32>(source, windows);
    });
  }

  Status take_model(ImageView<const std::uint8_t> luma, Region region, float *model) override {
    CUDAVISION_TRY(check_region(luma.size(), size_, region));
    return with_source(luma, Input::in_stream_order, [&](const auto &source) {
      return take_shares(execution_, source, region, params_.bins, model);
    });
  }

 private:
  static Status ask_limits(DeviceLimits *limits) {
    int shared_bytes = 0;
    CUDAVISION_TRY(multiprocessor_count(&limits->multiprocessors));
    CUDAVISION_TRY(max_shared_bytes(&shared_bytes));
    limits->shared_bytes = static_cast<std::size_t>(shared_bytes);
    return {};
  }

  // Calls use(source); the source (samples.cuh) yields the bin and weight of each pixel of luma. For gradients, first
  // enqueues the kernel that computes these.
  template <typename Use>
  Status with_source(ImageView<const std::uint8_t> luma, Input input, const Use &use) {
    if (params_.feature == LocalHistFeature::brightness) return use(BrightnessSource{luma, params_.bins});
    if (is_weighted(sums_)) {
      CUDAVISION_TRY(map(luma, weights_.view(), input));
      return use(MapSource<WeightMap>{weights_.view()});
    }
    CUDAVISION_TRY(map(luma, bins_.view(), input));
    return use(MapSource<BinMap>{bins_.view()});
  }

  template <typename Map>
  Status map(ImageView<const std::uint8_t> luma, ImageView<Map> map, Input input) const {
    return map_gradients(execution_, luma, params_.op, params_.weight, table_, map, input);
  }

  template <typename Sums, typename Source>
  Status slide_windows(const Source &source, const Windows &windows) {
    static constexpr void (*kKernels[])(Source, Windows, StripSums) = {
        slide_windows_kernel<Source, Sums, RowOutput::direct>,
        slide_windows_kernel<Source, Sums, RowOutput::staged>,
        slide_windows_kernel<Source, Sums, RowOutput::reduced>};
    if (plan_.sums_strips) CUDAVISION_TRY((sum_strips<Sums>(source)));
    const auto kernel = kKernels[static_cast<int>(plan_.output)];
    if (!shared_bytes_allowed_) CUDAVISION_TRY(allow_shared_bytes(kernel, limits_.shared_bytes));
    shared_bytes_allowed_ = true;
    const dim3 grid(blocks_for(shape_.cols, plan_.cols), blocks_for(shape_.rows, plan_.rows),
                    static_cast<unsigned>(params_.reduction == LocalHistReduction::none ? plan_.groups : 1));
    return CUDAVISION_LAUNCH_PDL("slide_windows_kernel", kernel, grid,
                                 BlockSize(dim3(static_cast<unsigned>(plan_.threads)), plan_.shared_bytes()),
                                 execution_.stream, source, windows, StripSums{strips_.data(), size_.width});
  }

  template <typename Sums, typename Source>
  Status sum_strips(const Source &source) {
    constexpr int kThreads = kStripColumns * kGroupStrips;
    const dim3 grid(blocks_for(size_.width, kStripColumns), blocks_for(size_.height, kGroupRows));
    const std::size_t bytes = static_cast<std::size_t>(kThreads * plan_.column_stride) * sizeof(unsigned);
    return CUDAVISION_LAUNCH_PDL("sum_strips_kernel", (sum_strips_kernel<Source, Sums>), grid,
                                 BlockSize(dim3(kThreads), bytes), execution_.stream, source, plan_,
                                 needs_total(params_), StripSums{strips_.data(), size_.width});
  }

  Execution execution_;
  Size size_;
  LocalHistParams params_;
  SumKind sums_;
  DeviceLimits limits_;
  LocalHistShape shape_;
  TilePlan plan_;
  OrientationTable table_;
  // The samples of gradients: in bins_ if gradients are counted, in weights_ if they are weighted. The other image is
  // empty, and with brightness both are.
  DeviceImage<BinMap> bins_;
  DeviceImage<WeightMap> weights_;
  DeviceBuffer<unsigned> strips_;      // see StripSums; empty unless the plan needs them
  bool shared_bytes_allowed_ = false;  // allow_shared_bytes() has been called
};

}  // namespace

Status make_localhist_cuda(const Execution &execution, Size size, const LocalHistParams &params,
                           std::unique_ptr<LocalHist> *localhist) {
  return make_as<LocalHistCuda>(localhist, execution, size, params);
}

}  // namespace cudavision::localhist
