// SPDX-License-Identifier: LGPL-2.1-or-later
// The histogram and its plot: validation, bins, the layout of samples, places, and choice of a backend.
#include "cuda/histogram/histogram.h"

#include <algorithm>
#include <cmath>

#include "cuda/common/backends.h"
#include "cuda/common/check_range.h"
#include "cuda/histogram/histogram_backends.h"
#include "cuda/histogram/plot.h"

namespace cudavision {

Status validate(const HistogramParams &params) {
  CUDAVISION_TRY(check_range("bins", params.bins, HistogramRanges::bins));
  CUDAVISION_TRY(check_range("range-min", params.range_min, HistogramRanges::range_min));
  CUDAVISION_TRY(check_range("range-max", params.range_max, HistogramRanges::range_max));
  if (params.range_min >= params.range_max)
    return invalid_argument("range-min (" + std::to_string(params.range_min) +
                            ") must be less than range-max (" + std::to_string(params.range_max) + ")");
  return {};
}

int bin_of(int value, const HistogramParams &params) {
  if (value < params.range_min || value >= params.range_max) return histogram::kOutOfRange;
  const double a = params.bins / static_cast<double>(params.range_max - params.range_min),
               b = -a * params.range_min;
  return std::clamp(static_cast<int>(std::floor(value * a + b)), 0, params.bins - 1);
}

const histogram::BinTable &histogram::Bins::of(const HistogramParams &params) {
  if (params == params_) return table_;
  for (int v = 0; v < kValues; ++v) table_.bin[v] = static_cast<std::int16_t>(bin_of(v, params));
  params_ = params;
  return table_;
}

Samples luma_samples(ImageView<const std::uint8_t> luma) {
  Samples samples;
  samples.rows[0] = {
      .data = luma.data, .pitch_bytes = luma.pitch_bytes, .row_bytes = luma.width, .rows = luma.height};
  return samples;
}

namespace {

// The samples of one component that cover a region.
struct Extent {
  const std::uint8_t *first;
  int width, height;
};

Extent extent_of(const Component &c, Region region) {
  const int x = region.x >> c.shift_x, y = region.y >> c.shift_y;
  return {&c.at(region.x, region.y), ((region.x + region.width - 1) >> c.shift_x) - x + 1,
          ((region.y + region.height - 1) >> c.shift_y) - y + 1};
}

// The samples of a single component: every step_bytes-th byte.
SampleRows rows_of(const Component &c, Region region, int channel) {
  const Extent extent = extent_of(c, region);
  return {.data = extent.first,
          .pitch_bytes = c.pitch_bytes,
          .row_bytes = (extent.width - 1) * c.step_bytes + 1,
          .rows = extent.height,
          .period = c.step_bytes,
          .channel_of = {channel, -1, -1, -1}};
}

}  // namespace

Samples channel_samples(const Frame &frame, Region region) {
  Samples samples;
  samples.channels = samples.count = frame.component_count();
  for (int i = 0; i < samples.count; ++i) samples.rows[i] = rows_of(frame.component[i], region, i);
  if (frame.model != ColorModel::rgb) return samples;
  // RGB is packed: one pass over the pixels counts all three channels.
  const std::uint8_t *first = std::min({samples.rows[0].data, samples.rows[1].data, samples.rows[2].data});
  SampleRows &packed = samples.rows[0];
  int channel_of[4] = {-1, -1, -1, -1};
  for (int i = 0; i < 3; ++i) channel_of[samples.rows[i].data - first] = i;
  packed.data = first;
  packed.row_bytes = (region.width - 1) * packed.period + 3;
  std::copy_n(channel_of, 4, packed.channel_of);
  samples.count = 1;
  return samples;
}

Status make_histogram(const Execution &execution, std::unique_ptr<Histogram> *histogram) {
  return run_on_backend(execution, CUDAVISION_BACKENDS(histogram::make_histogram), histogram);
}

HistogramPlot place_plot(Region region, int channels) {
  HistogramPlot plot;
  plot.line_width = std::max(1, region.height / 720);
  const int gap = std::min(region.width, region.height) / 40;
  const int width = std::max(region.width * 2 / 5, 256 + 2 * plot.line_width);
  const int height = std::max(region.height / 3, 48 * channels);
  plot.area.width = std::max(1, std::min(width, region.width - 2 * gap));
  plot.area.height = std::max(1, std::min(height, region.height - 2 * gap));
  plot.area.x = region.x + std::min(gap, region.width - plot.area.width);
  plot.area.y = region.y + std::max(0, region.height - gap - plot.area.height);
  return plot;
}

Status plot_histogram(const Execution &execution, const std::uint32_t *counts, int channels, int bins,
                      const HistogramPlot &plot, Primitive *primitives) {
  if (channels < 1 || channels > kMaxChannels || bins < 1 || bins > kMaxBins)
    return invalid_argument("a histogram of " + std::to_string(channels) + " channels of " +
                            std::to_string(bins) + " bins cannot be plotted");
  return run_on_backend(execution, CUDAVISION_BACKENDS(histogram::plot), counts, channels, bins, plot,
                        primitives);
}

}  // namespace cudavision
