// SPDX-License-Identifier: LGPL-2.1-or-later
// Registers metas, for each version of GStreamer.
#pragma once

#include <gst/video/video.h>

// Numbers are serialised as they lie in the memory of little-endian machines.
#define CUDAVISION_HAVE_META_SERIALISATION (GST_CHECK_VERSION(1, 24, 0) && G_BYTE_ORDER == G_LITTLE_ENDIAN)

namespace cudavision {

// Registers the API type of a meta that holds results of a frame. The tags say that the results have positions in the
// picture: elements that scale, crop or rotate it either transform the meta or do not copy it.
inline GType register_meta_api(const char *name) {
  const char *tags[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
                        GST_META_TAG_VIDEO_ORIENTATION_STR, nullptr};
  return gst_meta_api_type_register(name, tags);
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

}  // namespace cudavision
