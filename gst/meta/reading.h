// SPDX-License-Identifier: LGPL-2.1-or-later
// The one place that reads fields of metas which other elements and programs write. Each field may be anything: null, huge,
// not a number, or in contradiction to the others. Only a pointer must be null or point to an object of its type, because
// nobody can check more.
#pragma once

#include <gst/cudavision/tensormeta.h>
#include <gst/video/gstvideometa.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

namespace cudavision {

// --- texts ---

// The text of a quark as valid UTF-8, which lives as long as the process; null if nobody has made the quark.
const char *text_of(GQuark quark);
// Ends a text that was cut behind its last whole character.
void drop_half_character(char *text);

// --- tensors ---

struct TensorReading {
  const char *fault;            // why the tensor cannot be read; null if it can
  const char *id;               // null if it has none
  std::span<const gsize> dims;  // empty if the shape is invalid
  gsize size;                   // of the numbers in bytes, at most G_MAXSSIZE; 0 if the shape is invalid
};
// If there is no fault, the tensor has an id, a shape and data. Whoever maps the data finds out whether it has `size` bytes.
TensorReading reading_of(const GstCudaVisionTensorMeta &tensor);

// --- lists of keypoints and lines ---

template <typename Item>
struct ListReading {
  const char *fault;  // why the list cannot be read; null if it can
  const Item *items;  // null if there are none
  guint count;
};
// bytes: of a meta; may be null.
template <typename Item>
ListReading<Item> list_in(GBytes *bytes) {
  gsize size = 0;
  const void *data = bytes != nullptr ? g_bytes_get_data(bytes, &size) : nullptr;
  if (bytes == nullptr) return {"there is no list", nullptr, 0};
  if (size % sizeof(Item) != 0) return {"the bytes of the list are no whole items", nullptr, 0};
  if (size / sizeof(Item) > std::numeric_limits<guint>::max()) return {"the list is too long", nullptr, 0};
  if (reinterpret_cast<std::uintptr_t>(data) % alignof(Item) != 0)
    return {"the items of the list are not aligned", nullptr, 0};
  return {nullptr, static_cast<const Item *>(data), static_cast<guint>(size / sizeof(Item))};
}

// --- regions of interest ---

struct RegionReading {
  const char *type;  // null if it has none
  gint x,
      y;  // negative for a region that begins left of the frame or above it, although the meta's are unsigned
  guint width, height;
  double score;  // the number in the field "confidence" of the parameter "detection"; NaN if there is none
  guint64
      track;  // the whole number in the field "id" of the parameter "tracking"; 0 if there is none above 0
  const char *
      label;  // the field "label" of the parameter "detection"; null if there is none. It lives as long as the meta
  bool predicted;  // the field "predicted" of the parameter "tracking"
};
RegionReading reading_of(const GstVideoRegionOfInterestMeta &region);

// The number in a field, whatever its type: detectors in C write a float or a double, and Python writes an int where a
// program gives a whole number. None if there is no number.
std::optional<double> number_in(const GstStructure *structure, const char *field);

// Calls visit(name, structure) with each parameter of a region. What is no structure with a name is left out.
template <typename Visit>
void for_each_param(const GstVideoRegionOfInterestMeta &region, const Visit &visit) {
  for (const GList *item = region.params; item != nullptr; item = item->next) {
    const auto *structure = static_cast<const GstStructure *>(item->data);
    const char *name = GST_IS_STRUCTURE(structure) ? gst_structure_get_name(structure) : nullptr;
    if (name != nullptr) visit(std::string_view(name), structure);
  }
}

// Calls visit(meta) with each region of interest of a frame.
template <typename Visit>
void for_each_region(GstBuffer *buffer, const Visit &visit) {
  gpointer state = nullptr;
  while (GstMeta *meta =
             gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
    visit(*reinterpret_cast<GstVideoRegionOfInterestMeta *>(meta));
}

}  // namespace cudavision
