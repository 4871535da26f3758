// SPDX-License-Identifier: LGPL-2.1-or-later
// clang-format off
/**
 * SECTION:element-cudahog
 * @title: cudahog
 * @short_description: Histograms of oriented gradients, and detection with them
 *
 * Without a model cudahog attaches the histograms of oriented gradients of all blocks of a frame as the tensor
 * `hog`, `[block rows][block cols][cells x bins]` of floats, the numbers of OpenCV's
 * `cv::HOGDescriptor::compute`, and draws each cell's orientations as a star. With `model-location`, a linear
 * model as `cv::HOGDescriptor::save` writes it, it finds what `cv::HOGDescriptor::detectMultiScale` finds, and
 * attaches boxes as #GstVideoRegionOfInterestMeta of type `label` with their score (structure `detection`, field
 * `confidence`), from GStreamer 1.24 on also as object detections of GstAnalytics, and draws them. Frames in RGB
 * are looked at in colour, all others in luma.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=street.mp4 ! decodebin ! videoconvert ! cudahog model-location=people.yml ! videoconvert ! autovideosink
 * gst-launch-1.0 v4l2src ! videoconvert ! cudahog ! videoconvert ! autovideosink
 * gst-launch-1.0 -q filesrc location=street.mp4 ! decodebin ! videoconvert ! cudahog model-location=people.yml display=false ! cudavisionjson ! fakesink
 * ]|
 */
// clang-format on
#include "gst/gstcudahog.h"

#include <utility>

#include "gst/base/properties.h"
#include "gst/base/valid_settings.h"
#include "gst/hog/model_file.h"
#include "gst/hog/hog_operation.h"

namespace {

using cudavision::HogModel;
using cudavision::HogNorm;
using cudavision::HogSettings;
using cudavision::HogVariant;
using cudavision::Site;
using cudavision::Status;

struct State {
  HogSettings settings;  // under the object lock
  cudavision::ValidSettings<HogSettings> valid;
  std::shared_ptr<const HogModel> model;  // from start to start
};

}  // namespace

struct GstCudaVisionHog {
  GstCudaVisionFilter parent;
  State *state;
};
struct GstCudaVisionHogClass {
  GstCudaVisionFilterClass parent_class;
};

G_DEFINE_TYPE(GstCudaVisionHog, gst_cuda_vision_hog, GST_TYPE_CUDA_VISION_FILTER)
GST_ELEMENT_REGISTER_DEFINE(cudahog, "cudahog", GST_RANK_NONE, GST_TYPE_CUDA_VISION_HOG)

namespace {

using Properties = cudavision::PropertyTable<HogSettings>;
using Property = cudavision::Property<HogSettings>;

State *state_of(gpointer element) { return static_cast<GstCudaVisionHog *>(element)->state; }

Status make_operation(GstCudaVisionFilter *filter, const Site &site,
                      std::unique_ptr<cudavision::Operation> *operation) {
  const auto take_settings = [filter]() -> const HogSettings & {
    return state_of(filter)->valid.take(filter, Properties::snapshot(filter));
  };
  auto made =
      std::make_unique<cudavision::HogOperation>(GST_ELEMENT(filter), take_settings, state_of(filter)->model);
  CUDAVISION_TRY(made->allocate(site));
  *operation = std::move(made);
  return {};
}

Status check_settings(GstCudaVisionFilter *filter) {
  return state_of(filter)->valid.begin(Properties::snapshot(filter));
}

Status load_files(GstCudaVisionFilter *filter) {
  const HogSettings settings = Properties::snapshot(filter);
  state_of(filter)->model.reset();
  if (!settings.has_model()) return {};
  auto model = std::make_shared<HogModel>();
  model->params = settings.params();
  model->window = {settings.win_width, settings.win_height};
  CUDAVISION_TRY(load_hog_model(*settings.model_location, model.get()));
  state_of(filter)->model = std::move(model);
  return {};
}

GType variant_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(HogVariant::opencv), "As cv::HOGDescriptor computes them", "opencv"},
      {static_cast<int>(HogVariant::ghog), "As GHoGLib defines them: each vote goes to its own cell", "ghog"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstCudaVisionHogVariant", values);
  return type;
}

