// SPDX-License-Identifier: LGPL-2.1-or-later
// The geometry of a histogram's plot, shared by both backends.
#pragma once

#include "cuda/common/host_device.h"
#include "cuda/histogram/plot.h"

namespace cudavision::histogram {

CUDAVISION_HOST_DEVICE constexpr Region panel_of(const HistogramPlot &plot, int channel, int channels) {
  const int top = plot.area.height * channel / channels, bottom = plot.area.height * (channel + 1) / channels;
  return {plot.area.x, plot.area.y + top, plot.area.width, bottom - top};
}

// Primitive i of a channel: 0 is the panel, 1 its outline, 2 + b the bar of bin b. count: of bin b; largest:
// the largest count of the channel, at least 1 if count is not 0.
CUDAVISION_HOST_DEVICE constexpr Primitive plot_primitive(const HistogramPlot &plot, int channel,
                                                          int channels, int bins, int i, std::uint32_t count,
                                                          std::uint32_t largest) {
  const Region p = panel_of(plot, channel, channels);
  const int right = p.x + p.width - 1, bottom = p.y + p.height - 1;
  if (i < 2 && (p.width < 1 || p.height < 1))
    return hidden_primitive(i == 0 ? plot.background : plot.outline);
  if (i == 0)
    return make_primitive(Primitive::Kind::filled_rectangle, 1, plot.background, p.x, p.y, right, bottom);
  if (i == 1) {
    // The outline lies within the panel, so its lines are at most as wide as the panel.
    const int shorter = p.width < p.height ? p.width : p.height;
    const int line = plot.line_width < shorter ? plot.line_width : shorter;
    const int before = (line - 1) / 2, after = line / 2;
    return make_primitive(Primitive::Kind::rectangle, line, plot.outline, p.x + before, p.y + before,
                          right - after, bottom - after);
  }
  const Color color = plot.bars[channel];
  const int margin = plot.line_width;  // the width of the outline
  const int width = p.width - 2 * margin, height = p.height - 2 * margin, bin = i - 2;
  // There is no bar for an empty bin, nor in a panel without space inside its outline.
  if (count == 0 || width < 1 || height < 1) return hidden_primitive(color);
  const int x0 = p.x + margin + width * bin / bins;
  const int next = p.x + margin + width * (bin + 1) / bins, x1 = next > x0 ? next - 1 : x0;
  const int high = static_cast<int>(
      (static_cast<unsigned long long>(count) * static_cast<unsigned>(height) + largest - 1) / largest);
  return make_primitive(Primitive::Kind::filled_rectangle, 1, color, x0, bottom - margin - high + 1, x1,
                        bottom - margin);
}

}  // namespace cudavision::histogram
