// SPDX-License-Identifier: LGPL-2.1-or-later
// How a histogram is plotted, for every element that plots one.
#pragma once

#include <gst/video/video.h>

#include "cuda/histogram/plot.h"
#include "gst/base/frame/format.h"

namespace cudavision {

// Places a plot in a region and sets its colours. Three channels are R, G, B or Y, U, V, as the caps say.
inline HistogramPlot styled_plot(Region region, int channels, const GstVideoInfo &info) {
  HistogramPlot plot = place_plot(region, channels);
  plot.background = color_of(0xa0000000, info);
  plot.outline = color_of(0xffffffff, info);
  static constexpr guint32 kLuma[3] = {0xffffffff, 0, 0}, kRgb[3] = {0xffff4040, 0xff40ff40, 0xff6080ff},
                           kYuv[3] = {0xffffffff, 0xff6080ff, 0xffff4040};
  const guint32 *colors = channels == 1 ? kLuma : GST_VIDEO_INFO_IS_RGB(&info) ? kRgb : kYuv;
  for (int i = 0; i < channels; ++i) plot.bars[i] = color_of(colors[i], info);
  return plot;
}

}  // namespace cudavision
