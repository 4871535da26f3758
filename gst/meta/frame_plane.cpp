// SPDX-License-Identifier: LGPL-2.1-or-later
// Describes how the samples of a plane are laid out.
#include <algorithm>

#include "gst/meta/array_export.h"

namespace cudavision {
namespace {

bool refuse(GError **error, const GstVideoInfo &info, const char *reason) {
  g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "frames of the format %s are no arrays: %s",
              gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info)), reason);
  return false;
}

// The properties of the samples of a plane, taken over all components in the plane.
struct Samples {
  guint components = 0;
  gint pixel_stride = G_MAXINT;  // the smallest of any component, in bytes
  guint bits = 0;                // of a sample, including unused low bits
  guint first = 0;               // the component with the most samples in a row
  guint most_subsampled = 0;     // log2 of the largest horizontal subsampling
  bool share_bytes = false;      // as in RGB16, whose pixel is one number
};

Samples samples_of(const GstVideoFormatInfo &format, guint plane) {
  Samples samples;
  for (guint c = 0; c < format.n_components; ++c) {
    if (format.plane[c] != plane) continue;
    for (guint other = 0; other < c; ++other)
      samples.share_bytes |= format.plane[other] == plane && format.poffset[other] == format.poffset[c];
    if (samples.components++ == 0 || format.w_sub[c] < format.w_sub[samples.first]) samples.first = c;
    samples.pixel_stride = std::min(samples.pixel_stride, format.pixel_stride[c]);
    samples.bits = std::max(samples.bits, format.depth[c] + format.shift[c]);
    samples.most_subsampled = std::max(samples.most_subsampled, format.w_sub[c]);
  }
  return samples;
}

gint bytes_of_sample(const Samples &samples) {
  if (samples.share_bytes) return samples.pixel_stride;
  return samples.bits <= 8 ? 1 : 2;
}

bool is_array(const GstVideoInfo &info, const Samples &samples, GError **error) {
  const GstVideoFormatFlags flags = info.finfo->flags;
  if ((flags & (GST_VIDEO_FORMAT_FLAG_COMPLEX | GST_VIDEO_FORMAT_FLAG_TILED)) != 0)
    return refuse(error, info, "their samples do not lie in rows of whole bytes");
  if ((flags & GST_VIDEO_FORMAT_FLAG_PALETTE) != 0) return refuse(error, info, "they have a palette");
  const gint bytes = bytes_of_sample(samples);
  if (bytes != 1 && bytes != 2 && bytes != 4) return refuse(error, info, "their samples have no type");
  // IYU1: its luma samples are not equally far apart.
  if (samples.pixel_stride < bytes) return refuse(error, info, "their samples do not lie at equal distances");
  const bool little_endian = (flags & GST_VIDEO_FORMAT_FLAG_LE) != 0;
  if (!samples.share_bytes && bytes > 1 && little_endian != (G_BYTE_ORDER == G_LITTLE_ENDIAN))
    return refuse(error, info, "the bytes of their samples are in the order of other machines");
  return true;
}

// Finds the offset and the stride of the rows in the frame's GstVideoMeta or, if it has none, in the caps.
bool find_rows(GstBuffer *buffer, const GstVideoInfo &info, guint plane, gsize *offset, gint *stride,
               GError **error) {
  const GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);
  if (meta == nullptr && device_memory_of(buffer) != nullptr) {
    g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                "the frame has no GstVideoMeta, which tells where its rows lie on the GPU");
    return false;
  }
  if (meta != nullptr &&
      (meta->format != GST_VIDEO_INFO_FORMAT(&info) || meta->width != guint(GST_VIDEO_INFO_WIDTH(&info)) ||
       meta->height != guint(GST_VIDEO_INFO_HEIGHT(&info)) ||
       meta->n_planes != GST_VIDEO_INFO_N_PLANES(&info))) {
    g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "the frame is none of these caps");
    return false;
  }
  *offset = meta != nullptr ? meta->offset[plane] : GST_VIDEO_INFO_PLANE_OFFSET(&info, plane);
  *stride = meta != nullptr ? meta->stride[plane] : GST_VIDEO_INFO_PLANE_STRIDE(&info, plane);
  return true;
}

}  // namespace

bool layout_plane(GstBuffer *buffer, const GstVideoInfo &info, guint plane, ArrayLayout *layout,
                  GError **error) {
  if (plane >= GST_VIDEO_INFO_N_PLANES(&info)) {
    g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                "there is no plane %u in a frame of %u planes", plane, GST_VIDEO_INFO_N_PLANES(&info));
    return false;
  }
  const Samples samples = samples_of(*info.finfo, plane);
  gint stride = 0;
  if (!is_array(info, samples, error) || !find_rows(buffer, info, plane, &layout->offset, &stride, error))
    return false;

  const gint bytes = bytes_of_sample(samples), whole = (1 << samples.most_subsampled) - 1;
  gint columns = GST_VIDEO_INFO_COMP_WIDTH(&info, samples.first);
  // Two pixels of YUY2 share their chroma, so a row has an even number of pixels.
  if (samples.most_subsampled != info.finfo->w_sub[samples.first]) columns = (columns + whole) & ~whole;
  const gint rows =
      GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT(info.finfo, samples.first, GST_VIDEO_INFO_FIELD_HEIGHT(&info));
  const gint channels = samples.pixel_stride / bytes;
  if (stride < gint64{columns} * samples.pixel_stride || stride % bytes != 0)
    return refuse(error, info, "their rows do not lie one after the other");

  g_snprintf(layout->name, sizeof layout->name, "plane %u of the frame", plane);
  layout->type = {kDLUInt, static_cast<std::uint8_t>(8 * bytes), 1};
  layout->n_dims = channels > 1 ? 3 : 2;
  const gint shape[] = {rows, columns, channels}, strides[] = {stride / bytes, channels, 1};
  std::copy_n(shape, layout->n_dims, layout->shape);
  std::copy_n(strides, layout->n_dims, layout->strides);
  layout->size = gsize(rows - 1) * gsize(stride) + gsize(columns) * gsize(samples.pixel_stride);
  return true;
}

}  // namespace cudavision
