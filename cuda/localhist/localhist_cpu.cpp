// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of local histograms. The histograms of the pixel columns, each over the height of a window, move down
// the picture row by row, and the window slides along the columns. Each task computes a strip of rows of windows.
#include <algorithm>
#include <array>

#include "cuda/common/memory_budget.h"
#include "cuda/common/per_thread.h"
#include "cuda/gradient/gradient_cpu.h"
#include "cuda/localhist/columns_cpu.h"
#include "cuda/localhist/localhist_backends.h"

namespace cudavision::localhist {
namespace {

constexpr int kMapRowsPerTask = 16;
// The fewest rows of windows per task. A task first counts as many rows of pixels as a window is high, and these rows
// of windows share that cost.
constexpr int kMinRowsPerTask = 8;

template <typename Map>
class LocalHistCpu final : public LocalHist {
 public:
  LocalHistCpu(const Execution &execution, Size size, const LocalHistParams &params)
      : execution_(execution),
        size_(size),
        params_(params),
        table_(make_orientation_table(params.bins)),
        row_(row_shape(size, params)),
        rows_((size.height - params.window.height) / params.stride_y + 1),
        map_(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height)),
        scratch_(*execution.workers, [size, params] { return Scratch<Map>(size, params); }),
        gradients_(*execution.workers, [width = size.width] { return GradientRow(width); }) {}

  Status run(ImageView<const std::uint8_t> luma, const LocalHistOutput &output, const float *model,
             Input) override {
    CUDAVISION_TRY(check_run(luma.size(), size_, params_, output, model));
    CUDAVISION_TRY(fill_map(luma, {0, 0, size_.width, size_.height}));
    const int threads = execution_.workers->thread_count();
    const int tasks = threads == 1 ? 1 : std::min(2 * threads, divide_up(rows_, kMinRowsPerTask));
    scratch_.fit(*execution_.workers);
    return execution_.workers->run(tasks, [&](int task, int slot) {
      slide_strip(rows_ * task / tasks, rows_ * (task + 1) / tasks, scratch_[slot], output, model);
    });
  }

  Status take_model(ImageView<const std::uint8_t> luma, Region region, float *model) override {
    CUDAVISION_TRY(check_region(luma.size(), size_, region));
    CUDAVISION_TRY(fill_map(luma, region));
    std::array<std::uint64_t, LocalHistRanges::bins.most> sums{};
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

  // Computes the samples of all pixels in the rows of the region.
  Status fill_map(ImageView<const std::uint8_t> luma, Region region) {
    gradients_.fit(*execution_.workers);
    return execution_.workers->run_rows(region.height, kMapRowsPerTask, [&](int row, int slot) {
      const int y = region.y + row;
      if (params_.feature == LocalHistFeature::brightness)
        map_brightness(luma.row(y), map().row(y));
      else
        gradients_[slot].map(luma, y, params_.op, params_.weight, table_, map().row(y));
    });
  }

  void map_brightness(const std::uint8_t *luma, Map *samples) const {
    for (int x = 0; x < size_.width; ++x)
      samples[x] = static_cast<Map>(brightness_bin(luma[x], params_.bins));
  }

  void slide_strip(int first_row, int end_row, Scratch<Map> &scratch, const LocalHistOutput &output,
                   const float *model) {
    constexpr bool kWeighted = std::is_same_v<Map, WeightMap>;
    constexpr SumKind kNarrow = kWeighted ? SumKind::weights32 : SumKind::counts16,
                      kWide = kWeighted ? SumKind::weights64 : SumKind::counts32;
    if (sums_of(params_) == kNarrow)
      slide_rows<kNarrow>(first_row, end_row, scratch, output, model);
    else
      slide_rows<kWide>(first_row, end_row, scratch, output, model);
  }

  // Computes the rows [first_row, end_row) of windows, and writes their results.
  template <SumKind kind>
  void slide_rows(int first_row, int end_row, Scratch<Map> &scratch, const LocalHistOutput &output,
                  const float *model) {
    using Element = typename SumTypes<kind>::Element;
    const bool direct = writes_directly(params_);
    const float unit = params_.reduction == LocalHistReduction::none
                           ? 1.0f / static_cast<float>(weight_scale(params_.weight))
                           : 1.0f;
    Columns<kind, Map> columns(map(), params_, row_, scratch);
    columns.count(first_row * params_.stride_y);
    for (int row = first_row;;) {
      auto *out = direct ? static_cast<Element *>(output.histograms) +
                               static_cast<std::ptrdiff_t>(row) * row_.cols * row_.bins
                         : reinterpret_cast<Element *>(scratch.row.data());
      const int stride = direct ? row_.bins : row_.column_stride;
      slide_row(kind, columns.columns(), columns.first(), row_, unit, out, stride);
      if (params_.reduction != LocalHistReduction::none)
        reduce_row(out, row, output, model);
      else if (!direct)
        write_planes(out, row, static_cast<Element *>(output.histograms));
      if (++row == end_row || execution_.workers->stopped()) return;
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
  void reduce_row(const Element *histograms, int row, const LocalHistOutput &output,
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
  LocalHistParams params_;
  OrientationTable table_;
  RowShape row_;
  int rows_;
  Array<Map> map_;
  PerThread<Scratch<Map>> scratch_;
  PerThread<GradientRow> gradients_;
};

}  // namespace

Status make_localhist_cpu(const Execution &execution, Size size, const LocalHistParams &params,
                          std::unique_ptr<LocalHist> *localhist) {
  return is_weighted(sums_of(params)) ? make_as<LocalHistCpu<WeightMap>>(localhist, execution, size, params)
                                      : make_as<LocalHistCpu<BinMap>>(localhist, execution, size, params);
}

}  // namespace cudavision::localhist
