// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/histogram/plot_labels.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "cuda/draw/text.h"
#include "cuda/histogram/plot_rules.h"

namespace cudavision {
namespace {

void append_ticks(std::vector<Primitive> *labels, const HistogramPlot &plot, const Region &panel, int scale) {
  const int bottom = panel.y + panel.height - 1;
  for (int quarter = 1; quarter < 4; ++quarter) {
    const int x = panel.x + panel.width * quarter / 4;
    labels->push_back(make_primitive(Primitive::Kind::filled_rectangle, 1, plot.outline, x,
                                     bottom - 3 * scale, x + scale - 1, bottom));
  }
}

}  // namespace

std::vector<Primitive> plot_labels(const HistogramPlot &plot, int channels, const char *names,
                                   const HistogramParams &params) {
  const int scale = std::max(1, plot.area.height / 120);
  const std::string low = std::to_string(params.range_min), high = std::to_string(params.range_max - 1);
  const int gap = 2 * scale + plot.line_width, height = kTextHeight * scale;
  const int needed = text_width(low, scale) + text_width(high, scale) + text_width("Y", scale) + 6 * gap;
  std::vector<Primitive> labels;
  for (int channel = 0; channel < channels; ++channel) {
    const Region panel = histogram::panel_of(plot, channel, channels);
    if (panel.width < needed || panel.height < 4 * height) return {};
    const TextStyle style{.scale = scale, .color = plot.outline, .background = plot.background};
    const std::string_view name(names + channel, 1);
    const int y = panel.y + gap;
    append_ticks(&labels, plot, panel, scale);
    append_text(&labels, low, panel.x + gap, y, style);
    append_text(&labels, name, panel.x + 4 * gap + text_width(low, scale), y,
                {.scale = scale, .color = plot.bars[channel], .background = plot.background});
    append_text(&labels, high, panel.x + panel.width - gap - text_width(high, scale), y, style);
  }
  return labels;
}

}  // namespace cudavision
