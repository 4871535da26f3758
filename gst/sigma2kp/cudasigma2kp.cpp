// SPDX-License-Identifier: LGPL-2.1-or-later
// clang-format off
/**
 * SECTION:element-cudasigma2kp
 * @title: cudasigma2kp
 * @short_description: Keypoints of greatest local variance
 *
 * cudasigma2kp finds the windows of every frame whose luma varies most among those of a small square of windows
 * around them: the sigma^2 detector of Zalesky and Trotski. Neither brightness nor contrast change the set of
 * keypoints, so that flat parts of a picture have them too. They are attached as a #GstCudaVisionKeypointsMeta in
 * raster order: x and y of the window's centre, the variance in grey levels squared as the response, and with
 * `orientation` the angle of the bin that holds most gradients around it. With `display` they are drawn: as a cross,
 * or as a point with a line along its orientation.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! videoconvert ! cudasigma2kp orientation=true max-keypoints=1000 ! videoconvert ! autovideosink
 * gst-launch-1.0 v4l2src ! videoconvert ! cudasigma2kp min-distance=8 ! videoconvert ! autovideosink
 * gst-launch-1.0 videotestsrc ! cudasigma2kp display=false ! cudavisionjson ! fakesink
 * ]|
 */
// clang-format on
#include "gst/gstcudasigma2kp.h"

#include <gst/cudavision/cudavision.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "gst/base/format.h"
#include "gst/base/properties.h"
#include "gst/base/valid_settings.h"
#include "cuda/common/backends.h"
#include "cuda/common/owned_list.h"
#include "gst/gradient/gradient_properties.h"
#include "cuda/sigma2kp/point_primitives.h"
#include "cuda/sigma2kp/sigma2kp.h"

namespace {

using cudavision::Job;
using cudavision::Primitive;
using cudavision::Sigma2Count;
using cudavision::Sigma2Definition;
using cudavision::Sigma2Keypoint;
using cudavision::Sigma2List;
using cudavision::Site;
using cudavision::Status;

struct Sigma2Settings : cudavision::Sigma2KpParams {
  guint32 color = 0xffff0000;
  int point_size = 3, line_width = 1;

  friend bool operator==(const Sigma2Settings &, const Sigma2Settings &) = default;
};

struct State {
  Sigma2Settings settings;  // under the object lock
  cudavision::ValidSettings<Sigma2Settings> valid;
};

}  // namespace

struct GstCudaVisionSigma2Kp {
  GstCudaVisionFilter parent;
  State *state;
};
struct GstCudaVisionSigma2KpClass {
  GstCudaVisionFilterClass parent_class;
};

G_DEFINE_TYPE(GstCudaVisionSigma2Kp, gst_cuda_vision_sigma2_kp, GST_TYPE_CUDA_VISION_FILTER)
GST_ELEMENT_REGISTER_DEFINE(cudasigma2kp, "cudasigma2kp", GST_RANK_NONE, GST_TYPE_CUDA_VISION_SIGMA2_KP)

namespace {

using Properties = cudavision::PropertyTable<Sigma2Settings>;

class Sigma2Operation final : public cudavision::Operation {
 public:
  explicit Sigma2Operation(GstCudaVisionSigma2Kp *element) : element_(element) {}

  Status allocate(const Site &site) {
    region_ = site.region;
    CUDAVISION_TRY(drawn_.allocate(site.execution, sizeof(int)));
    CUDAVISION_TRY(make_sigma2kp(site.execution, site.region, &room_));
    return make_canvas(site.execution, {GST_VIDEO_INFO_WIDTH(site.info), GST_VIDEO_INFO_HEIGHT(site.info)},
                       &canvas_);
  }

  cudavision::Reads begin_frame() override {
    settings_ = element_->state->valid.take(element_, Properties::snapshot(element_));
    return cudavision::Reads::luma;
  }

  Status run(const Job &job) override {
    CUDAVISION_TRY(make_room(job));
    CUDAVISION_TRY(room_->run(job.luma, settings_, list()));
    if (job.draw) CUDAVISION_TRY(draw(job));
    // All that could be listed, so that the device need not be asked first how much is.
    return found_.fetch(job.execution);
  }

  Status finish(const Job &job) override {
    return cudavision::catch_bad_alloc([&] { return attach(job); });
  }

  void describe(GstStructure *message) override {
    const Sigma2Count &count = found_.count_on_host();
    gst_structure_set(message, "keypoints", G_TYPE_INT, count.listed, "found", G_TYPE_INT, count.found,
                      nullptr);
  }

 private:
  Sigma2List list() const { return {found_.items(), found_.count()}; }