GType norm_type() {
  static const GEnumValue values[] = {
      {static_cast<int>(HogNorm::variant), "That of the variant: l2-hys of opencv, l1-sqrt of ghog",
       "variant"},
      {static_cast<int>(HogNorm::l2_hys), "L2, cut off at 0.2, and L2 again", "l2-hys"},
      {static_cast<int>(HogNorm::l2), "v / (|v|_2 + e)", "l2"},
      {static_cast<int>(HogNorm::l1_sqrt), "sqrt(v / (|v|_1 + e))", "l1-sqrt"},
      {static_cast<int>(HogNorm::l1), "v / (|v|_1 + e)", "l1"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstCudaVisionHogNorm", values);
  return type;
}

// What was never set follows from whether there is a model.
Property descriptor_property() {
  return {
      g_param_spec_boolean("descriptor", "Descriptor",
                           "Attach the blocks as the tensor hog (without a model by default)", TRUE,
                           cudavision::flags_of(cudavision::Mutable::playing)),
      [](HogSettings &s, const GValue *v) { s.descriptor = g_value_get_boolean(v) != FALSE; },
      [](const HogSettings &s, GValue *v) { g_value_set_boolean(v, s.descriptor.value_or(!s.has_model())); }};
}

std::vector<Property> block_properties() {
  using S = HogSettings;
  using cudavision::boolean_property;
  using cudavision::enum_property;
  using cudavision::integer_property;
  return {
      enum_property<S>({"variant", "Variant", "How blocks are made"}, variant_type(), &S::variant),
      integer_property<S>({"cell-size", "Cell size", "Side of a cell in pixels"}, &S::cell_size, 2,
                          cudavision::kMaxHogBlockSide),
      integer_property<S>({"block-size", "Block size",
                           "Side of a block in cells (at most 64 pixels, that is cell-size x block-size)"},
                          &S::block_size, 1, cudavision::kMaxHogBlockCells),
      integer_property<S>({"block-stride", "Block stride", "From block to block in pixels"}, &S::block_stride,
                          1, cudavision::kMaxHogBlockSide),
      integer_property<S>({"bins", "Bins", "Orientations of a cell"}, &S::bins, 1, cudavision::kMaxHogBins),
      boolean_property<S>({"signed", "Signed", "Orientations over 360 degrees instead of 180"},
                          &S::signed_gradient),
      boolean_property<S>({"gamma", "Gamma", "Take the square roots of colours first"}, &S::gamma),
      enum_property<S>({"norm", "Norm", "How a block's numbers v are normalised"}, norm_type(), &S::norm),
      descriptor_property()};
}

std::vector<Property> detection_properties() {
  using S = HogSettings;
  using cudavision::integer_property;
  using cudavision::real_property;
  using cudavision::string_property;
  constexpr auto kReady = cudavision::Mutable::ready, kPlaying = cudavision::Mutable::playing,
                 kControllable = cudavision::Mutable::controllable;
  return {
      string_property<S>({"model-location", "Model location",
                          "File of the model: what cv::HOGDescriptor::save writes, XML or YAML, whose "
                          "parameters then hold instead of "
                          "the properties; or plain text, one weight a line, the bias last"},
                         &S::model_location, kReady),
      integer_property<S>(
          {"win-width", "Window width", "Width of a window in pixels, of models of plain text"},
          &S::win_width, 1, cudavision::kMaxHogWindowSide, kReady),
      integer_property<S>(
          {"win-height", "Window height", "Height of a window in pixels, of models of plain text"},
          &S::win_height, 1, cudavision::kMaxHogWindowSide, kReady),
      string_property<S>({"label", "Label", "Type of the regions of interest"}, &S::label),
      real_property<S>({"scale-step", "Scale step", "Ratio of a scale to the one before (1 = one scale)"},
                       &S::scale_step, 1, 10, kPlaying),
      real_property<S>(
          {"min-scale", "Minimum scale",
           "The smallest objects that are found, in units of the model's window (at most max-scale)"},
          &S::min_scale, 1, 16384, kPlaying),
      real_property<S>(
          {"max-scale", "Maximum scale",
           "The largest objects that are found, in units of the model's window (0 = no limit; otherwise at "
           "least min-scale)"},
          &S::max_scale, 0, 16384, kPlaying),
      integer_property<S>(
          {"win-stride", "Window stride",
           "From window to window in pixels of each scale (multiples of block-stride are fast)"},
          &S::win_stride, 1, 512),
      real_property<S>({"hit-threshold", "Hit threshold", "Windows whose score is at least this are hits"},
                       &S::hit_threshold, -1000, 1000),
      integer_property<S>({"group-threshold", "Group threshold",
                           "More hits than this at about one place make a box (0 = each hit is one)"},
                          &S::group_threshold, 0, cudavision::kMaxHogHits, kControllable),
      cudavision::color_property<S>(
          {"color", "Color", "Colour and opacity of boxes and stars as 0xAARRGGBB (default opaque green)"},
          &S::color),
      integer_property<S>({"line-width", "Line width", "Width of the lines of boxes in pixels"},
                          &S::line_width, 1, 255, kControllable)};
}

void install_properties(GObjectClass *klass) {
  std::vector<Property> properties = block_properties();
  for (Property &property : detection_properties()) properties.push_back(std::move(property));
  Properties::install(
      klass, [](GObject *object) { return &state_of(object)->settings; }, std::move(properties));
}

void finalize(GObject *object) {
  delete state_of(object);
  G_OBJECT_CLASS(gst_cuda_vision_hog_parent_class)->finalize(object);
}

}  // namespace

static void gst_cuda_vision_hog_class_init(GstCudaVisionHogClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = finalize;
  install_properties(G_OBJECT_CLASS(klass));
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element, "Histograms of oriented gradients",
                                        "Filter/Analyzer/Video/Hardware",
                                        "Computes the HOG descriptor as cv::HOGDescriptor does, and detects "
                                        "with linear models, on an NVIDIA GPU or on the "
                                        "CPU",
                                        "gst-cudavision");
  cudavision::add_video_pads(element);
  auto *filter = reinterpret_cast<GstCudaVisionFilterClass *>(klass);
  filter->make_operation = make_operation;
  filter->check_settings = check_settings;
  filter->load_files = load_files;
}

static void gst_cuda_vision_hog_init(GstCudaVisionHog *hog) { hog->state = new State(); }
