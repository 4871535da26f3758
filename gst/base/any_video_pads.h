// SPDX-License-Identifier: LGPL-2.1-or-later
// The pads of elements that read metas alone: they accept video of any format, in any memory.
#pragma once

#include <gst/gst.h>

#include <utility>

namespace cudavision {

inline void add_any_video_pads(GstElementClass *klass) {
  GstCaps *caps = gst_caps_from_string("video/x-raw(ANY)");
  for (const auto &[name, direction] : {std::pair{"sink", GST_PAD_SINK}, std::pair{"src", GST_PAD_SRC}})
    gst_element_class_add_pad_template(klass, gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps));
  gst_caps_unref(caps);
}

}  // namespace cudavision
