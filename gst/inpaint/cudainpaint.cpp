// SPDX-License-Identifier: LGPL-2.1-or-later
// clang-format off
/**
 * SECTION:element-cudainpaint
 * @title: cudainpaint
 * @short_description: Removes things from the picture
 *
 * cudainpaint fills what is removed from the frame with patches of the rest of it, by the exemplar-based
 * method of A. Criminisi, P. Perez and K. Toyama (IEEE Transactions on Image Processing 13(9), 2004), on
 * an NVIDIA GPU or, without one, on the CPU.
 *
 * What is removed is said by a picture (`mask-location`), by a colour (`mask-color`, `mask-tolerance`),
 * by the alpha channel (`mask-alpha`), by a region (`region-x`, `region-y`, `region-width`,
 * `region-height`) or by the region-of-interest metas that the buffer carries (`roi-type`). Several of
 * them can be combined; `dilate` grows what they say together. Nothing outside of `roi-x`, `roi-y`,
 * `roi-width` and `roi-height` is removed, but patches are taken from the whole frame. In formats whose
 * chroma is subsampled whole samples of chroma are removed. All other bytes of the frame stay as they
 * are.
 *
 * Filling each frame alone flickers. With `mode=temporal`, for a still camera, what earlier frames have
 * shown of the background is put back first, brought to the light of this frame, and only the rest is
 * filled. What was seen is forgotten after `history` frames, and at a flush, a discontinuity or new caps,
 * and where a frame is not followed (`mode=frame`, `display=false`). `history` counts the frames that are
 * worked on: those between with `every-nth`, and gaps, do not count. What nothing says to remove is taken for
 * background: a person that the detector misses for one frame is seen as background there, and comes back
 * as a ghost when the next frame removes it. A box too many does no harm: a low `hit-threshold` of the
 * detector is a good one. `dilate` covers boxes that are too small, and `history` bounds how long a ghost
 * stays. For live use `max-patches` bounds the time for a frame: the rest is filled by
 * diffusion.
 *
 * A frame that holds no patch from which it could be filled passes unchanged, with a warning. On the CPU
 * a fill that takes long posts progress messages, code `inpaint`, twice a second, and a flush or a state
 * change ends it: then its frame stays as it is, and the last message is `canceled`. On the GPU a fill runs
 * to its end, without messages of progress: bound it by `search-radius` and `max-patches`. The message of a frame
 * (`message=true`) has the fields `removed`, `remembered` and `diffused`, in pixels, `patches` and
 * `refused`. With `display=false` nothing is done.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=photo.jpg ! decodebin ! videoconvert ! cudainpaint mask-location=mask.png ! videoconvert ! pngenc ! filesink location=filled.png
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! videoconvert ! cudahog model-location=people.yml display=false hit-threshold=-0.6 group-threshold=1 ! cudainpaint roi-type=person mode=temporal dilate=8 search-radius=80 ! videoconvert ! autovideosink
 * gst-launch-1.0 v4l2src ! videoconvert ! cudainpaint region-x=200 region-y=100 region-width=80 region-height=60 search-radius=64 max-patches=200 ! videoconvert ! autovideosink
 * ]|
 */
// clang-format on
#include "gst/gstcudainpaint.h"

#include "gst/base/valid_settings.h"
#include "gst/inpaint/inpaint_operation.h"
#include "gst/inpaint/inpaint_properties.h"

namespace {

using cudavision::InpaintSettings;
using cudavision::MaskPicture;
using cudavision::Status;
using Properties = cudavision::InpaintProperties;

struct State {
  InpaintSettings settings;  // under the object lock
  cudavision::ValidSettings<InpaintSettings> valid;
  std::shared_ptr<const MaskPicture> picture;  // of mask-location when the element started
};

}  // namespace

struct GstCudaVisionInpaint {
  GstCudaVisionFilter parent;
  State *state;
};
struct GstCudaVisionInpaintClass {
  GstCudaVisionFilterClass parent_class;
};

G_DEFINE_TYPE(GstCudaVisionInpaint, gst_cuda_vision_inpaint, GST_TYPE_CUDA_VISION_FILTER)
GST_ELEMENT_REGISTER_DEFINE(cudainpaint, "cudainpaint", GST_RANK_NONE, GST_TYPE_CUDA_VISION_INPAINT)

namespace {

State *state_of(gpointer object) { return static_cast<GstCudaVisionInpaint *>(object)->state; }

Status make_operation(GstCudaVisionFilter *filter, const cudavision::Site &site,
                      std::unique_ptr<cudavision::Operation> *operation) {
  const auto take_settings = [filter]() -> const InpaintSettings & {
    return state_of(filter)->valid.take(filter, Properties::snapshot(filter));
  };
  auto made = std::make_unique<cudavision::InpaintOperation>(GST_ELEMENT(filter), take_settings,
                                                             state_of(filter)->picture);
  CUDAVISION_TRY(made->allocate(site));
  *operation = std::move(made);
  return {};
}

Status check_settings(GstCudaVisionFilter *filter) {
  return state_of(filter)->valid.begin(Properties::snapshot(filter));
}

gint resource_error_of(const GError *error) {
  return g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT) ? GST_RESOURCE_ERROR_NOT_FOUND
                                                                  : GST_RESOURCE_ERROR_READ;
}

gboolean start(GstBaseTransform *transform) {
  State *state = state_of(transform);
  const InpaintSettings settings = Properties::snapshot(transform);
  state->picture.reset();
  if (settings.mask_location) {
    GError *error = nullptr;
    state->picture = MaskPicture::load(*settings.mask_location, &error);
    if (!state->picture) {
      gst_element_message_full(GST_ELEMENT(transform), GST_MESSAGE_ERROR, GST_RESOURCE_ERROR,
                               resource_error_of(error),
                               g_strdup_printf("The mask of mask-location, \"%s\", could not be read: %s",
                                               settings.mask_location->c_str(), error->message),
                               nullptr, __FILE__, G_STRFUNC, __LINE__);
      g_clear_error(&error);
      return FALSE;
    }
  }
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_vision_inpaint_parent_class)->start(transform);
}

void finalize(GObject *object) {
  delete state_of(object);
  G_OBJECT_CLASS(gst_cuda_vision_inpaint_parent_class)->finalize(object);
}

}  // namespace

static void gst_cuda_vision_inpaint_class_init(GstCudaVisionInpaintClass *klass) {
  G_OBJECT_CLASS(klass)->finalize = finalize;
  cudavision::install_inpaint_properties(G_OBJECT_CLASS(klass),
                                         [](GObject *object) { return &state_of(object)->settings; });
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(
      element, "Inpainting", "Filter/Effect/Video/Hardware",
      "Removes things from the picture and fills it with patches of the rest, on an NVIDIA GPU or on the CPU",
      "gst-cudavision");
  cudavision::add_video_pads(element);
  GST_BASE_TRANSFORM_CLASS(klass)->start = start;
  auto *filter = reinterpret_cast<GstCudaVisionFilterClass *>(klass);
  filter->make_operation = make_operation;
  filter->check_settings = check_settings;
}

static void gst_cuda_vision_inpaint_init(GstCudaVisionInpaint *inpaint) { inpaint->state = new State(); }
