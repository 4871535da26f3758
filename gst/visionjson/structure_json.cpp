// SPDX-License-Identifier: LGPL-2.1-or-later
// A GstStructure as a JSON object.
#include "gst/visionjson/json_text.h"

namespace cudavision {
namespace {

// Bounds the stack that a value of an unknown program takes. No element nests values deeper.
constexpr int kMostNested = 16;

void append_value(std::string *text, const GValue *value, int nested, const StopFlag &stop);
void append_fields(std::string *text, const GstStructure *structure, int nested, const StopFlag &stop);

// Appends a list of `count` values. item(i): returns one of them, which is not null.
template <typename GetItem>
void append_values(std::string *text, guint count, const GetItem &item, int nested, const StopFlag &stop) {
  text->push_back('[');
  for (guint i = 0; i < count && !stop.requested(); ++i) {
    if (i > 0) text->push_back(',');
    append_value(text, item(i), nested, stop);
  }
  text->push_back(']');
}

// Returns false if the value is no list, array or structure.
bool append_nested(std::string *text, const GValue *value, int nested, const StopFlag &stop) {
  const GType type = G_VALUE_TYPE(value);
  if (type != GST_TYPE_ARRAY && type != GST_TYPE_LIST && type != GST_TYPE_STRUCTURE) return false;
  if (nested == kMostNested) {
    append_string(text, nullptr);
    return true;
  }
  if (type == GST_TYPE_ARRAY)
    append_values(
        text, gst_value_array_get_size(value),
        [value](guint i) { return gst_value_array_get_value(value, i); }, nested + 1, stop);
  if (type == GST_TYPE_LIST)
    append_values(
        text, gst_value_list_get_size(value), [value](guint i) { return gst_value_list_get_value(value, i); },
        nested + 1, stop);
  if (type == GST_TYPE_STRUCTURE) append_fields(text, gst_value_get_structure(value), nested + 1, stop);
  return true;
}

void append_value(std::string *text, const GValue *value, int nested, const StopFlag &stop) {
  switch (G_VALUE_TYPE(value)) {
    case G_TYPE_BOOLEAN:
      text->append(g_value_get_boolean(value) ? "true" : "false");
      return;
    case G_TYPE_INT:
      return append_number(text, g_value_get_int(value));
    case G_TYPE_UINT:
      return append_number(text, g_value_get_uint(value));
    case G_TYPE_INT64:
      return append_number(text, g_value_get_int64(value));
    case G_TYPE_UINT64:
      return append_number(text, g_value_get_uint64(value));
    case G_TYPE_CHAR:
      return append_number(text, static_cast<int>(g_value_get_schar(value)));
    case G_TYPE_UCHAR:
      return append_number(text, static_cast<unsigned>(g_value_get_uchar(value)));
    case G_TYPE_LONG:
      return append_number(text, g_value_get_long(value));
    case G_TYPE_ULONG:
      return append_number(text, g_value_get_ulong(value));
    case G_TYPE_FLOAT:
      return append_number(text, g_value_get_float(value));
    case G_TYPE_DOUBLE:
      return append_number(text, g_value_get_double(value));
    case G_TYPE_STRING:
      return append_string(text, g_value_get_string(value));
    default: {
      // GStreamer's functions do not expect null in a value.
      if (g_value_fits_pointer(value) && g_value_peek_pointer(value) == nullptr)
        return append_string(text, nullptr);
      if (append_nested(text, value, nested, stop)) return;
      g_autofree gchar *serialized = gst_value_serialize(value);
      append_string(text, serialized);
    }
  }
}

void append_fields(std::string *text, const GstStructure *structure, int nested, const StopFlag &stop) {
  text->push_back('{');
  for (gint i = 0; i < gst_structure_n_fields(structure) && !stop.requested(); ++i) {
    const gchar *name = gst_structure_nth_field_name(structure, static_cast<guint>(i));
    if (i > 0) text->push_back(',');
    append_string(text, name);
    text->push_back(':');
    append_value(text, gst_structure_get_value(structure, name), nested, stop);
  }
  text->push_back('}');
}

}  // namespace

void append_structure(std::string *text, const GstStructure *structure, const StopFlag &stop) {
  append_fields(text, structure, 0, stop);
}

}  // namespace cudavision
