// SPDX-License-Identifier: LGPL-2.1-or-later
// OpenCV's XML, by GLib's parser.
#include <glib.h>

#include "hog/model_file.h"

namespace cudavision::hog {
namespace {

// <opencv_storage><any name><member>words</member>...</any name></opencv_storage>: what lies deeper, and
// further maps, are passed over.
struct Reader {
  ModelFields *fields;
  int depth = 0, maps = 0;
  std::string member;

  bool in_member() const { return depth == 3 && maps == 1; }
};

void start_element(GMarkupParseContext *, const gchar *name, const gchar **, const gchar **, gpointer data,
                   GError **error) {
  auto *reader = static_cast<Reader *>(data);
  if (++reader->depth == 1 && g_strcmp0(name, "opencv_storage") != 0)
    g_set_error(error, G_MARKUP_ERROR, G_MARKUP_ERROR_INVALID_CONTENT, "its root is %s, not opencv_storage",
                name);
  if (reader->depth == 2) ++reader->maps;
  if (!reader->in_member()) return;
  reader->member = name;
  (*reader->fields)[reader->member];
}

void end_element(GMarkupParseContext *, const gchar *, gpointer data, GError **) {
  --static_cast<Reader *>(data)->depth;
}

void take_text(GMarkupParseContext *, const gchar *text, gsize length, gpointer data, GError **) {
  auto *reader = static_cast<Reader *>(data);
  if (reader->in_member()) append_words({text, length}, &(*reader->fields)[reader->member]);
}

}  // namespace

Status parse_markup(std::string_view text, ModelFields *fields) {
  const GMarkupParser parser = {start_element, end_element, take_text, nullptr, nullptr};
  Reader reader{fields, 0, 0, {}};
  GMarkupParseContext *context =
      g_markup_parse_context_new(&parser, G_MARKUP_PREFIX_ERROR_POSITION, &reader, nullptr);
  GError *error = nullptr;
  const bool parsed =
      g_markup_parse_context_parse(context, text.data(), static_cast<gssize>(text.size()), &error) &&
      g_markup_parse_context_end_parse(context, &error);
  g_markup_parse_context_free(context);
  if (parsed) return {};
  const std::string why = error->message;
  g_error_free(error);
  return invalid_argument("it is no complete XML: " + why);
}

}  // namespace cudavision::hog
