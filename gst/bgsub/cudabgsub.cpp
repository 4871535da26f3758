// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudabgsub: its description and its properties.
/**
 * SECTION:element-cudabgsub
 * @title: cudabgsub
 * @short_description: What moves before a still camera
 *
 * cudabgsub learns what a still camera usually sees, with the mixture of Gaussians of Z. Zivkovic (MOG2), and finds the
 * pixels that show something else. The masks are those of `cv::BackgroundSubtractorMOG2`, byte for byte: with
 * `output=mask open=0 close=0` the frame becomes this mask. RGB frames are analysed in colour, others by their luma.
 *
 * The mask is cleaned: `open` removes what is small, and `close` fills gaps. Shadows do not count as motion. The
 * cleaned mask is attached as the tensor `foreground-mask`, `[rows][cols]`, u8. Each of its connected parts of at least
 * `min-area` pixels is attached as a #GstVideoRegionOfInterestMeta of the type `motion`, largest first; its structure
 * `motion` has the fields `area`, in pixels, and `share`, of the analysed region. In the first frame, and for up to
 * `blind-time` after more than `max-motion` of the region has moved because the light has changed, there are no
 * regions. Element messages `cudabgsub-light` with the field `blind` tell the beginning and the end of that. The
 * message of a frame (`post-messages=true`) has the fields `moving`, the share that moves, `global-change`, `regions`
 * and `found`.
 *
 * With `model-location` the model is kept in a file from one run to the next.
 *
 * Where `mask-location` or a region of `ignore-type` selects pixels, nothing is learnt.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! videoconvert ! cudabgsub ! videoconvert ! autovideosink
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! videoconvert ! cudabgsub display=false \
 *   ! cudavisiontrack type=motion ! cudavisionoverlay ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.3
 */
#include "gst/base/element/element.h"
#include "gst/bgsub/bgsub_operation.h"

