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
#include "gstcudaopticalflow.h"

#include "base/attach.h"
#include "base/format.h"
#include "base/properties.h"
#include "base/tensor_pool.h"
#include "base/valid_settings.h"
#include "common/owned_memory.h"
#include "histogram/histogram.h"
#include "opticalflow/flow_display.h"
#include "opticalflow/opticalflow.h"

namespace {

using cudavision::FlowPreset;
using cudavision::FlowVector;
using cudavision::ImageView;
using cudavision::Job;
using cudavision::Site;
using cudavision::Size;
using cudavision::Status;

enum class DisplayMode { wheel, arrows };

struct FlowSettings : cudavision::OpticalFlowParams {
  FlowPreset preset = FlowPreset::none;
  DisplayMode display_mode = DisplayMode::wheel;
  double max_speed = 8, arrow_scale = 4;
  guint32 color = 0xff00ff00;
  int line_width = 1;

  friend bool operator==(const FlowSettings &, const FlowSettings &) = default;
};

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

cudavision::FlowWheel wheel_of(const GstVideoInfo &info, double max_speed) {
  static constexpr guint32 kCorners[6] = {0xffff0000, 0xffffff00, 0xff00ff00,
                                          0xff00ffff, 0xff0000ff, 0xffff00ff};
  cudavision::FlowWheel wheel;
  for (int i = 0; i < 6; ++i) wheel.corners[i] = cudavision::color_of(kCorners[i], info);
  wheel.still = cudavision::color_of(0xffffffff, info);
  wheel.invalid = cudavision::color_of(0xff000000, info);
  wheel.max_speed = static_cast<float>(max_speed);
  return wheel;
}

class FlowOperation final : public cudavision::Operation {
 public:
  explicit FlowOperation(GstCudaVisionOpticalFlow *element) : element_(element) {}

  Status allocate(const Site &site) {
    region_ = site.region;
    context_ = site.context;
    CUDAVISION_TRY(make_optical_flow(site.execution, region_, &flow_));
    CUDAVISION_TRY(make_histogram(site.execution, &histogram_));
    CUDAVISION_TRY(counts_.allocate(site.execution, sizeof validity_));
    const auto lines = static_cast<std::size_t>(cudavision::arrow_line_count(region_));
    CUDAVISION_TRY(arrows_.allocate(site.execution, sizeof(cudavision::Primitive) * (lines + 1)));
    return make_canvas(site.execution, {GST_VIDEO_INFO_WIDTH(site.info), GST_VIDEO_INFO_HEIGHT(site.info)},
                       &canvas_);
  }

  Status run(const Job &job) override {
    const FlowSettings &settings = element_->state->valid.take(element_, Properties::snapshot(element_));
    if (job.region != last_region_) flow_->drop_previous();  // the region shows another part of the picture
    last_region_ = job.region;
    validity_[0] = validity_[1] = 0;
    has_flow_ = flow_->has_previous();
    if (!has_flow_) return flow_->run(job.luma, settings, {}, {});

    const Size size = cudavision::flow_size(region_, settings.stride);
    cudavision::TensorPool::Lease vector_lease, valid_lease;
    CUDAVISION_TRY(lease(size, &vector_lease, &valid_lease));
    const double step = settings.stride;
    const Status attached = attach_tensor(job, "optical-flow", GST_CUDA_VISION_ELEMENT_TYPE_F32,
                                          {size.height, size.width, 2}, vector_lease.buffer, step, step);
    CUDAVISION_TRY(attach_tensor(job, "optical-flow-valid", GST_CUDA_VISION_ELEMENT_TYPE_U8,
                                 {size.height, size.width}, valid_lease.buffer, step, step));
    CUDAVISION_TRY(attached);
    const ImageView<FlowVector> vectors{static_cast<FlowVector *>(vector_lease.data),
                                        size.width * static_cast<std::ptrdiff_t>(sizeof(FlowVector)),
                                        size.width, size.height};
    const ImageView<std::uint8_t> valid{static_cast<std::uint8_t *>(valid_lease.data), size.width, size.width,
                                        size.height};
    CUDAVISION_TRY(flow_->run(job.luma, settings, vectors, valid));
    if (job.report) CUDAVISION_TRY(count(job, valid));
    return job.draw ? draw(job, {vectors, valid, settings.stride, job.region}, settings) : Status();
  }

