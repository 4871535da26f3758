// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudarectify: its description, its properties, and the sizes of its frames.
/**
 * SECTION:element-cudarectify
 * @title: cudarectify
 * @short_description: Straight pictures of lenses that bend them, views of fisheyes, and a plane from above
 *
 * cudarectify makes a new picture out of each frame, as `cv::remap` does: `view=undistorted` takes out the distortion
 * of a lens, `perspective` and `panorama` are views of a fisheye, and `plane` shows a plane, such as a street, from
 * above. `calibration-location` is a file of OpenCV or ROS that describes the camera. The caps behind the element
 * choose the size of the new picture; without them it has the size of the frame.
 *
 * Regions of interest, object detections, tracks, keypoints, lines, and the shapes and events of zones are carried to
 * their places in the new picture. Those that leave it are dropped, as are results that fill the picture.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! cudarectify calibration-location=camera.yml ! videoconvert ! autovideosink
 * gst-launch-1.0 v4l2src ! videoconvert ! cudarectify view=plane corners="0.4,0.4 0.6,0.4 0.9,1 0.1,1" ! \
 *   video/x-raw,width=400,height=800 ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.3
 */
#include <utility>
#include <vector>

#include "cuda/common/backends.h"
#include "gst/base/element/element.h"
#include "gst/base/results/zones_meta.h"
#include "gst/rectify/rectify_operation.h"