namespace cudavision {
namespace {

GType output_type() {
  return enum_type(
      "GstCudaVisionBgsubOutput",
      {{BgsubOutput::mask, "The mask replaces the picture: 255 on what moves, 0 elsewhere", "mask"},
       {BgsubOutput::overlay, "What moves is painted with a colour", "overlay"},
       {BgsubOutput::background, "The background replaces the picture", "background"},
       {BgsubOutput::foreground, "What does not move becomes black", "foreground"}});
}

GType scale_type() {
  return enum_type("GstCudaVisionBgsubScale", {{1, "Every pixel", "1"},
                                               {2, "Squares of 2x2 pixels: a quarter of the work", "1/2"},
                                               {4, "Squares of 4x4 pixels: a sixteenth of the work", "1/4"}});
}

std::vector<Property<BgsubSettings>> model_properties() {
  using S = BgsubSettings;
  using R = BgsubRanges;
  constexpr auto kControllable = Mutable::controllable;
  return {
      integer_property<S>({"history", "History",
                           "Number of frames that the background is made of: the learning rate is 1 / "
                           "history, unless learning-rate is set"},
                          &S::history, R::history, kControllable),
      real_property<S>({"learning-rate", "Learning rate",
                        "How much of the model comes from each frame (0 = learn nothing after the first 20 "
                        "frames, 1 = start anew in each frame, -1 = by history)"},
                       &S::learning_rate, R::learning_rate),
      real_property<S>(
          {"var-threshold", "Variance threshold",
           "A pixel moves if its squared distance to the background exceeds this many variances"},
          &S::var_threshold, R::var_threshold),
      boolean_property<S>({"detect-shadows", "Detect shadows", "Do not count shadows as motion"},
                          &S::detect_shadows, kControllable),
      integer_property<S>(
          {"shadow-value", "Shadow value", "Value of shadows with output=mask open=0 close=0"},
          &S::shadow_value, R::shadow_value, kControllable),
      real_property<S>({"shadow-threshold", "Shadow threshold",
                        "Darkest shadow, as a part of the brightness of the background"},
                       &S::shadow_threshold, R::shadow_threshold),
      integer_property<S>({"mixtures", "Mixtures", "Maximum number of Gaussians for each pixel"},
                          &S::mixtures, R::mixtures, Mutable::ready),
      real_property<S>({"background-ratio", "Background ratio",
                        "The first Gaussians whose weights add up to this share are the background"},
                       &S::background_ratio, R::background_ratio),
      real_property<S>({"var-threshold-gen", "Variance threshold of generation",
                        "A pixel becomes a new Gaussian if its squared distance to all others exceeds this "
                        "many variances"},
                       &S::var_threshold_gen, R::var_threshold_gen),
      real_property<S>({"var-init", "Initial variance", "Variance of a new Gaussian"}, &S::var_init,
                       R::variance),
      real_property<S>({"var-min", "Minimum variance", "Smallest variance of a Gaussian"}, &S::var_min,
                       R::variance),
      real_property<S>({"var-max", "Maximum variance", "Largest variance of a Gaussian"}, &S::var_max,
                       R::variance),
      real_property<S>(
          {"complexity-reduction", "Complexity reduction",
           "Part of the learning rate that every weight loses in each frame, so that old Gaussians go"},
          &S::complexity_reduction, R::complexity_reduction),
      enum_property<S>({"scale", "Scale", "What counts as one pixel of the model"}, scale_type(), &S::scale,
                       Mutable::ready)};
}

std::vector<Property<BgsubSettings>> motion_properties() {
  using S = BgsubSettings;
  constexpr auto kControllable = Mutable::controllable;
  return {
      integer_property<S>(
          {"open", "Open", "Remove what is smaller than a disc of this radius in pixels (0 = off)"}, &S::open,
          MorphologyRanges::radius, kControllable),
      integer_property<S>({"close", "Close",
                           "Then fill gaps that are smaller than a disc of this radius in pixels (0 = off)"},
                          &S::close, MorphologyRanges::radius, kControllable),
      integer_property<S>({"min-area", "Minimum area", "Smallest part that becomes a region, in pixels"},
                          &S::min_area, ComponentRanges::min_area, kControllable),
      integer_property<S>(
          {"max-regions", "Maximum of regions", "Maximum number of regions per frame, the largest first"},
          &S::max_regions, BgsubSettingsRanges::max_regions),
      real_property<S>(
          {"max-motion", "Maximum motion",
           "If a larger share of the region of interest moves, the light has changed: there are no regions"},
          &S::max_motion, BgsubSettingsRanges::max_motion),
      real_property<S>(
          {"blind-time", "Blind time",
           "Longest time without regions after a change of the light, in seconds; the new light is learnt in "
           "half of it (0 = a change of the light is nothing special)"},
          &S::blind_time, BgsubSettingsRanges::blind_time),
      string_property<S>({"mask-location", "Mask location",
                          "A PNG picture, scaled to the frame: where it is bright, nothing is learnt"},
                         &S::mask_location, Mutable::ready),
      string_property<S>({"model-location", "Model location",
                          "File in which the model is kept: read at the start if it is there, and written at "
                          "the stop"},
                         &S::model_location, Mutable::ready),
      string_property<S>(
          {"ignore-type", "Ignore type",
           "Learn nothing in the regions of interest and object detections of this type that the buffer "
           "carries (* = of every type)"},
          &S::ignore_type),
      enum_property<S>({"output", "Output", "What is shown when display is on"}, output_type(), &S::output,
                       kControllable),
      color_property<S>({"color", "Color", "Colour and opacity of output=overlay: " CUDAVISION_COLOR_WORDS},
                        &S::color)};
}

struct BgsubElement {
  using Operation = BgsubOperation;

  static constexpr ElementText kText{
      "GstCudaBgsub", "Background subtraction", "Filter/Analyzer/Effect/Video/Hardware",
      "Finds what moves before a still camera, as cv::BackgroundSubtractorMOG2 does, on an "
      "NVIDIA GPU or on the CPU"};

  static std::vector<Property<BgsubSettings>> properties() {
    return joined(model_properties(), motion_properties());
  }

  static Status load(const BgsubSettings &settings, BgsubFiles *files) {
    CUDAVISION_TRY(MaskPicture::load_property(settings.mask_location, &files->mask));
    return SavedBackground::load(settings.model_location, &files->model);
  }
};

}  // namespace
}  // namespace cudavision

CUDAVISION_DEFINE_ELEMENT(cudabgsub, cudavision::BgsubElement)
