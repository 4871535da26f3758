// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudahistogram: its description and its properties.
/**
 * SECTION:element-cudahistogram
 * @title: cudahistogram
 * @short_description: Histogram of the luma or of each colour channel
 *
 * cudahistogram counts the values of every frame exactly, as `cv::calcHist` does, and attaches the counts as
 * the tensor `histogram`: `[channels][bins]`, u32. With `mode=luma` there is one channel; with
 * `mode=channels` the channels are R, G, B or Y, U, V, independent of their order in memory; alpha is not
 * counted. With `display` the histogram is plotted on the frame, with one panel per channel.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! videoconvert ! cudahistogram ! videoconvert ! autovideosink
 * gst-launch-1.0 videotestsrc num-buffers=1 ! cudahistogram display=false ! cudavisionjson tensor-data=full ! fakesink
 * ]|
 *
 * Since: 0.2
 */
#include "gst/base/element/element.h"
#include "gst/histogram/histogram_operation.h"

namespace cudavision {
namespace {

GType mode_type() {
  return enum_type("GstCudaVisionHistogramMode",
                   {{HistogramMode::luma, "One channel: the luma", "luma"},
                    {HistogramMode::channels, "One channel for each of R, G, B or Y, U, V", "channels"}});
}

struct HistogramElement {
  using Operation = HistogramOperation;

  static constexpr ElementText kText{
      "GstCudaHistogram", "Histogram", "Filter/Analyzer/Video/Hardware",
      "Counts the values of every frame as cv::calcHist does, on an NVIDIA GPU or on the CPU"};

  static std::vector<Property<HistogramSettings>> properties() {
    using S = HistogramSettings;
    return {integer_property<S>({"bins", "Bins", "Number of bins of equal width"}, &S::bins,
                                HistogramRanges::bins),
            enum_property<S>({"mode", "Mode", "Which channels are counted"}, mode_type(), &S::mode),
            integer_property<S>({"range-min", "Range minimum", "The lowest value that is counted"},
                                &S::range_min, HistogramRanges::range_min),
            integer_property<S>({"range-max", "Range maximum",
                                 "Only values below this one are counted; must be greater than range-min"},
                                &S::range_max, HistogramRanges::range_max)};
  }
};

}  // namespace
}  // namespace cudavision

CUDAVISION_DEFINE_ELEMENT(cudahistogram, cudavision::HistogramElement)
