// SPDX-License-Identifier: LGPL-2.1-or-later
// clang-format off
/**
 * SECTION:element-cudahough
 * @title: cudahough
 * @short_description: Straight lines and segments
 *
 * cudahough finds the edges of every frame as #cudacanny does and in them straight lines: with `mode=lines` those of
 * OpenCV's `cv::HoughLines`, in value, votes and order; with `mode=segments` where they begin and end. They are attached
 * as a #GstCudaVisionLinesMeta, most votes first, in coordinates of the frame, and drawn with `display`. With
 * `input=edges` the luma is taken for a ready map of edges: whatever is not 0 is one.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=road.mp4 ! decodebin ! videoconvert ! cudahough ! videoconvert ! autovideosink
 * gst-launch-1.0 v4l2src ! videoconvert ! cudahough mode=segments threshold=80 min-length=60 ! videoconvert ! autovideosink
 * gst-launch-1.0 videotestsrc ! cudacanny ! cudahough input=edges display=false ! cudavisionjson ! fakesink
 * ]|
 */
// clang-format on
#include "gstcudahough.h"

#include <gst/cudavision/cudavision.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/properties.h"
#include "base/valid_settings.h"
#include "canny/canny.h"
#include "canny_properties.h"
#include "common/owned_list.h"
#include "hough/hough.h"
#include "hough/line_primitives.h"

namespace {

using cudavision::HoughCount;
using cudavision::HoughLine;
using cudavision::HoughList;
using cudavision::HoughMode;
using cudavision::Job;
using cudavision::Primitive;
using cudavision::Site;
using cudavision::Status;

enum class Input { picture, edges };

struct HoughSettings : cudavision::CannyParams, cudavision::HoughParams {
  Input input = Input::picture;
  guint32 color = 0xffff0000;
  int line_width = 2;

  friend bool operator==(const HoughSettings &, const HoughSettings &) = default;
};

Status validate(const HoughSettings &settings) {
  if (settings.input == Input::edges && settings.gradient_voting)
    return cudavision::invalid_argument(
        "gradient-voting needs the gradients of a picture, which input=edges has not");
  CUDAVISION_TRY(validate(static_cast<const cudavision::CannyParams &>(settings)));
  return validate(static_cast<const cudavision::HoughParams &>(settings));
}

struct State {
  HoughSettings settings;  // under the object lock
  cudavision::ValidSettings<HoughSettings> valid;
};

}  // namespace

struct GstCudaVisionHough {
  GstCudaVisionFilter parent;
  State *state;
};
struct GstCudaVisionHoughClass {
  GstCudaVisionFilterClass parent_class;
};

G_DEFINE_TYPE(GstCudaVisionHough, gst_cuda_vision_hough, GST_TYPE_CUDA_VISION_FILTER)
GST_ELEMENT_REGISTER_DEFINE(cudahough, "cudahough", GST_RANK_NONE, GST_TYPE_CUDA_VISION_HOUGH)

namespace {

using Properties = cudavision::PropertyTable<HoughSettings>;

// A line of the region in coordinates of the frame.
GstCudaVisionLine line_of_frame(const HoughLine &line, cudavision::Region region) {
  const double rho =
      line.rho + region.x * std::cos(double{line.theta}) + region.y * std::sin(double{line.theta});
  const auto x = static_cast<float>(region.x), y = static_cast<float>(region.y);
  return {
      static_cast<float>(rho), line.theta, line.votes, line.x1 + x, line.y1 + y, line.x2 + x, line.y2 + y};
}

class HoughOperation final : public cudavision::Operation {
 public:
  explicit HoughOperation(GstCudaVisionHough *element) : element_(element) {}

  Status allocate(const Site &site) {
    // What contradicts itself is warned of with the next frame.
    if (const HoughSettings now = Properties::snapshot(element_); validate(now).ok())
      CUDAVISION_TRY(check_accumulator(site.region, now));
    CUDAVISION_TRY(edges_.allocate(site.execution, site.region));
    CUDAVISION_TRY(make_canny(site.execution, site.region, &canny_));
    CUDAVISION_TRY(make_hough(site.execution, site.region, &hough_));
    return make_canvas(site.execution, {GST_VIDEO_INFO_WIDTH(site.info), GST_VIDEO_INFO_HEIGHT(site.info)},
                       &canvas_);
  }

  cudavision::Reads begin_frame() override {
    settings_ = element_->state->valid.take(element_, Properties::snapshot(element_));
    return cudavision::Reads::luma;
  }

