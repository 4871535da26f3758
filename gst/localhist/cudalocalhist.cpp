// SPDX-License-Identifier: LGPL-2.1-or-later
// clang-format off
/**
 * SECTION:element-cudalocalhist
 * @title: cudalocalhist
 * @short_description: The histogram of every window of the frame
 *
 * cudalocalhist counts brightness, or the orientations of gradients, in every window of the luma that lies wholly
 * inside the frame, and attaches all histograms as the tensor `local-histogram`, named by the windows' top left
 * pixels: `[rows][cols][bins]`, or with `layout=planar` `[bins][rows][cols]`; u16 where a window's area fits that,
 * u32 otherwise, and f32 for weighted gradients. Counts are exact. Bin i of gradients holds the angles from 360 i /
 * bins degrees up to, but not including, the next, from right toward down; a pixel without gradient is not counted.
 *
 * A map of 1920x1080 histograms has gigabytes. With `reduce` each window becomes one number before anything is
 * written: its dominant bin (`local-histogram-argmax`, u16, and `local-histogram-share`, f32), its entropy in bits
 * (`local-histogram-entropy`, f32) or its distance to a model (`local-histogram-distance`, f32, 0 to 2), `[rows][cols]`
 * each. The model is the histogram of the model region, taken from the first frame after it is set.
 *
 * With `display` the dominant bin is painted as hue and its share as brightness, around the centres of the windows;
 * entropy as heat, and distance so that what resembles the model glows.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! videoconvert ! cudalocalhist window-width=8 window-height=8 ! videoconvert ! autovideosink
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! videoconvert ! cudalocalhist reduce=distance feature=brightness bins=32 model-region-x=300 model-region-y=200 model-region-width=40 model-region-height=80 window-width=40 window-height=80 ! videoconvert ! autovideosink
 * ]|
 */
// clang-format on
#include "gst/gstcudalocalhist.h"

#include "gst/base/properties.h"
#include "gst/base/valid_settings.h"
#include "gst/gradient/gradient_properties.h"
#include "gst/localhist/localhist_operation.h"

namespace {

using cudavision::HistogramLayout;
using cudavision::LocalFeature;
using cudavision::LocalHistOperation;
using cudavision::LocalHistSettings;
using cudavision::LocalReduction;
using cudavision::Site;
using cudavision::Status;

struct State {
  LocalHistSettings settings;  // under the object lock
  cudavision::ValidSettings<LocalHistSettings> valid;
};

}  // namespace

struct GstCudaVisionLocalHist {
  GstCudaVisionFilter parent;
  State *state;
};
struct GstCudaVisionLocalHistClass {
  GstCudaVisionFilterClass parent_class;
};

G_DEFINE_TYPE(GstCudaVisionLocalHist, gst_cuda_vision_local_hist, GST_TYPE_CUDA_VISION_FILTER)
GST_ELEMENT_REGISTER_DEFINE(cudalocalhist, "cudalocalhist", GST_RANK_NONE, GST_TYPE_CUDA_VISION_LOCAL_HIST)

namespace {

using Properties = cudavision::PropertyTable<LocalHistSettings>;
using Property = cudavision::Property<LocalHistSettings>;

State *state_of(gpointer element) { return static_cast<GstCudaVisionLocalHist *>(element)->state; }

Status make_operation(GstCudaVisionFilter *filter, const Site &site,
                      std::unique_ptr<cudavision::Operation> *operation) {
  const auto take_settings = [filter]() -> const LocalHistSettings & {
    return state_of(filter)->valid.take(filter, Properties::snapshot(filter));
  };
  auto made = std::make_unique<LocalHistOperation>(GST_ELEMENT(filter), take_settings);
  gboolean display = FALSE;
  g_object_get(filter, "display", &display, nullptr);
  CUDAVISION_TRY(made->allocate(site, display != FALSE));
  *operation = std::move(made);
  return {};
}

Status check_settings(GstCudaVisionFilter *filter) {
  return state_of(filter)->valid.begin(Properties::snapshot(filter));
}

GType feature_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(LocalFeature::brightness), "The luma", "brightness"},
      {static_cast<int>(LocalFeature::gradient), "The orientation of the luma's gradient", "gradient"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstCudaVisionLocalHistFeature", values);
  return type;
}

GType layout_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(HistogramLayout::interleaved), "[rows][cols][bins]", "interleaved"},
      {static_cast<int>(HistogramLayout::planar), "[bins][rows][cols]", "planar"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstCudaVisionLocalHistLayout", values);
  return type;
}

