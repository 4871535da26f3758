// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/results/frame_notes.h"

#include <gst/video/gstvideometa.h>

#include <string_view>

#include "gst/base/results/custom_meta.h"

namespace cudavision {
namespace {

constexpr const char *kName = "GstCudaVisionNoteMeta";

// Returns the structure of a new note; null if there is no memory.
GstStructure *attach_note(GstBuffer *buffer) {
  GstCustomMeta *meta = gst_buffer_add_custom_meta(buffer, kName);
  return meta != nullptr ? gst_custom_meta_get_structure(meta) : nullptr;
}

bool has_note(GstBuffer *buffer, const char *field, const char *value) {
  bool found = false;
  for_each_custom_meta(buffer, kName, [&](const GstStructure &note) {
    const char *own = gst_structure_get_string(&note, field);
    found = found || (own != nullptr && (value == nullptr || g_str_equal(own, value)));
  });
  return found;
}

}  // namespace

std::string element_name(const char *type_name) {
  g_autofree gchar *name = g_ascii_strdown(type_name + std::string_view("Gst").size(), -1);
  return name;
}

void register_frame_notes() {
  static const gchar *tags[] = {GST_META_TAG_VIDEO_STR, nullptr};  // a note has no position in the picture
  register_custom_meta(kName, tags, nullptr);
}

void attach_warning(GstBuffer *buffer, GstElement *element, const char *code, const char *blind_for) {
  GstStructure *note = attach_note(buffer);
  if (note == nullptr) return;
  gst_structure_set(note, "element", G_TYPE_STRING, element_name(G_OBJECT_TYPE_NAME(element)).c_str(),
                    "warning", G_TYPE_STRING, code, nullptr);
  if (blind_for != nullptr) gst_structure_set(note, "blind-for", G_TYPE_STRING, blind_for, nullptr);
}

bool is_blind_for(GstBuffer *buffer, const char *type) { return has_note(buffer, "blind-for", type); }

void attach_partial_look(GstBuffer *buffer, const char *type) {
  if (GstStructure *note = attach_note(buffer); note != nullptr)
    gst_structure_set(note, "partial-look", G_TYPE_STRING, type, nullptr);
}

bool has_partial_look(GstBuffer *buffer, const char *type) { return has_note(buffer, "partial-look", type); }

void for_each_warning(GstBuffer *buffer, const std::function<void(const std::string &)> &visit) {
  for_each_custom_meta(buffer, kName, [&](const GstStructure &note) {
    const char *element = gst_structure_get_string(&note, "element"),
               *code = gst_structure_get_string(&note, "warning");
    if (element != nullptr && code != nullptr) visit(std::string(element) + ": " + code);
  });
}

}  // namespace cudavision
