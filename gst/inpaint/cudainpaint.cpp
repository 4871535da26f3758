// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudainpaint: its description and its properties.
/**
 * SECTION:element-cudainpaint
 * @title: cudainpaint
 * @short_description: Removes objects from the picture
 *
 * cudainpaint fills the removed parts of a frame with patches from the rest of it, by the exemplar-based method of A.
 * Criminisi, P. Perez and K. Toyama, "Region Filling and Object Removal by Exemplar-Based Image Inpainting" (IEEE
 * Transactions on Image Processing 13(9), 2004), on an NVIDIA GPU or, without one, on the CPU.
 *
 * The pixels to remove are selected by a picture (`mask-location`), by a colour (`mask-color`, `mask-tolerance`), by
 * the alpha channel (`mask-alpha`), by a region (`region-x`, `region-y`, `region-width`, `region-height`) or by the
 * regions of interest and object detections of the buffer (`remove-type`). Several of them can be combined, and
 * `attach-mask` attaches the result; `dilate` grows their union. Nothing outside of `roi-x`, `roi-y`, `roi-width` and
 * `roi-height` is removed, but patches are taken from the whole frame. In formats with subsampled chroma, whole chroma
 * samples are removed. All other bytes of the frame stay unchanged.
 *
 * If each frame is filled separately, the filled parts flicker. With `mode=temporal`, for a still camera, the
 * background that earlier frames have shown is restored first, adapted to the light of this frame, and only the rest is
 * filled. A background pixel that is not seen again is forgotten after `history` frames. All of the background is
 * forgotten after a flush, a jump in time or new caps, and when a frame is not learned (`mode=frame`, `display=false`).
 * `history` counts the frames that are processed, not those skipped by `every-nth` or by gap buffers. The background of
 * a pixel is what it has shown most of the time while it was not removed. Something new becomes background only if it
 * stands still for `learn-frames` frames, or for longer than the background was seen, so people whom the detector
 * misses while they walk are not learned. Superfluous boxes do no harm, so a low `hit-threshold` of the detector is
 * better than a high one. `dilate` covers boxes that are too small. For live use, `max-patches` limits the time per
 * frame: the remaining pixels are filled by diffusion.
 *
 * If a frame has no patch to fill the hole from, it passes unchanged, and a warning is posted. On the CPU, a
 * long fill posts progress messages with the code `inpaint` twice a second. On the GPU a fill posts no progress
 * messages. A flush or a state change stops a fill before its next patch: then the frame stays unchanged, and the
 * last message, if there are any, is `canceled`. `search-radius` and `max-patches` limit the time. The message of a
 * frame (`post-messages=true`) has the fields `removed`, `remembered` and `diffused`, in pixels, `patches` and
 * `refused`. With `display=false` frames pass unchanged.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=photo.jpg ! decodebin ! videoconvert ! cudainpaint mask-location=mask.png \
 *   ! videoconvert ! pngenc ! filesink location=filled.png
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! videoconvert \
 *   ! cudahog model=people display=false hit-threshold=-0.6 group-threshold=1 \
 *   ! cudainpaint remove-type=person mode=temporal dilate=8 search-radius=80 ! videoconvert ! autovideosink
 * gst-launch-1.0 v4l2src ! videoconvert \
 *   ! cudainpaint region-x=200 region-y=100 region-width=80 region-height=60 search-radius=64 max-patches=200 \
 *   ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.2
 */
#include "cuda/inpaint/removal_mask.h"
#include "gst/base/element/element.h"
#include "gst/inpaint/inpaint_operation.h"

