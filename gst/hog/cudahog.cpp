// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudahog: its description and its properties.
/**
 * SECTION:element-cudahog
 * @title: cudahog
 * @short_description: Histograms of oriented gradients, and object detection with them
 *
 * Without a model, cudahog attaches the histograms of oriented gradients of all blocks of a frame as the tensor `hog`:
 * `[block rows][block cols][cells x bins]` of floats, the numbers of OpenCV's `cv::HOGDescriptor::compute` (to 1e-5).
 * It draws the orientations of each cell as a star on the dimmed picture; in large frames a star shows a group of
 * cells.
 *
 * With `model=people`, OpenCV's default people detector, which is part of the plugin, cudahog detects people. With
 * `model-location`, a file with a linear model as `cv::HOGDescriptor::save` writes it, it detects the objects that
 * `cv::HOGDescriptor::detectMultiScale` detects. It draws their boxes with labels and scores, and attaches them as
 * #GstVideoRegionOfInterestMeta of the type `label`, each with its own `id` and with the score in the field
 * `confidence` of the structure `detection`. From GStreamer 1.24 on, it also attaches them as object detections of
 * GstAnalytics.
 *
 * RGB frames are analysed in colour, all other frames by their luma.
 *
 * With `roi-type`, only those windows are searched whose centres lie in a region of that type that the frame carries,
 * such as `motion` of #cudabgsub. The windows are those of the whole frame: their scores stay the same, and their hits
 * are a part of all hits. The boxes are groups of these hits.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=street.mp4 ! decodebin ! videoconvert ! cudahog model=people ! \
 *   videoconvert ! autovideosink
 * gst-launch-1.0 v4l2src ! videoconvert ! cudahog ! videoconvert ! autovideosink
 * gst-launch-1.0 -q filesrc location=street.mp4 ! decodebin ! videoconvert ! \
 *   cudahog model=people display=false ! cudavisionjson ! fakesink
 * ]|
 *
 * Since: 0.2
 */
#include <gio/gio.h>

#include <memory>
#include <utility>
#include <vector>

#include "cuda/hog/hog_primitives.h"
#include "gst/base/element/element.h"
#include "gst/hog/hog_operation.h"
#include "gst/hog/model_file.h"

