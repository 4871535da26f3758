// SPDX-License-Identifier: LGPL-2.1-or-later
// clang-format off
/**
 * SECTION:element-cudaopticalflow
 * @title: cudaopticalflow
 * @short_description: The motion of every pixel
 *
 * cudaopticalflow says where every pixel of the frame before went in this one: pyramidal Lucas-Kanade with the rules of
 * OpenCV's `cv::calcOpticalFlowPyrLK`, at every pixel, on an NVIDIA GPU or, without one, on the CPU. The vectors are
 * attached as the tensor `optical-flow`, `[rows][cols][2]`, f32: x to the right and y downwards, in pixels per frame.
 * A second tensor `optical-flow-valid`, `[rows][cols]`, u8, is 1 where a vector can be trusted and 0 where the picture has
 * no texture, or where the pixel left the frame. With `stride` s element (i, j) belongs to pixel (s i, s j).
 *
 * With `display` the picture is replaced by colours, hue for direction and saturation for speed: what stands still is
 * white, what is not known is black. With `display-mode=arrows` arrows are drawn on the picture instead.
 *
 * The first frame, and the first one after a flush, a discontinuity, new caps or another region, has no flow: no tensor,
 * and its picture stays. With `every-nth` the flow is that since the last frame that was worked on.
 *
 * `preset` sets several properties at once; those that are set after it change again what it set.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! videoconvert ! cudaopticalflow preset=fast ! videoconvert ! autovideosink
 * gst-launch-1.0 v4l2src ! videoconvert ! cudaopticalflow preset=fast display-mode=arrows ! videoconvert ! autovideosink
 * ]|
 */
// clang-format on
#include "gst/gstcudaopticalflow.h"

#include "gst/base/properties.h"
#include "gst/base/valid_settings.h"
#include "gst/opticalflow/opticalflow_operation.h"

namespace {

using cudavision::FlowDisplayMode;
using cudavision::FlowPreset;
using cudavision::FlowSettings;
using cudavision::Status;

struct State {
  FlowSettings settings;  // under the object lock
  cudavision::ValidSettings<FlowSettings> valid;
};

}  // namespace

struct GstCudaVisionOpticalFlow {
  GstCudaVisionFilter parent;
  State *state;
};
struct GstCudaVisionOpticalFlowClass {
  GstCudaVisionFilterClass parent_class;
};

G_DEFINE_TYPE(GstCudaVisionOpticalFlow, gst_cuda_vision_optical_flow, GST_TYPE_CUDA_VISION_FILTER)
GST_ELEMENT_REGISTER_DEFINE(cudaopticalflow, "cudaopticalflow", GST_RANK_NONE,
                            GST_TYPE_CUDA_VISION_OPTICAL_FLOW)

namespace {

using Properties = cudavision::PropertyTable<FlowSettings>;

Status make_operation(GstCudaVisionFilter *filter, const cudavision::Site &site,
                      std::unique_ptr<cudavision::Operation> *operation) {
  auto *flow = reinterpret_cast<GstCudaVisionOpticalFlow *>(filter);
  const auto take_settings = [flow]() -> const FlowSettings & {
    return flow->state->valid.take(flow, Properties::snapshot(flow));
  };
  auto made = std::make_unique<cudavision::FlowOperation>(take_settings);
  CUDAVISION_TRY(made->allocate(site));
  *operation = std::move(made);
  return {};
}

Status check_settings(GstCudaVisionFilter *filter) {
  auto *flow = reinterpret_cast<GstCudaVisionOpticalFlow *>(filter);
  return flow->state->valid.begin(Properties::snapshot(flow));
}

GType preset_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(FlowPreset::none), "Sets nothing", "none"},
      {static_cast<int>(FlowPreset::fast),
       "window-size=15 levels=3 iterations=5 epsilon=0.03 stride=4 forward-backward=0", "fast"},
      {static_cast<int>(FlowPreset::medium),
       "window-size=15 levels=3 iterations=10 epsilon=0.03 stride=2 forward-backward=0", "medium"},
      {static_cast<int>(FlowPreset::quality),
       "window-size=21 levels=4 iterations=30 epsilon=0.01 stride=1 forward-backward=1", "quality"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstCudaVisionFlowPreset", values);
  return type;
}

