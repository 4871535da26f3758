// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of local histograms: one kernel that writes every result once, after one that computes
// what each pixel's gradient adds.
//
// A block owns a tile of windows. Its shared memory holds the histogram of each pixel column over a window's
// height; from one row of windows to the next each column loses its topmost pixel and gains one below. Along
// a row a thread slides over a segment of windows with one word of bins: it adds the column that enters on
// the right and subtracts the one that leaves on the left. Where a segment begins, sums over whole segments
// of columns, kept up to date with the columns, spare it the window's width of additions.
#include <cuda_runtime.h>

#include "cuda/common/buffer.h"
#include "cuda/common/dynamic_shared.cuh"
#include "cuda/common/launch.h"
#include "cuda/localhist/samples.h"
#include "cuda/localhist/window_output.cuh"
#include "cuda/localhist/window_sums.cuh"

namespace cudavision::localhist {
namespace {

constexpr int kBlocksAtOnce = 4;  // on a multiprocessor: 64 registers a thread

// The histograms of a row of windows, to global memory or to the stage.
template <typename Sums, bool kStaged>
__device__ void slide(const Windows &w, const ColumnTile<Sums> &tile, const Row &row) {
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
      const unsigned entering = is_last ? 0 : *right,
                     leaving = is_last ? 0 : *left;  // on their way meanwhile
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

template <typename Source, typename Sums, bool kStaged>
__global__ void __launch_bounds__(kBlockThreads, kBlocksAtOnce)
    slide_windows_kernel(const __grid_constant__ Source source, const __grid_constant__ Windows w) {
  CUDAVISION_DYNAMIC_SHARED(unsigned char, shared);
  const TilePlan &plan = w.plan;
  ColumnTile<Sums> tile(shared, plan);
  const int first_row = static_cast<int>(blockIdx.y) * plan.rows;
  Row row{first_row, static_cast<int>(blockIdx.x) * plan.cols, 0};
  row.cols = min(plan.cols, w.cols - row.first_col);
  const int end_row = min(first_row + plan.rows, w.rows);
  tile.x = row.first_col * w.stride_x;
  tile.columns = (row.cols - 1) * w.stride_x + w.window.width;
  tile.has_total = w.has_total;

  // A reduction needs all groups of bins in order: it has one block for them.
  const bool reduces = w.reduction != LocalReduction::none;
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

class LocalHistogramCuda final : public LocalHistogram {
 public:
  LocalHistogramCuda(const Execution &execution, Size size, const LocalHistogramParams &params)
      : execution_(execution), size_(size), params_(params), sums_(sums_of(params)) {}

  Status allocate() {
    CUDAVISION_TRY(ask_limits(&limits_));
    CUDAVISION_TRY(shape_of(size_, params_, &shape_));
    plan_ = plan_tiles(params_, shape_, limits_);
    if (params_.feature == LocalFeature::brightness) return {};
    table_ = make_orientation_table(params_.bins);
    return is_weighted(sums_) ? weights_.allocate(size_) : bins_.allocate(size_);
  }

  Status run(ImageView<const std::uint8_t> luma, const LocalHistogramOutput &output,
             const float *model) override {
    CUDAVISION_TRY(check_run(luma.size(), size_, params_, output, model));
    const int scale = weight_scale(params_.weight);
    const bool pairs_align =
        params_.bins % 2 == 0 && reinterpret_cast<std::uintptr_t>(output.histograms) % 4 == 0;
    const Windows windows{plan_,
                          shape_.rows,
                          shape_.cols,
                          params_.window,
                          params_.stride_x,
                          params_.stride_y,
                          params_.bins,
                          params_.layout,
                          params_.reduction,
                          needs_total(params_),
                          pairs_align,
                          1.0f / static_cast<float>(scale),
                          output,
                          model};
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
    int device = 0, shared_bytes = 0;
    CUDAVISION_TRY_CUDA(cudaGetDevice(&device));
    CUDAVISION_TRY_CUDA(
        cudaDeviceGetAttribute(&limits->multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CUDAVISION_TRY_CUDA(
        cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    limits->shared_bytes = static_cast<std::size_t>(shared_bytes);
    return {};
  }

  // Calls use with what gives the samples of luma, and enqueues before what that needs.
  template <typename Use>
  Status with_source(ImageView<const std::uint8_t> luma, const Use &use) {
    if (params_.feature == LocalFeature::brightness) return use(BrightnessSource{luma, params_.bins});
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
    const dim3 grid(static_cast<unsigned>(divide_up(shape_.cols, plan_.cols)),
                    static_cast<unsigned>(divide_up(shape_.rows, plan_.rows)),
                    static_cast<unsigned>(params_.reduction == LocalReduction::none ? plan_.groups : 1));
    return CUDAVISION_LAUNCH_NAMED("slide_windows_kernel", kernel, grid,
                                   BlockSize(dim3(kBlockThreads), plan_.shared_bytes()), execution_.stream,
                                   source, windows);
  }

  Execution execution_;
  Size size_;
  LocalHistogramParams params_;
  SumKind sums_;
  DeviceLimits limits_;
  LocalHistogramShape shape_;
  TilePlan plan_;
  OrientationTable table_;
  DeviceImage<BinMap> bins_;  // of these two one is allocated, for gradients
  DeviceImage<WeightMap> weights_;
  bool shared_bytes_allowed_ = false;
};

}  // namespace

Status make_local_histogram_cuda(const Execution &execution, Size size, const LocalHistogramParams &params,
                                 std::unique_ptr<LocalHistogram> *room) {
  auto made = std::make_unique<LocalHistogramCuda>(execution, size, params);
  CUDAVISION_TRY(made->allocate());
  *room = std::move(made);
  return {};
}

}  // namespace cudavision::localhist