  // For as many keypoints as are listed at most: in the backend's memory, on the host, and as primitives.
  Status make_room(const Job &job) {
    const long long pixels = static_cast<long long>(region_.width) * region_.height;
    const int most = static_cast<int>(std::min<long long>(settings_.max_keypoints, pixels));
    if (most != found_.capacity()) CUDAVISION_TRY(found_.allocate(job.execution, most));
    const std::size_t bytes = 2 * static_cast<std::size_t>(most) * sizeof(Primitive);
    if (job.draw && primitives_.size() < bytes) CUDAVISION_TRY(primitives_.allocate(job.execution, bytes));
    return {};
  }

  Status draw(const Job &job) {
    auto *primitives = static_cast<Primitive *>(primitives_.data());
    auto *drawn = static_cast<int *>(drawn_.data());
    cudavision::PointStyle style;
    style.origin_x = job.region.x, style.origin_y = job.region.y;
    style.window = settings_.window, style.orientation_bins = settings_.orientation_bins;
    style.size = settings_.point_size, style.line_width = settings_.line_width;
    style.color = cudavision::color_of(settings_.color, *job.info);
    CUDAVISION_TRY(make_point_primitives(job.execution, list(), found_.capacity(), style, primitives, drawn));
    return canvas_->draw(job.frame, primitives, 2 * found_.capacity(), drawn, job.region);
  }

  GstCudaVisionKeypoint keypoint_of_frame(const Sigma2Keypoint &point, cudavision::Region region) const {
    const int window = settings_.window;
    const bool has_angle = point.orientation != cudavision::kNoOrientation;
    const double angle =
        has_angle ? cudavision::angle_of_bin(point.orientation, settings_.orientation_bins) : NAN;
    return {cudavision::center_of_window(region.x + point.x, window),
            cudavision::center_of_window(region.y + point.y, window),
            static_cast<float>(cudavision::variance_of(point.strength, window)), static_cast<float>(angle)};
  }

  Status attach(const Job &job) {
    attached_.clear();
    const Sigma2Count &count = found_.count_on_host();
    for (int i = 0; i < count.listed; ++i)
      attached_.push_back(keypoint_of_frame(found_.items_on_host()[i], job.region));
    warn_of_what_is_left_out(count);
    if (gst_cuda_vision_buffer_add_keypoints_meta(job.buffer, attached_.data(),
                                                  static_cast<guint>(attached_.size())) == nullptr)
      return cudavision::invalid_argument("the keypoints could not be attached");
    return {};
  }

  // Once, and not of a number that was chosen: to have the strongest alone is what it is for.
  void warn_of_what_is_left_out(Sigma2Count count) {
    const bool is_default = settings_.max_keypoints == Sigma2Settings().max_keypoints;
    if (count.found <= count.listed || !is_default || has_warned_) return;
    has_warned_ = true;
    GST_ELEMENT_WARNING(
        element_, RESOURCE, SETTINGS,
        ("there are %d keypoints, more than the %d that max-keypoints lists by default: those "
         "of greatest variance are listed",
         count.found, count.listed),
        (nullptr));
  }

  GstCudaVisionSigma2Kp *element_;
  Sigma2Settings settings_;  // of the frame
  cudavision::Size region_;
  std::unique_ptr<cudavision::Sigma2Kp> room_;
  std::unique_ptr<cudavision::Canvas> canvas_;
  cudavision::OwnedList<Sigma2Count, Sigma2Keypoint> found_;
  cudavision::OwnedBytes primitives_, drawn_;
  bool has_warned_ = false;
  std::vector<GstCudaVisionKeypoint> attached_;
};

Status make_operation(GstCudaVisionFilter *filter, const Site &site,
                      std::unique_ptr<cudavision::Operation> *operation) {
  auto made = std::make_unique<Sigma2Operation>(reinterpret_cast<GstCudaVisionSigma2Kp *>(filter));
  CUDAVISION_TRY(made->allocate(site));
  *operation = std::move(made);
  return {};
}

Status check_settings(GstCudaVisionFilter *filter) {
  auto *element = reinterpret_cast<GstCudaVisionSigma2Kp *>(filter);
  return element->state->valid.begin(Properties::snapshot(element));
}

GType definition_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(Sigma2Definition::grid),
       "The greatest of each square of grids that cover the picture", "grid"},
      {static_cast<int>(Sigma2Definition::dense), "The greatest of any square: many times as many", "dense"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstCudaVisionSigma2Definition", values);
  return type;
}