  void drop_history() override { flow_->drop_previous(); }

  void describe(GstStructure *message) override {
    gst_structure_set(message, "has-flow", G_TYPE_BOOLEAN, has_flow_, "vectors", G_TYPE_UINT,
                      validity_[0] + validity_[1], "valid-vectors", G_TYPE_UINT, validity_[1], nullptr);
  }

 private:
  // One pool for each kind of tensor of a size; a new stride makes new ones.
  Status lease(Size size, cudavision::TensorPool::Lease *vectors, cudavision::TensorPool::Lease *valid) {
    if (size != pool_size_) {
      pool_size_ = {};
      const auto count = static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
      CUDAVISION_TRY(cudavision::TensorPool::make(context_, count * sizeof(FlowVector), &vector_pool_));
      CUDAVISION_TRY(cudavision::TensorPool::make(context_, count, &valid_pool_));
      pool_size_ = size;
    }
    CUDAVISION_TRY(vector_pool_->acquire(vectors));
    const Status status = valid_pool_->acquire(valid);
    if (!status.ok()) gst_clear_buffer(&vectors->buffer);
    return status;
  }

  // For the message: how many vectors are invalid, and how many valid.
  Status count(const Job &job, ImageView<const std::uint8_t> valid) {
    auto *counts = static_cast<std::uint32_t *>(counts_.data());
    CUDAVISION_TRY(histogram_->run(cudavision::luma_samples(valid), {2, 0, 2}, counts));
    return copy_to_host(job.execution, validity_, counts, sizeof validity_);
  }

  Status draw(const Job &job, const cudavision::FlowOnFrame &flow, const FlowSettings &settings) {
    if (settings.display_mode == DisplayMode::wheel)
      return draw_flow_wheel(job.execution, job.frame, flow, wheel_of(*job.info, settings.max_speed));
    const cudavision::FlowArrows arrows{static_cast<float>(settings.arrow_scale), settings.line_width,
                                        cudavision::color_of(settings.color, *job.info)};
    auto *lines = static_cast<cudavision::Primitive *>(arrows_.data());
    CUDAVISION_TRY(make_flow_arrows(job.execution, flow, arrows, lines));
    return canvas_->draw(job.frame, lines, cudavision::arrow_line_count(region_), nullptr);
  }

  GstCudaVisionOpticalFlow *element_;
  Size region_;
  cudavision::Region last_region_;
  std::shared_ptr<const cudavision::DeviceContext> context_;
  std::unique_ptr<cudavision::OpticalFlow> flow_;
  std::unique_ptr<cudavision::TensorPool> vector_pool_, valid_pool_;
  Size pool_size_;
  std::unique_ptr<cudavision::Histogram> histogram_;
  cudavision::OwnedBytes counts_;
  std::uint32_t validity_[2] = {};  // of the frame: how many vectors are not valid, and how many are
  bool has_flow_ = false;
  cudavision::OwnedBytes arrows_;
  std::unique_ptr<cudavision::Canvas> canvas_;
};

Status make_operation(GstCudaVisionFilter *filter, const Site &site,
                      std::unique_ptr<cudavision::Operation> *operation) {
  auto made = std::make_unique<FlowOperation>(reinterpret_cast<GstCudaVisionOpticalFlow *>(filter));
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
      {static_cast<int>(DisplayMode::wheel),
       "Colours replace the picture: hue is direction, saturation is speed, white is still, black unknown",
       "wheel"},
      {static_cast<int>(DisplayMode::arrows), "Arrows are drawn on the picture", "arrows"},
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