namespace cudavision {
namespace {

GType variant_type() {
  return enum_type("GstCudaVisionHogVariant",
                   {{HogVariant::opencv, "As cv::HOGDescriptor computes them", "opencv"},
                    {HogVariant::ghog, "As GHoGLib defines them: each vote goes to its own cell", "ghog"}});
}

GType norm_type() {
  return enum_type(
      "GstCudaVisionHogNorm",
      {{HogNorm::variant, "The norm of the variant: l2-hys for opencv, l1-sqrt for ghog", "variant"},
       {HogNorm::l2_hys, "L2, clipped at 0.2, and L2 again", "l2-hys"},
       {HogNorm::l2, "v / (|v|_2 + e)", "l2"},
       {HogNorm::l1_sqrt, "sqrt(v / (|v|_1 + e))", "l1-sqrt"},
       {HogNorm::l1, "v / (|v|_1 + e)", "l1"}});
}

GType model_type() {
  return enum_type("GstCudaVisionHogModel",
                   {{HogModelName::none, "The model in model-location; no model if that is empty", "none"},
                    {HogModelName::people,
                     "People who stand or walk, seen as a whole, from 64 pixels of height on: OpenCV's "
                     "default people detector",
                     "people"}});
}

GType group_method_type() {
  return enum_type(
      "GstCudaVisionHogGroupMethod",
      {{HogGrouping::mean,
        "The mean of a group of hits of similar position and size, as in cv::HOGDescriptor::groupRectangles",
        "mean"},
       {HogGrouping::best,
        "The hit with the best score of those that overlap it (non-maximum suppression: the objects have "
        "an intersection over union of at least 0.2)",
        "best"}});
}

GType boxes_type() {
  return enum_type("GstCudaVisionHogBoxes",
                   {{HogBoxes::object, "The part that the object fills, if the model says which", "object"},
                    {HogBoxes::window, "The whole window, as OpenCV's boxes", "window"}});
}

// Until `descriptor` is set, its value depends on whether there is a model.
Property<HogSettings> descriptor_property() {
  return {
      g_param_spec_boolean(
          "descriptor", "Descriptor",
          "Attach the blocks as the tensor hog (default: true without a model, false with one)", TRUE,
          flags_of(Mutable::playing)),
      [](HogSettings &s, const GValue *v) { s.descriptor = g_value_get_boolean(v) != FALSE; },
      [](const HogSettings &s, GValue *v) { g_value_set_boolean(v, s.descriptor.value_or(!s.has_model())); }};
}

std::vector<Property<HogSettings>> block_properties() {
  using S = HogSettings;
  return {
      enum_property<S>({"variant", "Variant", "How blocks are computed"}, variant_type(), &S::variant),
      // A cell of one pixel is valid in a model, but not useful here.
      integer_property<S>({"cell-size", "Cell size", "Side of a cell in pixels"}, &S::cell_size, 2,
                          HogRanges::cell_side.most),
      integer_property<S>({"block-size", "Block size",
                           "Side of a block in cells (at most 64 pixels, that is cell-size x block-size)"},
                          &S::block_size, HogRanges::block_cells),
      integer_property<S>({"block-stride", "Block stride", "Distance between neighbouring blocks in pixels"},
                          &S::block_stride, HogRanges::stride),
      integer_property<S>({"bins", "Bins", "Number of orientations of a cell"}, &S::bins, HogRanges::bins),
      boolean_property<S>({"signed", "Signed", "Orientations cover 360 degrees (true) or 180 (false)"},
                          &S::signed_gradient),
      boolean_property<S>({"gamma", "Gamma", "Replace colours by their square roots first"}, &S::gamma),
      enum_property<S>({"norm", "Norm", "How the descriptor v of a block is normalised"}, norm_type(),
                       &S::norm),
      descriptor_property()};
}

std::vector<Property<HogSettings>> model_properties() {
  using S = HogSettings;
  return {enum_property<S>({"model", "Model", "A model that is part of the plugin, with its parameters"},
                           model_type(), &S::model, Mutable::ready),
          string_property<S>(
              {"model-location", "Model location",
               "File of the model: either as cv::HOGDescriptor::save writes it (XML or YAML), with "
               "parameters that override the properties; or plain text, with one weight per line and "
               "the bias last"},
              &S::model_location, Mutable::ready),
          integer_property<S>(
              {"win-width", "Window width", "Width of the window of a plain text model in pixels"},
              &S::win_width, HogDetectorRanges::window_side, Mutable::ready),
          integer_property<S>(
              {"win-height", "Window height", "Height of the window of a plain text model in pixels"},
              &S::win_height, HogDetectorRanges::window_side, Mutable::ready),
          string_property<S>({"label", "Label", "Type of the regions of interest"}, &S::label)};
}

std::vector<Property<HogSettings>> search_properties() {
  using S = HogSettings;
  using Ranges = HogDetectorRanges;
  return {
      real_property<S>({"scale-step", "Scale step", "Ratio of neighbouring scales (1 = one scale)"},
                       &S::scale_step, Ranges::scale_step, Mutable::playing),
      real_property<S>(
          {"min-scale", "Minimum scale",
           "Size of the smallest objects to detect, as a multiple of the model's window, from 0.25 to "
           "max-scale; below 1, frames are enlarged (0 = that of the model: 2/3 for model=people, otherwise "
           "1)"},
          &S::min_scale, 0, Ranges::min_scale.most, Mutable::playing),
      real_property<S>(
          {"max-scale", "Maximum scale",
           "Size of the largest objects to detect, as a multiple of the model's window (0 = no limit; "
           "otherwise at least min-scale)"},
          &S::max_scale, Ranges::max_scale, Mutable::playing),
      integer_property<S>({"win-stride", "Window stride",
                           "Distance between neighbouring windows in pixels of each scale (multiples of "
                           "block-stride are fast)"},
                          &S::win_stride, Ranges::win_stride),
      real_property<S>({"hit-threshold", "Hit threshold", "A window is a hit if its score is at least this"},
                       &S::hit_threshold, Ranges::hit_threshold),
      integer_property<S>(
          {"group-threshold", "Group threshold",
           "A group of more overlapping hits than this makes a box (0 = every hit is a box, or with "
           "group-method=best every best one)"},
          &S::group_threshold, Ranges::group_threshold, Mutable::controllable),
      enum_property<S>({"group-method", "Group method", "The box of overlapping hits"}, group_method_type(),
                       &S::group_method),
      enum_property<S>({"boxes", "Boxes", "The part of a window that a box shows"}, boxes_type(), &S::boxes),
      roi_type_property<S>()};
}

std::vector<Property<HogSettings>> drawing_properties() {
  using S = HogSettings;
  return {
      color_property<S>({"color", "Color", "Colour and opacity of boxes and stars: " CUDAVISION_COLOR_WORDS},
                        &S::color),
      integer_property<S>({"line-width", "Line width",
                           "Width of the lines of boxes in pixels " CUDAVISION_AUTOMATIC_WIDTH_WORDS},
                          &S::line_width, kAutomaticWidth, HogStyleRanges::line_width.most,
                          Mutable::controllable),
      boolean_property<S>({"draw-labels", "Draw labels", "Write the label and the score at each box"},
                          &S::labels),
      deprecated(boolean_property<S>({"labels", "Labels", "The old name of draw-labels"}, &S::labels))};
}

// Reads the resource of the plugin (people_model.xml).
Status load_people_model(HogModel *model) {
  g_autoptr(GError) error = nullptr;
  g_autoptr(GBytes) bytes =
      g_resources_lookup_data("/gst-cudavision/people_model.xml", G_RESOURCE_LOOKUP_FLAGS_NONE, &error);
  if (bytes == nullptr) return invalid_argument(error->message);
  gsize size = 0;
  const auto *text = static_cast<const char *>(g_bytes_get_data(bytes, &size));
  return hog::parse_model({text, size}, model);
}

struct HogElement {
  using Operation = HogOperation;

  static constexpr ElementText kText{"GstCudaHog", "Histograms of oriented gradients",
                                     "Filter/Analyzer/Video/Hardware",
                                     "Computes the HOG descriptor as cv::HOGDescriptor does, and detects "
                                     "objects with linear models, on an NVIDIA "
                                     "GPU or on the CPU"};

  static std::vector<Property<HogSettings>> properties() {
    return joined(joined(block_properties(), model_properties()),
                  joined(search_properties(), drawing_properties()));
  }

  static Status load(const HogSettings &settings, HogFiles *files) {
    if (!settings.has_model()) return {};
    auto model = std::make_shared<HogModel>();
    if (settings.model == HogModelName::people) {
      CUDAVISION_TRY(load_people_model(model.get()));
    } else {
      model->params = settings.params();
      model->window = {settings.win_width, settings.win_height};
      CUDAVISION_TRY(load_hog_model(*settings.model_location, model.get()));
    }
    files->model = std::move(model);
    return {};
  }
};

}  // namespace
}  // namespace cudavision

CUDAVISION_DEFINE_ELEMENT(cudahog, cudavision::HogElement)