namespace cudavision {
namespace {

using rectify::ViewKind;

GType view_type() {
  return enum_type(
      "GstCudaVisionRectifyView",
      {{ViewKind::undistorted, "The camera's direction, without the distortion of its lens", "undistorted"},
       {ViewKind::perspective, "A direction, as a camera without distortion sees it", "perspective"},
       {ViewKind::panorama, "All around: columns are directions, rows are angles", "panorama"},
       {ViewKind::plane, "A plane from above: four corners become those of the picture", "plane"}});
}

GType interpolation_type() {
  return enum_type("GstCudaVisionInterpolation",
                   {{Interpolation::nearest, "The nearest sample", "nearest"},
                    {Interpolation::linear, "Linear between four samples", "linear"}});
}

GType border_type() {
  return enum_type("GstCudaVisionBorder",
                   {{Border::constant, "border-color", "constant"},
                    {Border::replicate, "The samples at the edge of the frame go on", "replicate"}});
}

std::vector<Property<RectifySettings>> view_properties() {
  using S = RectifySettings;
  return {
      string_property<S>({"calibration-location", "Calibration location",
                          "File that describes the camera: OpenCV's YAML, or the camera_info of ROS"},
                         &S::calibration_location, Mutable::ready),
      enum_property<S>({"view", "View", "What the new picture shows"}, view_type(), &S::kind),
      real_property<S>(
          {"alpha", "Alpha", "undistorted: 0 shows no pixel from outside the frame, 1 shows the whole frame"},
          &S::alpha, 0, 1),
      real_property<S>({"pan", "Pan", "perspective, panorama: the direction in degrees, to the right"},
                       &S::pan, -360, 360),
      real_property<S>({"tilt", "Tilt", "perspective, panorama: the direction in degrees, downwards"},
                       &S::tilt, -360, 360),
      real_property<S>(
          {"roll", "Roll", "perspective, panorama: the turn of the camera in degrees, clockwise"}, &S::roll,
          -360, 360),
      real_property<S>({"field-of-view", "Field of view",
                        "perspective: degrees across the width; panorama: degrees from top to bottom"},
                       &S::field_of_view, 1, 180),
      string_property<S>({"corners", "Corners",
                          "plane: x,y of four corners in fractions of the frame, clockwise from the one that "
                          "becomes the top left corner"},
                         &S::corners_text),
      string_property<S>(
          {"homography", "Homography",
           "plane: nine numbers, row by row, from pixels of the straightened frame to those of "
           "the new picture, as in cv::warpPerspective"},
          &S::homography_text)};
}

std::vector<Property<RectifySettings>> sample_properties() {
  using S = RectifySettings;
  return {enum_property<S>({"interpolation", "Interpolation", "How samples between pixels are computed"},
                           interpolation_type(), &S::interpolation),
          enum_property<S>({"border", "Border", "What lies outside of the frame"}, border_type(), &S::border),
          color_property<S>({"border-color", "Border color",
                             "The colour of what the camera does not see, as " CUDAVISION_COLOR_WORDS},
                            &S::border_color)};
}

// Any size becomes any size.
GstCaps *transform_caps(GstBaseTransform *transform, GstPadDirection direction, GstCaps *caps,
                        GstCaps *filter) {
  GstCaps *any = gst_caps_copy(caps);
  for (guint i = 0; i < gst_caps_get_size(any); ++i)
    gst_structure_set(gst_caps_get_structure(any, i), "width", GST_TYPE_INT_RANGE, 1, kMaxSide, "height",
                      GST_TYPE_INT_RANGE, 1, kMaxSide, nullptr);
  const gpointer base = g_type_class_peek(GST_TYPE_CUDA_VISION_FILTER);
  GstCaps *result = GST_BASE_TRANSFORM_CLASS(base)->transform_caps(transform, direction, any, filter);
  gst_caps_unref(any);
  return result;
}

// Caps without a colorimetry mean one that depends on the size, so a new size may need that of the frame.
void keep_colorimetry(const GstCaps *frame, GstCaps *made) {
  GstVideoInfo before, after;
  if (gst_structure_has_field(gst_caps_get_structure(made, 0), "colorimetry") ||
      !gst_video_info_from_caps(&before, frame) || !gst_video_info_from_caps(&after, made) ||
      gst_video_colorimetry_is_equal(&before.colorimetry, &after.colorimetry))
    return;
  g_autofree gchar *text = gst_video_colorimetry_to_string(&before.colorimetry);
  if (text != nullptr) gst_caps_set_simple(made, "colorimetry", G_TYPE_STRING, text, nullptr);
}

// The size of the frame, where others leave a choice, also if they would like another one most, as videoscale does.
GstCaps *fixate_caps(GstBaseTransform *, GstPadDirection direction, GstCaps *caps, GstCaps *other) {
  GstCaps *same = gst_caps_intersect(other, caps);
  if (!gst_caps_is_empty(same)) std::swap(same, other);
  gst_caps_unref(same);
  GstStructure *wanted = gst_caps_get_structure(caps, 0);
  other = gst_caps_make_writable(gst_caps_truncate(other));
  for (const char *side : {"width", "height"})
    if (gint length = 0; gst_structure_get_int(wanted, side, &length))
      gst_structure_fixate_field_nearest_int(gst_caps_get_structure(other, 0), side, length);
  other = gst_caps_fixate(other);
  if (direction == GST_PAD_SINK) keep_colorimetry(caps, other);
  return other;
}

// Properties of the base class that choose a part of the frames, or a part of each, have no effect.
void warn_of_parts(GstCudaVisionFilter *filter) {
  gint x = 0, y = 0, width = 0, height = 0, nth = 1;
  g_object_get(filter, "roi-x", &x, "roi-y", &y, "roi-width", &width, "roi-height", &height, "every-nth",
               &nth, nullptr);
  if ((x | y | width | height) != 0 || nth != 1)
    GST_ELEMENT_WARNING(filter, RESOURCE, SETTINGS,
                        ("Every frame is made anew as a whole: roi-x, roi-y, roi-width, roi-height and "
                         "every-nth have no effect"),
                        (nullptr));
}

struct RectifyElement {
  using Operation = RectifyOperation;

  static constexpr ElementText kText{"GstCudaRectify", "Rectification", "Filter/Effect/Video/Hardware",
                                     "Straightens pictures of lenses and fisheyes, and shows a plane from "
                                     "above, on an NVIDIA GPU or on the CPU"};

  static std::vector<Property<RectifySettings>> properties() {
    return joined(view_properties(), sample_properties());
  }
  static Status load(const RectifySettings &settings, RectifyFiles *files) {
    if (!settings.has_calibration()) return {};
    return rectify::read_calibration(*settings.calibration_location, &files->calibration.emplace());
  }
  static void extend(GstCudaVisionFilterClass *klass) {
    make_new_frames(klass);
    static const auto prepare = klass->prepare;
    klass->prepare = [](GstCudaVisionFilter *filter, const char **what) {
      warn_of_parts(filter);
      return prepare(filter, what);
    };
    GST_BASE_TRANSFORM_CLASS(klass)->transform_caps = GST_DEBUG_FUNCPTR(transform_caps);
    GST_BASE_TRANSFORM_CLASS(klass)->fixate_caps = GST_DEBUG_FUNCPTR(fixate_caps);
    register_zones_meta();
  }
};

}  // namespace
}  // namespace cudavision

CUDAVISION_DEFINE_ELEMENT(cudarectify, cudavision::RectifyElement)
