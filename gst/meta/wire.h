// SPDX-License-Identifier: LGPL-2.1-or-later
// Metas in serialised form, which are values of GVariant.
#pragma once

#include <cstring>

#include "gst/meta/registration.h"

#if CUDAVISION_HAVE_META_SERIALISATION
namespace cudavision {

// The version of what this library writes, and the only one that it reads.
inline constexpr guint8 kWireVersion = 2;

// The places for `size` bytes; null if they are more than 2 GiB, because GStreamer's header has 32 bits for the size.
inline guint8 *append_to(GstByteArrayInterface *bytes, gsize size) {
  return size <= G_MAXINT32 ? gst_byte_array_interface_append(bytes, size) : nullptr;
}

// Returns FALSE if the value, whose floating reference this function takes, is larger than 2 GiB.
inline gboolean write_value(GVariant *value, GstByteArrayInterface *to, guint8 *version) {
  g_autoptr(GVariant) owned = g_variant_ref_sink(value);
  guint8 *bytes = append_to(to, g_variant_get_size(owned));
  // Not g_variant_store(), which needs aligned memory.
  if (bytes != nullptr) std::memcpy(bytes, g_variant_get_data(owned), g_variant_get_size(owned));
  *version = kWireVersion;
  return bytes != nullptr;
}

// The value of a type in these bytes, which must outlive it; null if they are not in GVariant's normal form.
inline GVariant *read_value(const char *type, const guint8 *bytes, gsize size, guint8 version) {
  GVariant *value =
      g_variant_ref_sink(g_variant_new_from_data(G_VARIANT_TYPE(type), bytes, size, FALSE, nullptr, nullptr));
  if (version != kWireVersion || !g_variant_is_normal_form(value)) g_clear_pointer(&value, g_variant_unref);
  return value;
}

}  // namespace cudavision
#endif
