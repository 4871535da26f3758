// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of local histograms: the histogram of each pixel column over a window's height goes down
// the picture, and a window slides along the columns. Threads take strips of the map.
#include <algorithm>
#include <array>
#include <vector>

#include "cuda/gradient/gradient_cpu.h"
#include "cuda/localhist/columns.h"

namespace cudavision::localhist {
namespace {

constexpr int kMapRowsPerTask = 16;
constexpr int kMinRowsPerTask = 8;  // of windows: each task begins with counting a window's height of pixels

template <typename Map>
class LocalHistogramCpu final : public LocalHistogram {
 public:
  LocalHistogramCpu(const Execution &execution, Size size, const LocalHistogramParams &params)
      : execution_(execution),
        size_(size),
        params_(params),
        table_(make_orientation_table(params.bins)),
        row_(row_shape(size, params)),
        rows_((size.height - params.window.height) / params.stride_y + 1),
        map_(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height)) {
    for (int i = 0; i < execution.workers->thread_count(); ++i) {
      scratch_.emplace_back(size, params);
      gradients_.emplace_back(size.width);
    }
  }

  Status run(ImageView<const std::uint8_t> luma, const LocalHistogramOutput &output,
             const float *model) override {
    CUDAVISION_TRY(check_run(luma.size(), size_, params_, output, model));
    fill_map(luma, {0, 0, size_.width, size_.height});
    const int threads = execution_.workers->thread_count();
    const int tasks = threads == 1 ? 1 : std::min(2 * threads, divide_up(rows_, kMinRowsPerTask));
    execution_.workers->run(tasks, [&](int task, int slot) {
      slide_strip(rows_ * task / tasks, rows_ * (task + 1) / tasks, scratch_[static_cast<std::size_t>(slot)],
                  output, model);
    });
    return {};
  }

  Status take_model(ImageView<const std::uint8_t> luma, Region region, float *model) override {
    CUDAVISION_TRY(check_region(luma.size(), size_, region));
    fill_map(luma, region);
    std::array<std::uint64_t, kMaxGradientBins> sums{};
    std::uint64_t total = 0;
    for (int y = region.y; y < region.y + region.height; ++y)
      for (int x = region.x; x < region.x + region.width; ++x) {
        const Sample sample = unpack(map().row(y)[x]);
        if (sample.weight == 0) continue;
        sums[static_cast<std::size_t>(sample.bin)] += sample.weight;
        total += sample.weight;
      }
    for (int i = 0; i < params_.bins; ++i)
      model[i] = total > 0 ? static_cast<float>(sums[static_cast<std::size_t>(i)]) / static_cast<float>(total)
                           : 0.0f;
    return {};
  }

 private:
  ImageView<Map> map() {
    return {map_.data(), static_cast<std::ptrdiff_t>(sizeof(Map)) * size_.width, size_.width, size_.height};
  }

  // The samples of the region's rows.
  void fill_map(ImageView<const std::uint8_t> luma, Region region) {
    execution_.workers->run(divide_up(region.height, kMapRowsPerTask), [&](int task, int slot) {
      const int first = region.y + task * kMapRowsPerTask;
      for (int y = first; y < std::min(first + kMapRowsPerTask, region.y + region.height); ++y) {
        if (params_.feature == LocalFeature::brightness)
          map_brightness(luma.row(y), map().row(y));
        else
          gradients_[static_cast<std::size_t>(slot)].map(luma, y, params_.op, params_.weight, table_,
                                                         map().row(y));
      }
    });
  }

  void map_brightness(const std::uint8_t *luma, Map *samples) const {
    for (int x = 0; x < size_.width; ++x)
      samples[x] = static_cast<Map>(brightness_bin(luma[x], params_.bins));
  }

  void slide_strip(int first_row, int end_row, Scratch<Map> &scratch, const LocalHistogramOutput &output,
                   const float *model) {
    constexpr bool kWeighted = std::is_same_v<Map, WeightMap>;
    constexpr SumKind kNarrow = kWeighted ? SumKind::weights32 : SumKind::counts16,
                      kWide = kWeighted ? SumKind::weights64 : SumKind::counts32;
    if (sums_of(params_) == kNarrow)
      slide_rows<kNarrow>(first_row, end_row, scratch, output, model);
    else
      slide_rows<kWide>(first_row, end_row, scratch, output, model);
  }

