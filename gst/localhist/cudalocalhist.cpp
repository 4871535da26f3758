// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudalocalhist: its description and its properties.
/**
 * SECTION:element-cudalocalhist
 * @title: cudalocalhist
 * @short_description: The histogram of every window of the frame
 *
 * cudalocalhist computes the histogram of brightness, or of the orientations of gradients, of every window of the luma
 * that lies completely inside the frame. All histograms are attached as the tensor `local-histogram`, indexed by the
 * top left pixels of the windows: `[rows][cols][bins]`, or `[bins][rows][cols]` with `layout=planar`. The elements are
 * u16 if the area of a window fits it, otherwise u32; f32 for weighted gradients. Counts are exact. Bin i of gradients
 * holds the angles from 360 i / bins degrees up to, but not including, those of the next bin, measured from right
 * towards down; a pixel without a gradient is not counted.
 *
 * The histograms of all windows of a frame of 1920x1080 can take gigabytes. With `reduce` each histogram is
 * reduced to one number before anything is written: its dominant bin (`local-histogram-argmax`, u16, and
 * `local-histogram-share`, f32), its entropy in bits (`local-histogram-entropy`, f32) or its distance to a
 * model (`local-histogram-distance`, f32, 0 to 2), `[rows][cols]` each. The model is the histogram of the
 * model region, taken from the first frame after the region is set.
 *
 * With `display` the dominant bin is painted as hue and its share as brightness, around the centres of the
 * windows. Entropy is painted as heat, from 0 (brightness) or half of the greatest possible value (gradients)
 * up, and so is distance: windows that resemble the model are bright.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! videoconvert ! cudalocalhist window-width=8 window-height=8 \
 *   ! videoconvert ! autovideosink
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! videoconvert ! cudalocalhist reduce=distance \
 *   feature=brightness bins=32 model-region-x=300 model-region-y=200 model-region-width=40 model-region-height=80 \
 *   window-width=40 window-height=80 ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.2
 */
#include "gst/base/element/element.h"
#include "gst/gradient/gradient_properties.h"
#include "gst/localhist/localhist_operation.h"

namespace cudavision {
namespace {

GType feature_type() {
  return enum_type("GstCudaVisionLocalHistFeature",
                   {{LocalHistFeature::brightness, "The luma", "brightness"},
                    {LocalHistFeature::gradient, "The orientation of the luma's gradient", "gradient"}});
}

GType layout_type() {
  return enum_type("GstCudaVisionLocalHistLayout",
                   {{LocalHistLayout::interleaved, "[rows][cols][bins]", "interleaved"},
                    {LocalHistLayout::planar, "[bins][rows][cols]", "planar"}});
}

GType reduction_type() {
  return enum_type("GstCudaVisionLocalHistReduction",
                   {{LocalHistReduction::none, "The histograms themselves", "none"},
                    {LocalHistReduction::argmax, "The dominant bin and its share", "argmax"},
                    {LocalHistReduction::entropy, "The entropy in bits", "entropy"},
                    {LocalHistReduction::distance, "The L1 distance to the model's shares", "distance"}});
}

// Setting one of these properties, even to the same value, has the model taken again.
Property<LocalHistSettings> model_property(PropertyText text, int LocalHistSettings::*member) {
  Property<LocalHistSettings> property = integer_property<LocalHistSettings>(text, member, 0, G_MAXINT);
  property.set = [member](LocalHistSettings &s, const GValue *v) {
    s.*member = g_value_get_int(v);
    ++s.model_changes;
  };
  return property;
}

std::vector<Property<LocalHistSettings>> histogram_properties() {
  using S = LocalHistSettings;
  return {enum_property<S>({"feature", "Feature", "What is counted"}, feature_type(), &S::feature),
          enum_property<S>({"weight", "Weight", "What a gradient adds to its bin"}, gradient_weight_type(),
                           &S::weight),
          enum_property<S>({"operator", "Operator", "How gradients are computed"}, gradient_operator_type(),
                           &S::op),
          integer_property<S>({"bins", "Bins", "Number of bins of equal width (brightness: at most 256)"},
                              &S::bins, LocalHistRanges::bins),
          integer_property<S>({"window-width", "Window width", "Width of a window in pixels"},
                              &S::window_width, LocalHistRanges::window_side),
          integer_property<S>({"window-height", "Window height", "Height of a window in pixels"},
                              &S::window_height, LocalHistRanges::window_side),
          integer_property<S>({"stride-x", "Stride x", "Pixels from one window to the next on its right"},
                              &S::stride_x, LocalHistRanges::stride),
          integer_property<S>({"stride-y", "Stride y", "Pixels from one window to the next below it"},
                              &S::stride_y, LocalHistRanges::stride),
          enum_property<S>({"layout", "Layout", "Order of the dimensions of the tensor"}, layout_type(),
                           &S::layout),
          enum_property<S>({"reduce", "Reduce", "What each histogram is reduced to"}, reduction_type(),
                           &S::reduction)};
}

std::vector<Property<LocalHistSettings>> model_properties() {
  using S = LocalHistSettings;
  return {
      model_property({"model-region-x", "Model region x", "Left column of the model's region in pixels"},
                     &S::model_x),
      model_property({"model-region-y", "Model region y", "Top row of the model's region in pixels"},
                     &S::model_y),
      model_property({"model-region-width", "Model region width",
                      "Width of the model's region in pixels (0 = to the right end of the analysed region)"},
                     &S::model_width),
      model_property({"model-region-height", "Model region height",
                      "Height of the model's region in pixels (0 = to the bottom of the analysed region)"},
                     &S::model_height)};
}

struct LocalHistElement {
  using Operation = LocalHistOperation;

  static constexpr ElementText kText{
      "GstCudaLocalHist", "Local histograms", "Filter/Analyzer/Video/Hardware",
      "The histogram of brightness or of oriented gradients in every window, on an NVIDIA GPU or on the CPU"};

  static std::vector<Property<LocalHistSettings>> properties() {
    return joined(histogram_properties(), model_properties());
  }
};

}  // namespace
}  // namespace cudavision

CUDAVISION_DEFINE_ELEMENT(cudalocalhist, cudavision::LocalHistElement)