GType reduction_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(LocalReduction::none), "The histograms as they are", "none"},
      {static_cast<int>(LocalReduction::argmax), "The bin that holds most, and its share", "argmax"},
      {static_cast<int>(LocalReduction::entropy), "The entropy in bits", "entropy"},
      {static_cast<int>(LocalReduction::distance), "The L1 distance to the model's shares", "distance"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstCudaVisionLocalHistReduction", values);
  return type;
}

// Setting it has the model taken anew, from the same place too.
Property model_property(cudavision::PropertyText text, int LocalHistSettings::*member, int most) {
  Property property = cudavision::integer_property(text, member, 0, most);
  property.set = [member](LocalHistSettings &s, const GValue *v) {
    s.*member = g_value_get_int(v);
    ++s.model_changes;
  };
  return property;
}

Property max_memory_property() {
  return {g_param_spec_uint64("max-memory", "Maximal memory",
                              "Bytes that the results and the scratch of a frame may take; more is refused "
                              "when caps are negotiated (0 = what the device or the machine has)",
                              0, G_MAXUINT64, 0, cudavision::flags_of(cudavision::Mutable::playing)),
          [](LocalHistSettings &s, const GValue *v) { s.max_memory = g_value_get_uint64(v); },
          [](const LocalHistSettings &s, GValue *v) { g_value_set_uint64(v, s.max_memory); }};
}

void install_properties(GObjectClass *klass) {
  using S = LocalHistSettings;
  using cudavision::enum_property;
  using cudavision::integer_property;
  Properties::install(
      klass, [](GObject *object) { return &state_of(object)->settings; },
      {enum_property<S>({"feature", "Feature", "What is counted"}, feature_type(), &S::feature),
       enum_property<S>({"weight", "Weight", "What a gradient adds to its bin"},
                        cudavision::gradient_weight_type(), &S::weight),
       enum_property<S>({"operator", "Operator", "How gradients are computed"},
                        cudavision::gradient_operator_type(), &S::op),
       integer_property<S>({"bins", "Bins", "Number of bins of equal width (brightness: at most 256)"},
                           &S::bins, 1, cudavision::kMaxGradientBins),
       integer_property<S>({"window-width", "Window width", "Width of a window in pixels"}, &S::window_width,
                           1, cudavision::kMaxWindowSide),
       integer_property<S>({"window-height", "Window height", "Height of a window in pixels"},
                           &S::window_height, 1, cudavision::kMaxWindowSide),
       integer_property<S>({"stride-x", "Stride x", "Pixels from one window to the next to its right"},
                           &S::stride_x, 1, cudavision::kMaxWindowSide),
       integer_property<S>({"stride-y", "Stride y", "Pixels from one window to the next below"}, &S::stride_y,
                           1, cudavision::kMaxWindowSide),
       enum_property<S>({"layout", "Layout", "How the histograms lie in the tensor"}, layout_type(),
                        &S::layout),
       enum_property<S>({"reduce", "Reduce", "What becomes of each histogram"}, reduction_type(),
                        &S::reduction),
       model_property({"model-region-x", "Model region x", "Left column of the model's region in pixels"},
                      &S::model_x, G_MAXINT),
       model_property({"model-region-y", "Model region y", "Top row of the model's region in pixels"},
                      &S::model_y, G_MAXINT),
       model_property({"model-region-width", "Model region width",
                       "Width of the model's region in pixels (0 = to the right end of what is analysed)"},
                      &S::model_width, G_MAXINT),
       model_property({"model-region-height", "Model region height",
                       "Height of the model's region in pixels (0 = to the bottom of what is analysed)"},
                      &S::model_height, G_MAXINT),
       max_memory_property()});
}

void finalize(GObject *object) {
  delete state_of(object);
  G_OBJECT_CLASS(gst_cuda_vision_local_hist_parent_class)->finalize(object);
}

}  // namespace

static void gst_cuda_vision_local_hist_class_init(GstCudaVisionLocalHistClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = finalize;
  install_properties(G_OBJECT_CLASS(klass));
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(
      element, "Local histograms", "Filter/Analyzer/Video/Hardware",
      "The histogram of brightness or of oriented gradients in every window, on an NVIDIA GPU or on the CPU",
      "gst-cudavision");
  cudavision::add_video_pads(element);
  auto *filter = reinterpret_cast<GstCudaVisionFilterClass *>(klass);
  filter->make_operation = make_operation;
  filter->check_settings = check_settings;
}

static void gst_cuda_vision_local_hist_init(GstCudaVisionLocalHist *local_hist) {
  local_hist->state = new State();
}
