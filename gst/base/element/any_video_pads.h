// SPDX-License-Identifier: LGPL-2.1-or-later
// The pads of elements that read metas alone: they accept video of any format, in any memory.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <string>

namespace cudavision {

// Passes on what downstream proposes, but no crops: results in front of a crop that is still to be done lie elsewhere than
// the caps say.
inline gboolean propose_no_crops(GstBaseTransform *element, GstQuery *decided, GstQuery *query) {
  const auto *parent = static_cast<GstBaseTransformClass *>(g_type_class_peek(GST_TYPE_BASE_TRANSFORM));
  const gboolean answered = parent->propose_allocation(element, decided, query);
  guint index = 0;
  if (gst_query_find_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, &index))
    gst_query_remove_nth_allocation_meta(query, index);
  return answered;
}

// more: caps of the source pad besides video, in the notation of GStreamer.
inline void add_any_video_pads(GstElementClass *klass, const std::string &more = {}) {
  const std::string video = "video/x-raw(ANY)";
  const auto add = [klass](const char *name, GstPadDirection direction, const std::string &text) {
    GstCaps *caps = gst_caps_from_string(text.c_str());
    gst_element_class_add_pad_template(klass, gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps));
    gst_caps_unref(caps);
  };
  add("sink", GST_PAD_SINK, video);
  add("src", GST_PAD_SRC, more.empty() ? video : video + ';' + more);
  GST_BASE_TRANSFORM_CLASS(klass)->propose_allocation = GST_DEBUG_FUNCPTR(propose_no_crops);
}

}  // namespace cudavision