  Status run(const Job &job) override {
    CUDAVISION_TRY(make_room(job, settings_.max_lines));
    cudavision::ImageView<const std::uint8_t> edges = job.luma;
    if (settings_.input == Input::picture) {
      CUDAVISION_TRY(canny_->run(job.luma, edges_.view(), settings_));
      edges = edges_.view();
    }
    CUDAVISION_TRY(hough_->run(edges, job.luma, settings_, list()));
    if (job.draw) CUDAVISION_TRY(draw(job));
    return found_.fetch(job.execution);
  }

  Status finish(const Job &job) override { return attach(job); }

  void describe(GstStructure *message) override {
    const HoughCount &count = found_.count_on_host();
    gst_structure_set(message, "lines", G_TYPE_INT, count.listed, "found", G_TYPE_INT, count.found, "peaks",
                      G_TYPE_INT, count.peaks, nullptr);
  }

 private:
  HoughList list() const { return {found_.items(), found_.count()}; }

  // For so many lines: in the backend's memory, on the host, and as primitives.
  Status make_room(const Job &job, int max_lines) {
    const std::size_t bytes = static_cast<std::size_t>(max_lines) * sizeof(Primitive);
    if (max_lines != found_.capacity()) CUDAVISION_TRY(found_.allocate(job.execution, max_lines));
    if (primitives_.size() != bytes) CUDAVISION_TRY(primitives_.allocate(job.execution, bytes));
    return {};
  }

  Status draw(const Job &job) {
    auto *primitives = static_cast<Primitive *>(primitives_.data());
    const cudavision::LineStyle style{job.region.x, job.region.y, settings_.line_width,
                                      cudavision::color_of(settings_.color, *job.info)};
    CUDAVISION_TRY(make_line_primitives(job.execution, list(), found_.capacity(), style, primitives));
    return canvas_->draw(job.frame, primitives, found_.capacity(), &list().count->listed, job.region);
  }

  Status attach(const Job &job) {
    std::vector<GstCudaVisionLine> &lines = attached_;
    lines.clear();
    const HoughCount &count = found_.count_on_host();
    for (int i = 0; i < count.listed; ++i)
      lines.push_back(line_of_frame(found_.items_on_host()[i], job.region));
    warn_of_what_is_left_out(count);
    if (gst_cuda_vision_buffer_add_lines_meta(job.buffer, lines.data(), static_cast<guint>(lines.size())) ==
        nullptr)
      return cudavision::invalid_argument("the lines could not be attached");
    return {};
  }

  // Once for each max-lines.
  void warn_of_what_is_left_out(const HoughCount &count) {
    const bool segments = settings_.mode == HoughMode::segments;
    const int most = segments ? std::max(count.found, count.peaks) : count.found, listed = found_.capacity();
    if (most <= listed || warned_of_ == listed) return;
    warned_of_ = listed;
    GST_ELEMENT_WARNING(element_, RESOURCE, SETTINGS,
                        ("max-lines is %d, but there are %d lines%s: the ones of most votes are listed",
                         listed, most, segments ? " or segments" : ""),
                        (nullptr));
  }

  GstCudaVisionHough *element_;
  HoughSettings settings_;  // of the frame
  cudavision::OwnedImage edges_;
  std::unique_ptr<cudavision::Canny> canny_;
  std::unique_ptr<cudavision::Hough> hough_;
  std::unique_ptr<cudavision::Canvas> canvas_;
  cudavision::OwnedList<HoughCount, HoughLine> found_;
  cudavision::OwnedBytes primitives_;
  int warned_of_ = 0;  // max-lines
  std::vector<GstCudaVisionLine> attached_;
};

Status make_operation(GstCudaVisionFilter *filter, const Site &site,
                      std::unique_ptr<cudavision::Operation> *operation) {
  auto made = std::make_unique<HoughOperation>(reinterpret_cast<GstCudaVisionHough *>(filter));
  CUDAVISION_TRY(made->allocate(site));
  *operation = std::move(made);
  return {};
}

Status check_settings(GstCudaVisionFilter *filter) {
  auto *hough = reinterpret_cast<GstCudaVisionHough *>(filter);
  return hough->state->valid.begin(Properties::snapshot(hough));
}

GType mode_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(HoughMode::lines), "Lines, as cv::HoughLines finds them", "lines"},
      {static_cast<int>(HoughMode::segments), "The segments of lines that edges follow", "segments"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstCudaVisionHoughMode", values);
  return type;
}

