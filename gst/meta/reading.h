// SPDX-License-Identifier: LGPL-2.1-or-later
// The one place that reads the fields of metas that other elements and programs write. A field may hold anything: null,
// a huge value, NaN, or a value that contradicts other fields. Only pointers are trusted: a pointer must be null or
// point to an object of its type, because more cannot be checked.
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

// The string of a quark as valid UTF-8, which stays valid until the process ends; null if no string has this quark.
const char *text_of(GQuark quark);
// Ends a truncated text after its last complete UTF-8 character.
void drop_half_character(char *text);

// --- tensors ---

// Why these are no type and dimensions of a tensor; null if they are. *size: the size of all numbers in bytes, at most
// G_MAXSSIZE; 0 if the shape is invalid. dims: outermost first; may be null if n_dims is 0.
const char *fault_of_shape(GstCudaVisionElementType type, guint n_dims, const gsize *dims, gsize *size);

struct TensorReading {
  const char *fault;            // why the tensor cannot be read; null if it can
  const char *id;               // null if it has none
  std::span<const gsize> dims;  // empty if the shape is invalid
  gsize size;                   // of the numbers in bytes, at most G_MAXSSIZE; 0 if the shape is invalid
};
// Without a fault the tensor has an id, a valid shape and data; only mapping shows whether the data has `size` bytes.
TensorReading reading_of(const GstCudaVisionTensorMeta &tensor);

// --- lists of keypoints and lines ---

template <typename Item>
struct ListReading {
  const char *fault;  // why the list cannot be read; null if it can
  const Item *items;  // null if there are none
  guint count;
};
// Reads the list in the bytes of a meta, which may be null.
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

// A box as a tracker estimates it, in pixels, and the velocity of its centre, in pixels a second. Its sides are
// positive, and no number is beyond a thousand million.
struct TrackEstimate {
  double x, y, width, height, velocity_x, velocity_y;
};

// Trackers number from 0 or from 1 on; 2^64 - 1, which is -1, says that there is no track.
constexpr std::optional<guint64> track_id(guint64 id) {
  return id == G_MAXUINT64 ? std::nullopt : std::optional(id);
}

struct RegionReading {
  const char *type;  // null if it has none
  // Negative for a region that begins left of the frame or above it. The fields of the meta are unsigned.
  gint x, y;
  guint width, height;
  double score;  // the number in the field "confidence" of the parameter "detection"; NaN if there is none
  std::optional<guint64> track_id;  // the field "id" of the parameter "tracking", see track_id()
  // The field "label" of the parameter "detection"; null if there is none. Valid as long as the meta.
  const char *label;
  bool predicted;  // the field "predicted" of the parameter "tracking"
  // Its fields "x", "y", "width", "height", "velocity-x" and "velocity-y"; none if one is missing or no such number.
  std::optional<TrackEstimate> estimate;
};
RegionReading reading_of(const GstVideoRegionOfInterestMeta &region);

// The number in a field, whatever its type: detectors in C write a float or a double, and Python writes an int where a
// program gives a whole number. None if there is no number.
std::optional<double> number_in(const GstStructure *structure, const char *field);

// Calls visit(name, structure) with each parameter of a region. Skips parameters that are not structures with a name.
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