namespace cudavision {
namespace {

GType mode_type() {
  return enum_type(
      "GstCudaVisionInpaintMode",
      {{InpaintMode::frame, "Fills each frame separately", "frame"},
       {InpaintMode::temporal,
        "For a still camera: restores the background that earlier frames have shown, and fills the rest",
        "temporal"}});
}

std::vector<Property<InpaintSettings>> fill_properties() {
  using S = InpaintSettings;
  using R = InpaintRanges;
  return {
      integer_property<S>(
          {"patch-size", "Patch size", "Width and height of a patch in pixels (an odd number)"},
          &S::patch_size, R::patch_size),
      integer_property<S>({"search-radius", "Search radius",
                           "Take patches from at most this many pixels away (0 = from the whole frame)"},
                          &S::search_radius, R::search_radius),
      boolean_property<S>({"lab", "Lab", "Compare patches in CIE L*a*b* instead of RGB"}, &S::lab),
      integer_property<S>(
          {"max-patches", "Maximum of patches",
           "Maximum number of patches per frame; diffusion fills the rest, for live use (0 = unlimited)"},
          &S::max_patches, R::max_patches),
      enum_property<S>({"mode", "Mode", "How earlier frames are used"}, mode_type(), &S::mode),
      integer_property<S>(
          {"history", "History",
           "Processed frames after which mode=temporal forgets a background pixel (0 = never)"},
          &S::history, R::history),
      integer_property<S>(
          {"learn-frames", "Learn frames",
           "Frames in succession that must show something new before mode=temporal takes it for background"},
          &S::learn_frames, R::learn_frames)};
}

std::vector<Property<InpaintSettings>> mask_properties() {
  using S = InpaintSettings;
  return {string_property<S>({"mask-location", "Mask location",
                              "A PNG picture, scaled to the frame, whose bright pixels are removed"},
                             &S::mask_location, Mutable::ready),
          color_property<S>({"mask-color", "Mask color",
                             "Remove the pixels of this colour (none, or " CUDAVISION_COLOR_WORDS ")"},
                            &S::mask_color),
          integer_property<S>(
              {"mask-tolerance", "Mask tolerance",
               "Largest difference of each component from mask-color, in the components of the frame"},
              &S::mask_tolerance, RemovalRanges::tolerance, Mutable::controllable),
          boolean_property<S>({"mask-alpha", "Mask alpha",
                               "Remove the pixels that are more than half transparent, and make them opaque"},
                              &S::mask_alpha),
          boolean_property<S>(
              {"attach-mask", "Attach mask",
               "Attach the mask of the removed pixels as the tensor removal-mask, also with display=false"},
              &S::attach_mask)};
}

std::vector<Property<InpaintSettings>> region_properties() {
  using S = InpaintSettings;
  constexpr Range<int> kPixels{0, G_MAXINT};
  constexpr auto kControllable = Mutable::controllable;
  return {integer_property<S>({"region-x", "Region x", "Left column of a region to remove in pixels"},
                              &S::region_x, kPixels, kControllable),
          integer_property<S>({"region-y", "Region y", "Top row of a region to remove in pixels"},
                              &S::region_y, kPixels, kControllable),
          integer_property<S>(
              {"region-width", "Region width", "Width of a region to remove in pixels (0 = none)"},
              &S::region_width, kPixels, kControllable),
          integer_property<S>(
              {"region-height", "Region height", "Height of a region to remove in pixels (0 = none)"},
              &S::region_height, kPixels, kControllable),
          string_property<S>({"remove-type", "Remove type",
                              "Remove the regions of interest and object detections of this type that the "
                              "buffer carries (* = of every type)"},
                             &S::remove_type),
          deprecated(
              string_property<S>({"roi-type", "ROI type", "The old name of remove-type"}, &S::remove_type)),
          integer_property<S>(
              {"dilate", "Dilate", "Grow the removed parts by this many pixels in every direction"},
              &S::dilation, RemovalRanges::dilation, kControllable)};
}

struct InpaintElement {
  using Operation = InpaintOperation;

  static constexpr ElementText kText{"GstCudaInpaint", "Inpainting", "Filter/Effect/Video/Hardware",
                                     "Removes objects from the picture and fills the holes with patches of "
                                     "the rest, on an NVIDIA GPU or on the CPU"};

  static std::vector<Property<InpaintSettings>> properties() {
    return joined(joined(fill_properties(), mask_properties()), region_properties());
  }

  static Status load(const InpaintSettings &settings, InpaintFiles *files) {
    return MaskPicture::load_property(settings.mask_location, &files->mask);
  }
};

}  // namespace
}  // namespace cudavision

CUDAVISION_DEFINE_ELEMENT(cudainpaint, cudavision::InpaintElement)
