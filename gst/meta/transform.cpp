// SPDX-License-Identifier: LGPL-2.1-or-later
// Interprets the transforms of metas, for each version of GStreamer.
#include <atomic>

#include "gst/meta/mapping.h"

GST_DEBUG_CATEGORY_STATIC(gst_cuda_vision_meta_debug);
#define GST_CAT_DEFAULT gst_cuda_vision_meta_debug

namespace cudavision {
namespace {

FrameSize size_of(const GstVideoInfo *info) {
  return {GST_VIDEO_INFO_WIDTH(info), GST_VIDEO_INFO_HEIGHT(info)};
}

// Whether the element may add borders when it scales, computed as in videoscale. A border of one pixel comes from
// rounding: it is at the right or at the bottom, and moves nothing.
bool may_add_borders(const GstVideoInfo &in, const GstVideoInfo &out) {
  gint n = 0, d = 0;  // the width of the picture divided by its height, in pixels of the new frame
  if (in.par_n <= 0 || in.par_d <= 0 || out.par_n <= 0 || out.par_d <= 0 ||
      !gst_util_fraction_multiply(in.width, in.height, in.par_n, in.par_d, &n, &d) ||
      !gst_util_fraction_multiply(n, d, out.par_d, out.par_n, &n, &d))
    return true;
  const auto height = static_cast<gint64>(gst_util_uint64_scale_int(static_cast<guint64>(out.width), d, n));
  if (height <= out.height) return out.height - height > 1;
  return out.width - static_cast<gint64>(gst_util_uint64_scale_int(static_cast<guint64>(out.height), n, d)) >
         1;
}

void warn_once_of_borders(const GstVideoInfo &in, const GstVideoInfo &out) {
  static std::atomic_flag warned;
  if (warned.test_and_set()) return;
  GST_DEBUG_CATEGORY_INIT(gst_cuda_vision_meta_debug, "cudavisionmeta", 0, "results on frames");
  GST_WARNING(
      "Frames of %dx%d pixels (pixel aspect ratio %d/%d) are scaled to %dx%d (%d/%d), which changes the "
      "display "
      "aspect ratio. Metas are not told whether borders are added, so results are dropped: tensors, "
      "keypoints and "
      "lines. Keep the display aspect ratio, scale before the analysis, or use videoscale of GStreamer 1.28.",
      in.width, in.height, in.par_n, in.par_d, out.width, out.height, out.par_n, out.par_d);
}

std::optional<FrameMapping> scaling_of(const GstVideoMetaTransform &scale) {
  const GstVideoInfo &in = *scale.in_info, &out = *scale.out_info;
  if (in.width <= 0 || in.height <= 0 || out.width <= 0 || out.height <= 0) return std::nullopt;
  if (may_add_borders(in, out)) {
    warn_once_of_borders(in, out);
    return std::nullopt;
  }
  return FrameMapping::scaling(size_of(&in), size_of(&out));
}

}  // namespace

std::optional<FrameMapping> mapping_of(GQuark type, gpointer data) {
  if (GST_VIDEO_META_TRANSFORM_IS_SCALE(type))
    return scaling_of(*static_cast<const GstVideoMetaTransform *>(data));
#if GST_CHECK_VERSION(1, 28, 0)
  if (GST_VIDEO_META_TRANSFORM_IS_MATRIX(type)) {
    const auto *transform = static_cast<const GstVideoMetaTransformMatrix *>(data);
    const auto &last = transform->matrix[2];
    if (last[0] != 0 || last[1] != 0 || last[2] == 0)
      return std::nullopt;  // a perspective, which no element has
    return FrameMapping::matrix(transform->matrix, transform->in_rectangle, size_of(transform->in_info),
                                transform->out_rectangle, size_of(transform->out_info));
  }
#endif
  return std::nullopt;
}

}  // namespace cudavision