GType grids_type() {
  static const GEnumValue values[] = {{2, "Shifted by nothing, and by half a square both ways", "2"},
                                      {4, "Also shifted by half a square one way", "4"},
                                      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstCudaVisionSigma2Grids", values);
  return type;
}

// What a keypoint is, and which are listed.
std::vector<cudavision::Property<Sigma2Settings>> search_properties() {
  using S = Sigma2Settings;
  constexpr auto kControllable = cudavision::Mutable::controllable;
  return {cudavision::integer_property<S>(
              {"window", "Window", "Side of the windows whose variance is compared, in pixels"}, &S::window,
              3, 31),
          cudavision::integer_property<S>(
              {"cell", "Cell", "Side of the squares in which the greatest variance is sought, in pixels"},
              &S::cell, 2, 32),
          cudavision::real_property<S>(
              {"tau", "Tau",
               "How near to a square's centre its greatest variance must lie, in pixels: nearer than this, "
               "with definition=dense also as near (less than half of cell)"},
              &S::tau, 1e-3, 15.999),
          cudavision::enum_property<S>({"grids", "Grids", "How often squares cover the picture"},
                                       grids_type(), &S::grids),
          cudavision::enum_property<S>({"definition", "Definition", "Which squares there are"},
                                       definition_type(), &S::definition),
          cudavision::integer_property<S>(
              {"min-distance", "Minimum distance",
               "Of keypoints nearer to each other than this only those are listed that none of them "
               "outdoes, in pixels (0 = all)"},
              &S::min_distance, 0, 255, kControllable),
          cudavision::integer_property<S>({"max-keypoints", "Maximum of keypoints",
                                           "How many are listed at most: those of greatest variance; a "
                                           "warning says when the default is too few"},
                                          &S::max_keypoints, 1, 1000000)};
}

std::vector<cudavision::Property<Sigma2Settings>> orientation_properties() {
  using S = Sigma2Settings;
  return {cudavision::boolean_property<S>(
              {"orientation", "Orientation", "Compute the dominant direction of gradients around keypoints"},
              &S::orientation),
          cudavision::integer_property<S>({"orientation-window", "Orientation window",
                                           "Side of the square around a keypoint whose gradients count, in "
                                           "pixels"},
                                          &S::orientation_window, 2, 64),
          cudavision::integer_property<S>(
              {"orientation-bins", "Orientation bins", "Number of directions that are told apart"},
              &S::orientation_bins, 1, cudavision::kMaxOrientations),
          cudavision::enum_property<S>({"operator", "Operator", "How gradients are computed"},
                                       cudavision::gradient_operator_type(), &S::op),
          cudavision::enum_property<S>({"weight", "Weight", "What a gradient adds to its direction"},
                                       cudavision::gradient_weight_type(), &S::weight)};
}

void install_properties(GObjectClass *klass) {
  using S = Sigma2Settings;
  std::vector<cudavision::Property<S>> properties = search_properties();
  for (cudavision::Property<S> &property : orientation_properties())
    properties.push_back(std::move(property));
  properties.push_back(cudavision::color_property<S>(
      {"color", "Color", "Colour and opacity of drawn keypoints as 0xAARRGGBB (default opaque red)"},
      &S::color));
  properties.push_back(cudavision::integer_property<S>(
      {"point-size", "Point size",
       "How far the cross of a drawn keypoint reaches, in pixels; a line along its orientation reaches four "
       "times as far"},
      &S::point_size, 1, 255, cudavision::Mutable::controllable));
  properties.push_back(
      cudavision::integer_property<S>({"line-width", "Line width", "Width of drawn lines in pixels"},
                                      &S::line_width, 1, 255, cudavision::Mutable::controllable));
  Properties::install(
      klass,
      [](GObject *object) { return &reinterpret_cast<GstCudaVisionSigma2Kp *>(object)->state->settings; },
      std::move(properties));
}

void finalize(GObject *object) {
  delete reinterpret_cast<GstCudaVisionSigma2Kp *>(object)->state;
  G_OBJECT_CLASS(gst_cuda_vision_sigma2_kp_parent_class)->finalize(object);
}

}  // namespace

static void gst_cuda_vision_sigma2_kp_class_init(GstCudaVisionSigma2KpClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = finalize;
  install_properties(G_OBJECT_CLASS(klass));
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(
      element, "Keypoints of local variance", "Filter/Analyzer/Video/Hardware",
      "Finds where the local variance is greatest, and its orientation, on an NVIDIA GPU or on the CPU",
      "gst-cudavision");
  cudavision::add_video_pads(element);
  auto *filter = reinterpret_cast<GstCudaVisionFilterClass *>(klass);
  filter->make_operation = make_operation;
  filter->check_settings = check_settings;
}

static void gst_cuda_vision_sigma2_kp_init(GstCudaVisionSigma2Kp *sigma2_kp) {
  sigma2_kp->state = new State();
}