GType input_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(Input::picture), "A picture, whose edges are found as cudacanny does", "picture"},
      {static_cast<int>(Input::edges), "A map of edges: whatever is not 0 in the luma is one", "edges"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstCudaVisionHoughInput", values);
  return type;
}

// How lines are looked for.
std::vector<cudavision::Property<HoughSettings>> search_properties() {
  using S = HoughSettings;
  constexpr auto kControllable = cudavision::Mutable::controllable;
  return {
      cudavision::enum_property<S>({"input", "Input", "What the frames are"}, input_type(), &S::input),
      cudavision::enum_property<S>({"mode", "Mode", "What is looked for"}, mode_type(), &S::mode),
      cudavision::real_property<S>({"rho", "Rho", "Distance between two lines of one direction in pixels"},
                                   &S::rho, 0.01, 1000),
      cudavision::real_property<S>({"theta", "Theta", "Angle between two directions in radians"}, &S::theta,
                                   1e-4, G_PI),
      cudavision::real_property<S>(
          {"min-theta", "Minimum theta",
           "The first direction of the normals of lines, in radians from +x toward +y (at most max-theta)"},
          &S::min_theta, 0, G_PI),
      cudavision::real_property<S>(
          {"max-theta", "Maximum theta",
           "Where the directions of the normals of lines end, in radians (at least min-theta)"},
          &S::max_theta, 0, G_PI),
      cudavision::integer_property<S>({"threshold", "Threshold", "Lines have more votes than this"},
                                      &S::threshold, 0, G_MAXINT, kControllable),
      cudavision::integer_property<S>({"max-lines", "Maximum of lines",
                                       "How many lines or segments are listed at most: those of most votes; "
                                       "a warning says when there are more"},
                                      &S::max_lines, 1, 1000000),
      cudavision::integer_property<S>({"nms-radius", "Radius of non-maximum suppression",
                                       "Of lines that differ by so many steps of rho and theta, only the one "
                                       "of most votes counts (0 = as "
                                       "cv::HoughLines)"},
                                      &S::nms_radius, 0, 32, kControllable),
      cudavision::boolean_property<S>(
          {"gradient-voting", "Gradient voting",
           "Edge pixels vote only for lines within 9 degrees of their gradient: about a "
           "tenth of the votes (not with input=edges)"},
          &S::gradient_voting, kControllable),
      cudavision::integer_property<S>(
          {"min-length", "Minimum length", "Segments are at least so long, in pixels between their ends"},
          &S::min_length, 1, 32768, kControllable),
      cudavision::integer_property<S>(
          {"max-gap", "Maximum gap", "Segments may lack edges for so many pixels in a row"}, &S::max_gap, 0,
          16384, kControllable)};
}

void install_properties(GObjectClass *klass) {
  using S = HoughSettings;
  std::vector<cudavision::Property<S>> properties = search_properties();
  for (cudavision::Property<S> &property : cudavision::canny_properties<S>())
    properties.push_back(std::move(property));
  properties.push_back(cudavision::color_property<S>(
      {"color", "Color", "Colour and opacity of drawn lines as 0xAARRGGBB (default opaque red)"}, &S::color));
  properties.push_back(
      cudavision::integer_property<S>({"line-width", "Line width", "Width of drawn lines in pixels"},
                                      &S::line_width, 1, 255, cudavision::Mutable::controllable));
  Properties::install(
      klass, [](GObject *object) { return &reinterpret_cast<GstCudaVisionHough *>(object)->state->settings; },
      std::move(properties));
}

void finalize(GObject *object) {
  delete reinterpret_cast<GstCudaVisionHough *>(object)->state;
  G_OBJECT_CLASS(gst_cuda_vision_hough_parent_class)->finalize(object);
}

}  // namespace

static void gst_cuda_vision_hough_class_init(GstCudaVisionHoughClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = finalize;
  install_properties(G_OBJECT_CLASS(klass));
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(
      element, "Hough line detector", "Filter/Analyzer/Video/Hardware",
      "Finds straight lines as cv::HoughLines does, and segments, on an NVIDIA GPU or on the CPU",
      "gst-cudavision");
  cudavision::add_video_pads(element);
  auto *filter = reinterpret_cast<GstCudaVisionFilterClass *>(klass);
  filter->make_operation = make_operation;
  filter->check_settings = check_settings;
}

static void gst_cuda_vision_hough_init(GstCudaVisionHough *hough) { hough->state = new State(); }
