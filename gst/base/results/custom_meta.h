// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the custom metas of a frame. Any program may attach or change such a meta, so readers must expect any content.
#pragma once

#include <gst/gst.h>

namespace cudavision {

// Registers a custom meta, unless that has been done.
inline void register_custom_meta(const char *name, const gchar **tags,
                                 GstCustomMetaTransformFunction transform) {
  if (gst_meta_get_info(name) == nullptr)
    (void)gst_meta_register_custom(name, tags, transform, nullptr, nullptr);
}

// Calls visit with the structure of each custom meta of this name.
template <typename Visit>
void for_each_custom_meta(GstBuffer *buffer, const char *name, const Visit &visit) {
  gpointer state = nullptr;
  while (GstMeta *meta = gst_buffer_iterate_meta(buffer, &state)) {
    if (!gst_meta_info_is_custom(meta->info)) continue;
    auto *custom = reinterpret_cast<GstCustomMeta *>(meta);
    if (!gst_custom_meta_has_name(custom, name)) continue;
    if (const GstStructure *structure = gst_custom_meta_get_structure(custom)) visit(*structure);
  }
}

}  // namespace cudavision