GType stride_type() {
  static const GEnumValue values[] = {{1, "Every pixel", "1"},
                                      {2, "Every 2nd pixel of every 2nd row", "2"},
                                      {4, "Every 4th pixel of every 4th row", "4"},
                                      {8, "Every 8th pixel of every 8th row", "8"},
                                      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstCudaVisionFlowStride", values);
  return type;
}

GType display_mode_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(FlowDisplayMode::wheel),
       "Colours replace the picture: hue is direction, saturation is speed, white is still, black unknown",
       "wheel"},
      {static_cast<int>(FlowDisplayMode::arrows), "Arrows are drawn on the picture", "arrows"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstCudaVisionFlowDisplayMode", values);
  return type;
}

// Setting it sets the others.
cudavision::Property<FlowSettings> preset_property() {
  cudavision::Property<FlowSettings> property = cudavision::enum_property<FlowSettings>(
      {"preset", "Preset",
       "Sets window-size, levels, iterations, epsilon, stride and forward-backward; those set after it hold"},
      preset_type(), &FlowSettings::preset);
  property.set = [](FlowSettings &settings, const GValue *value) {
    settings.preset = static_cast<FlowPreset>(g_value_get_enum(value));
    apply_preset(settings.preset, &settings);
  };
  return property;
}

void install_properties(GObjectClass *klass) {
  using S = FlowSettings;
  using cudavision::Mutable;
  Properties::install(
      klass,
      [](GObject *object) { return &reinterpret_cast<GstCudaVisionOpticalFlow *>(object)->state->settings; },
      {preset_property(),
       cudavision::integer_property<S>(
           {"window-size", "Window size", "Side of the window around each pixel in pixels: odd numbers"},
           &S::window_size, cudavision::kMinFlowWindow, cudavision::kMaxFlowWindow),
       cudavision::integer_property<S>({"levels", "Levels",
                                        "Levels of the pyramid above the frame: each doubles the speed that "
                                        "is found (OpenCV's maxLevel)"},
                                       &S::levels, 0, cudavision::kMaxFlowLevels),
       cudavision::integer_property<S>({"iterations", "Iterations", "Steps on each level at most"},
                                       &S::iterations, 1, cudavision::kMaxFlowIterations),
       cudavision::real_property<S>(
           {"epsilon", "Epsilon", "A step of at most so many pixels is the last one"}, &S::epsilon, 0, 10),
       cudavision::real_property<S>(
           {"min-eigenvalue", "Minimum eigenvalue",
            "Vectors are invalid where the window has less texture than this in any direction (OpenCV's "
            "minEigThreshold)"},
           &S::min_eigenvalue, 0, 16),
       cudavision::enum_property<S>({"stride", "Stride", "Pixels from one vector to the next, in x and y"},
                                    stride_type(), &S::stride),
       cudavision::real_property<S>(
           {"forward-backward", "Forward-backward",
            "Vectors are invalid where the flow back does not end within so many pixels (0 = no check; takes "
            "as long again)"},
           &S::forward_backward, 0, 100),
       cudavision::enum_property<S>(
           {"display-mode", "Display mode", "What becomes of the picture when display is on"},
           display_mode_type(), &S::display_mode, Mutable::controllable),
       cudavision::real_property<S>(
           {"max-speed", "Maximum speed", "Pixels per frame at which the wheel's colours are full"},
           &S::max_speed, 0.01, 1000),
       cudavision::real_property<S>(
           {"arrow-scale", "Arrow scale", "Pixels of an arrow for each pixel of motion"}, &S::arrow_scale,
           0.1, 100),
       cudavision::color_property<S>(
           {"color", "Color", "Colour and opacity of arrows as 0xAARRGGBB (default opaque green)"},
           &S::color),
       cudavision::integer_property<S>({"line-width", "Line width", "Width of the lines of arrows in pixels"},
                                       &S::line_width, 1, 255, Mutable::controllable)});
}

void finalize(GObject *object) {
  delete reinterpret_cast<GstCudaVisionOpticalFlow *>(object)->state;
  G_OBJECT_CLASS(gst_cuda_vision_optical_flow_parent_class)->finalize(object);
}

}  // namespace

static void gst_cuda_vision_optical_flow_class_init(GstCudaVisionOpticalFlowClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = finalize;
  install_properties(G_OBJECT_CLASS(klass));
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(
      element, "Optical flow", "Filter/Analyzer/Video/Hardware",
      "Finds the motion of every pixel by pyramidal Lucas-Kanade, on an NVIDIA GPU or on the CPU",
      "gst-cudavision");
  cudavision::add_video_pads(element);
  auto *filter = reinterpret_cast<GstCudaVisionFilterClass *>(klass);
  filter->make_operation = make_operation;
  filter->check_settings = check_settings;
}

static void gst_cuda_vision_optical_flow_init(GstCudaVisionOpticalFlow *flow) { flow->state = new State(); }
