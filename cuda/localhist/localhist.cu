// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of local histograms: one kernel computes the samples of gradients (not needed for
// brightness), and one kernel computes the windows and writes every result once.
//
// A block owns a tile of windows. Its shared memory holds the histogram of each pixel column over the height
// of a window; from one row of windows to the next, each column loses its topmost pixel and gains one at the
// bottom. Along a row, a thread slides over a segment of windows with one word of bins: it adds the column
// that enters on the right and subtracts the column that leaves on the left. The block also keeps the sums
// over whole segments of columns up to date, so that the first window of a segment does not cost as many
// additions as the window is wide.
#include <cuda_runtime.h>

#include "cuda/common/buffer.h"
#include "cuda/common/device_limits.h"
#include "cuda/common/dynamic_shared.cuh"
#include "cuda/common/grid.h"
#include "cuda/common/launch.h"
#include "cuda/localhist/localhist_backends.h"
#include "cuda/localhist/samples_cuda.h"
#include "cuda/localhist/window_output.cuh"
#include "cuda/localhist/window_sums.cuh"

namespace cudavision::localhist {
namespace {

constexpr int kMinBlocksPerMultiprocessor = 4;  // limits a thread to 64 registers

// Computes the histograms of a row of windows and writes them to global memory, or to the staging area
// (kStaged).
template <typename Sums, bool kStaged>
__device__ void slide(const Windows &w, const ColumnTile<Sums> &tile, const WindowRow &row) {
  const TilePlan &plan = w.plan;
  const int positions = (row.cols - 1) * w.stride_x + 1;
  const int count = divide_up(positions, plan.segment) * plan.words;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kBlockThreads) {
    const int s = i / plan.words, word = i - s * plan.words;
    const int end = min((s + 1) * plan.segment, positions);
    int x = s * plan.segment, col = divide_up(x, w.stride_x), next = col * w.stride_x;
    if (next >= end) continue;
    Sums sums = tile.first_window(plan, w.window.width, s, word);
    const unsigned *left = tile.words + x * plan.column_stride + word;
    const unsigned *right = left + w.window.width * plan.column_stride;
    for (;;) {
      const bool is_last = ++x == end;
      // Loaded early, so that the latency overlaps with the writes below.
      const unsigned entering = is_last ? 0 : *right, leaving = is_last ? 0 : *left;
      if (x > next) {
        if constexpr (kStaged) {
          unsigned *out = tile.stage + col * plan.stage_stride + word * Sums::kBins;
#pragma unroll
          for (int b = 0; b < Sums::kBins; ++b) out[b] = sums.bits(b);
        } else {
          write_word(w, sums, row, col, tile.first_bin, word);
        }
        ++col;
        next += w.stride_x;
      }
      if (is_last) break;
      sums.add(entering);
      sums.subtract(leaving);
      left += plan.column_stride;
      right += plan.column_stride;
    }
  }
}

// blockIdx.x and y: the tile; blockIdx.z: the group of bins, unless there is a reduction.
template <typename Source, typename Sums, bool kStaged>
static __global__ void __launch_bounds__(kBlockThreads, kMinBlocksPerMultiprocessor)
    slide_windows_kernel(const __grid_constant__ Source source, const __grid_constant__ Windows w) {
  CUDAVISION_DYNAMIC_SHARED(unsigned char, shared);
  const TilePlan &plan = w.plan;
  ColumnTile<Sums> tile(shared, plan);
  const int first_row = static_cast<int>(blockIdx.y) * plan.rows;
  WindowRow row{first_row, static_cast<int>(blockIdx.x) * plan.cols, 0};
  row.cols = min(plan.cols, w.cols - row.first_col);
  const int end_row = min(first_row + plan.rows, w.rows);
  tile.x = row.first_col * w.stride_x;
  tile.columns = (row.cols - 1) * w.stride_x + w.window.width;
  tile.has_total = w.has_total;

  // A reduction visits all groups of bins in ascending order, so one block processes all of them.
  const bool reduces = w.reduction != LocalHistReduction::none;
  const int first_group = reduces ? 0 : static_cast<int>(blockIdx.z);
  const int end_group = reduces ? plan.groups : first_group + 1;
  for (int group = first_group; group < end_group; ++group) {
    tile.first_bin = group * plan.group_bins;
    const int bins = min(plan.group_bins, w.bins - tile.first_bin);
    tile.count(source, plan, first_row * w.stride_y, w.window.height);
    for (row.y = first_row; row.y < end_row; ++row.y) {
      slide<Sums, kStaged>(w, tile, row);
      __syncthreads();
      if constexpr (kStaged) {
        if (reduces)
          write_reduction(w, tile, row, bins);
        else
          write_histograms(w, tile, row, bins);
      }
      if (row.y + 1 < end_row)
        for (int y = row.y * w.stride_y; y < (row.y + 1) * w.stride_y; ++y)
          tile.move_down(source, plan, y, w.window.height);
      __syncthreads();
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
    if (params_.feature == LocalHistFeature::brightness) return {};
    table_ = make_orientation_table(params_.bins);
    return is_weighted(sums_) ? weights_.allocate(size_) : bins_.allocate(size_);
  }

  Status run(ImageView<const std::uint8_t> luma, const LocalHistOutput &output, const float *model) override {
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
    return with_source(luma, [&]<typename Source>(const Source &source) {
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
    return with_source(luma, [&](const auto &source) {
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

  // Calls use(source) with the source of the samples of luma. For gradients, enqueues the kernel that
  // computes them first.
  template <typename Use>
  Status with_source(ImageView<const std::uint8_t> luma, const Use &use) {
    if (params_.feature == LocalHistFeature::brightness) return use(BrightnessSource{luma, params_.bins});
    if (is_weighted(sums_)) {
      CUDAVISION_TRY(map(luma, weights_.view()));
      return use(MapSource<WeightMap>{weights_.view()});
    }
    CUDAVISION_TRY(map(luma, bins_.view()));
    return use(MapSource<BinMap>{bins_.view()});
  }

  template <typename Map>
  Status map(ImageView<const std::uint8_t> luma, ImageView<Map> map) const {
    return map_gradients(execution_, luma, params_.op, params_.weight, table_, map);
  }

  template <typename Sums, typename Source>
  Status slide_windows(const Source &source, const Windows &windows) {
    const auto kernel = plan_.stage_stride != 0 ? slide_windows_kernel<Source, Sums, true>
                                                : slide_windows_kernel<Source, Sums, false>;
    if (!shared_bytes_allowed_) CUDAVISION_TRY(allow_shared_bytes(kernel, limits_.shared_bytes));
    shared_bytes_allowed_ = true;
    const dim3 grid(blocks_for(shape_.cols, plan_.cols), blocks_for(shape_.rows, plan_.rows),
                    static_cast<unsigned>(params_.reduction == LocalHistReduction::none ? plan_.groups : 1));
    return CUDAVISION_LAUNCH_NAMED("slide_windows_kernel", kernel, grid,
                                   BlockSize(dim3(kBlockThreads), plan_.shared_bytes()), execution_.stream,
                                   source, windows);
  }

  Execution execution_;
  Size size_;
  LocalHistParams params_;
  SumKind sums_;
  DeviceLimits limits_;
  LocalHistShape shape_;
  TilePlan plan_;
  OrientationTable table_;
  // The samples of gradients: bins_ if they are counted, weights_ if they are weighted. The other one is
  // empty.
  DeviceImage<BinMap> bins_;
  DeviceImage<WeightMap> weights_;
  bool shared_bytes_allowed_ = false;  // allow_shared_bytes() has been called
};

}  // namespace

Status make_localhist_cuda(const Execution &execution, Size size, const LocalHistParams &params,
                           std::unique_ptr<LocalHist> *localhist) {
  auto made = std::make_unique<LocalHistCuda>(execution, size, params);
  CUDAVISION_TRY(made->allocate());
  *localhist = std::move(made);
  return {};
}

}  // namespace cudavision::localhist
