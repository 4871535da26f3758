// SPDX-License-Identifier: LGPL-2.1-or-later
// Registers metas and interprets their transforms, for each version of GStreamer.
#pragma once

#include <gst/video/video.h>

#include <optional>

#include "gst/meta/mapping.h"

#define CUDAVISION_HAVE_META_SERIALISATION GST_CHECK_VERSION(1, 24, 0)
#define CUDAVISION_HAVE_META_MATRIX GST_CHECK_VERSION(1, 28, 0)

namespace cudavision {

// Registers the API type of a meta. has_coordinates: true if it holds positions in pixels.
inline GType register_meta_api(const char *name, bool has_coordinates) {
  const char *in_pixels[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
                             GST_META_TAG_VIDEO_ORIENTATION_STR, nullptr};
  const char *anywhere[] = {GST_META_TAG_VIDEO_STR, nullptr};
  return gst_meta_api_type_register(name, has_coordinates ? in_pixels : anywhere);
}

// Registers a meta. Meta is the C struct; Functions has the functions of its GstMetaInfo as static members.
template <typename Meta, typename Functions>
const GstMetaInfo *register_meta(GType api, const char *name) {
#if CUDAVISION_HAVE_META_SERIALISATION
  GstMetaInfo *info = gst_meta_info_new(api, name, sizeof(Meta));
  info->init_func = Functions::init;
  info->free_func = Functions::free;
  info->transform_func = Functions::transform;
  info->clear_func = Functions::clear;
  info->serialize_func = Functions::serialize;
  info->deserialize_func = Functions::deserialize;
  return gst_meta_info_register(info);
#else
  return gst_meta_register(api, name, sizeof(Meta), Functions::init, Functions::free, Functions::transform);
#endif
}

inline bool is_matrix_transform([[maybe_unused]] GQuark type) {
#if CUDAVISION_HAVE_META_MATRIX
  return GST_VIDEO_META_TRANSFORM_IS_MATRIX(type);
#else
  return false;
#endif
}

// The mapping that a transform applies to coordinates; nullopt for unknown transforms.
inline std::optional<FrameMapping> mapping_of(GQuark type, gpointer data) {
  if (GST_VIDEO_META_TRANSFORM_IS_SCALE(type)) {
    const auto *scale = static_cast<const GstVideoMetaTransform *>(data);
    const double width = GST_VIDEO_INFO_WIDTH(scale->in_info), height = GST_VIDEO_INFO_HEIGHT(scale->in_info);
    if (!(width > 0 && height > 0)) return std::nullopt;
    return FrameMapping::scaling(GST_VIDEO_INFO_WIDTH(scale->out_info) / width,
                                 GST_VIDEO_INFO_HEIGHT(scale->out_info) / height);
  }
#if CUDAVISION_HAVE_META_MATRIX
  if (is_matrix_transform(type)) {
    const auto *transform = static_cast<const GstVideoMetaTransformMatrix *>(data);
    const FrameSize in_size{GST_VIDEO_INFO_WIDTH(transform->in_info),
                            GST_VIDEO_INFO_HEIGHT(transform->in_info)};
    return FrameMapping::matrix(transform->matrix, transform->in_rectangle, in_size,
                                transform->out_rectangle);
  }
#endif
  return std::nullopt;
}

}  // namespace cudavision
