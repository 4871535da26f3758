// SPDX-License-Identifier: LGPL-2.1-or-later
// A GstStructure as a JSON object.
#include "gst/visionjson/structure_json.h"

#include "gst/visionjson/json_text.h"

namespace cudavision {
namespace {

void append_value(std::string *text, const GValue *value) {
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
      g_autofree gchar *serialized = gst_value_serialize(value);
      append_string(text, serialized);
    }
  }
}

}  // namespace

void append_structure(std::string *text, const GstStructure *structure, const StopFlag &stop) {
  text->push_back('{');
  for (gint i = 0; i < gst_structure_n_fields(structure) && !stop.requested(); ++i) {
    const gchar *name = gst_structure_nth_field_name(structure, static_cast<guint>(i));
    if (i > 0) text->push_back(',');
    append_string(text, name);
    text->push_back(':');
    append_value(text, gst_structure_get_value(structure, name));
  }
  text->push_back('}');
}

}  // namespace cudavision