  template <SumKind kind>
  void slide_rows(int first_row, int end_row, Scratch<Map> &scratch, const LocalHistogramOutput &output,
                  const float *model) {
    using Element = typename SumTypes<kind>::Element;
    const bool straight = goes_straight_out(params_);
    const float unit = params_.reduction == LocalReduction::none
                           ? 1.0f / static_cast<float>(weight_scale(params_.weight))
                           : 1.0f;
    Columns<kind, Map> columns(map(), params_, row_, scratch);
    columns.count(first_row * params_.stride_y);
    for (int row = first_row;;) {
      auto *out = straight ? static_cast<Element *>(output.histograms) +
                                 static_cast<std::ptrdiff_t>(row) * row_.cols * row_.bins
                           : reinterpret_cast<Element *>(scratch.row.data());
      const int stride = straight ? row_.bins : row_.column_stride;
      slide_row(kind, columns.columns(), columns.first(), row_, unit, out, stride);
      if (params_.reduction != LocalReduction::none)
        reduce_row(out, row, output, model);
      else if (!straight)
        write_planes(out, row, static_cast<Element *>(output.histograms));
      if (++row == end_row) return;
      for (int i = params_.stride_y; i > 0; --i) columns.move_down(row * params_.stride_y - i);
    }
  }

  template <typename Element>
  void write_planes(const Element *histograms, int row, Element *out) const {
    for (int bin = 0; bin < params_.bins; ++bin) {
      Element *plane = out + (static_cast<std::ptrdiff_t>(bin) * rows_ + row) * row_.cols;
      for (int col = 0; col < row_.cols; ++col) plane[col] = histograms[col * row_.column_stride + bin];
    }
  }

  template <typename Element>
  void reduce_row(const Element *histograms, int row, const LocalHistogramOutput &output,
                  const float *model) const {
    const float area = static_cast<float>(params_.window.width * params_.window.height);
    for (int col = 0; col < row_.cols; ++col, histograms += row_.column_stride) {
      const float total = needs_total(params_) ? static_cast<float>(histograms[params_.bins]) : area;
      Reduced reduced;
      for (int bin = 0; bin < params_.bins; ++bin)
        reduced =
            reduce_bin(params_.reduction, reduced, bin, static_cast<float>(histograms[bin]), total, model);
      reduced = finish_reduction(params_.reduction, reduced, total);
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(row) * row_.cols + col;
      output.value[at] = reduced.value;
      if (output.argmax != nullptr) output.argmax[at] = static_cast<std::uint16_t>(reduced.bin);
    }
  }

  Execution execution_;
  Size size_;
  LocalHistogramParams params_;
  OrientationTable table_;
  RowShape row_;
  int rows_;
  std::vector<Map> map_;
  std::vector<Scratch<Map>> scratch_;  // one for each thread
  std::vector<GradientRow> gradients_;
};

}  // namespace

std::size_t scratch_bytes_cpu(int threads, Size size, const LocalHistogramParams &params) {
  const ScratchSizes sizes(size, params);
  const std::size_t column_bytes = is_weighted(sums_of(params)) ? sizeof(WeightMap) : sizeof(BinMap);
  return static_cast<std::size_t>(threads) *
         (sizes.columns * column_bytes + (sizes.first + sizes.row) * sizeof(std::uint64_t));
}

Status make_local_histogram_cpu(const Execution &execution, Size size, const LocalHistogramParams &params,
                                std::unique_ptr<LocalHistogram> *room) {
  if (is_weighted(sums_of(params)))
    *room = std::make_unique<LocalHistogramCpu<WeightMap>>(execution, size, params);
  else
    *room = std::make_unique<LocalHistogramCpu<BinMap>>(execution, size, params);
  return {};
}

}  // namespace cudavision::localhist
