// SPDX-License-Identifier: LGPL-2.1-or-later
// A meta that holds a list of plain structs in GBytes, which copies of the frame share. keypoints_meta.cpp and
// lines_meta.cpp each define the C functions around it, because GObject introspection needs their names and types.
#pragma once

#include <gst/gst.h>

#include <cstring>
#include <optional>

#include "gst/meta/mapping.h"
#include "gst/meta/reading.h"
#include "gst/meta/registration.h"
#include "gst/meta/wire.h"

namespace cudavision {

// Meta has the members GstMeta meta and GBytes *items, an array of Item, which has no gaps.
template <typename Meta, typename Item>
class ListMeta {
 public:
  // Takes ownership of items. Returns nullptr if GStreamer refuses the buffer.
  static Meta *attach(GstBuffer *buffer, const GstMetaInfo *info, GBytes *items) {
    Meta *meta = as_list(gst_buffer_add_meta(buffer, info, nullptr));
    if (meta != nullptr)
      meta->items = items;
    else
      g_bytes_unref(items);
    return meta;
  }
  static Meta *attach_copy(GstBuffer *buffer, const GstMetaInfo *info, const Item *items, guint count) {
    return attach(buffer, info, g_bytes_new(items, sizeof(Item) * count));
  }

  static const Item *items(const Meta *meta, guint *count) {
    const ListReading<Item> list = list_in<Item>(meta->items);
    *count = list.count;
    return list.items;
  }
  static gboolean item(const Meta *meta, guint index, Item *result) {
    guint count = 0;
    const Item *all = items(meta, &count);
    *result = index < count ? all[index] : Item{};
    return index < count;
  }
  // A reference to all items, to be released by the caller; empty if there are none.
  static GBytes *bytes(const Meta *meta) {
    return list_in<Item>(meta->items).fault == nullptr ? g_bytes_ref(meta->items)
                                                       : g_bytes_new_static(nullptr, 0);
  }

  // The functions of the GstMetaInfo.

  static gboolean init(GstMeta *meta, gpointer, GstBuffer *) {
    as_list(meta)->items = nullptr;
    return TRUE;
  }
  static void free(GstMeta *meta, GstBuffer *) { g_clear_pointer(&as_list(meta)->items, g_bytes_unref); }
  static void clear(GstBuffer *buffer, GstMeta *meta) { free(meta, buffer); }

  // Treats a copy of some of the buffer's bytes as a copy of the frame, as GStreamer does for regions of interest.
  static gboolean transform(GstBuffer *dest, GstMeta *meta, GstBuffer *, GQuark type, gpointer data) {
    if (GST_META_TRANSFORM_IS_COPY(type)) return share(dest, meta);
    const std::optional<FrameMapping> mapping = mapping_of(type, data);
    if (!mapping) return FALSE;
    if (mapping->identity()) return share(dest, meta);
    return attach(dest, meta->info, map_all(as_list(meta), *mapping)) != nullptr;
  }

#if CUDAVISION_HAVE_META_SERIALISATION
  // The serialised form is the items as they lie in memory.
  static gboolean serialize(const GstMeta *meta, GstByteArrayInterface *data, guint8 *version) {
    guint count = 0;
    const Item *all = items(reinterpret_cast<const Meta *>(meta), &count);
    const gsize size = sizeof(Item) * count;
    guint8 *to = append_to(data, size);
    if (size != 0 && to != nullptr) std::memcpy(to, all, size);
    *version = kWireVersion;
    return to != nullptr || size == 0;
  }

  static GstMeta *deserialize(const GstMetaInfo *info, GstBuffer *buffer, const guint8 *data, gsize size,
                              guint8 version) {
    if (version != kWireVersion || size % sizeof(Item) != 0) return nullptr;
    return reinterpret_cast<GstMeta *>(attach(buffer, info, g_bytes_new(data, size)));
  }
#endif

 private:
  static Meta *as_list(GstMeta *meta) { return reinterpret_cast<Meta *>(meta); }

  static gboolean share(GstBuffer *dest, GstMeta *meta) {
    Meta *copy = as_list(gst_buffer_add_meta(dest, meta->info, nullptr));
    if (copy == nullptr) return FALSE;
    if (as_list(meta)->items != nullptr) copy->items = g_bytes_ref(as_list(meta)->items);
    return TRUE;
  }

  static GBytes *map_all(const Meta *meta, const FrameMapping &mapping) {
    guint count = 0, kept = 0;
    const Item *all = items(meta, &count);
    Item *mapped = g_new(Item, count);
    for (guint i = 0; i < count; ++i)
      if (const std::optional<Item> moved = mapping.map(all[i])) mapped[kept++] = *moved;
    return g_bytes_new_take(mapped, sizeof(Item) * kept);
  }
};

}  // namespace cudavision
