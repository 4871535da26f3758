// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads models in OpenCV's XML with the parser of GLib.
#include <glib.h>

#include "cuda/common/backends.h"
#include "gst/base/input/excerpt.h"
#include "gst/hog/model_file.h"

namespace cudavision::hog {
namespace {

// Reads <opencv_storage><any name><member>words</member>...</any name></opencv_storage>. Deeper elements,
// elements without members, and all maps but the first one are ignored.
class Reader {
 public:
  explicit Reader(ModelFields *fields) : fields_(fields) {}

  Status start(std::string_view name) {
    if (++depth_ > kMaxModelDepth)
      return invalid_argument("elements lie within more than " + std::to_string(kMaxModelDepth) + " others");
    if (depth_ == 1 && name != "opencv_storage")
      return invalid_argument("its root is " + excerpt(name) + ", not opencv_storage");
    // An element that is called _ belongs to a list.
    if (depth_ == 3 && map_ == Map::not_found && name != "_") map_ = Map::open;
    return depth_ == 3 && map_ == Map::open ? fields_->begin(name) : Status();
  }
  void end() {
    if (--depth_ == 1 && map_ == Map::open) map_ = Map::closed;
  }
  void take(std::string_view text) const {
    if (depth_ == 3 && map_ == Map::open) fields_->append(text);
  }

 private:
  enum class Map { not_found, open, closed };  // the state of the first map

  ModelFields *fields_;
  int depth_ = 0;
  Map map_ = Map::not_found;
};

// Reports a failure as a GError, and std::bad_alloc as well: no exception may pass through GLib.
template <typename Function>
void report(GError **error, const Function &function) {
  if (const Status status = catch_bad_alloc(function); !status.ok())
    g_set_error_literal(error, G_MARKUP_ERROR, G_MARKUP_ERROR_INVALID_CONTENT, status.text().c_str());
}

void start_element(GMarkupParseContext *, const gchar *name, const gchar **, const gchar **, gpointer data,
                   GError **error) {
  report(error, [&] { return static_cast<Reader *>(data)->start(name); });
}

void end_element(GMarkupParseContext *, const gchar *, gpointer data, GError **) {
  static_cast<Reader *>(data)->end();
}

void take_text(GMarkupParseContext *, const gchar *text, gsize length, gpointer data, GError **error) {
  report(error, [&] {
    static_cast<Reader *>(data)->take({text, length});
    return Status();
  });
}

}  // namespace

Status parse_markup(std::string_view text, ModelFields *fields) {
  const GMarkupParser parser = {start_element, end_element, take_text, nullptr, nullptr};
  Reader reader(fields);
  GMarkupParseContext *context =
      g_markup_parse_context_new(&parser, G_MARKUP_PREFIX_ERROR_POSITION, &reader, nullptr);
  GError *error = nullptr;
  const bool parsed =
      g_markup_parse_context_parse(context, text.data(), static_cast<gssize>(text.size()), &error) &&
      g_markup_parse_context_end_parse(context, &error);
  g_markup_parse_context_free(context);
  if (parsed) return {};
  const bool refused = g_error_matches(error, G_MARKUP_ERROR, G_MARKUP_ERROR_INVALID_CONTENT);
  const std::string why = excerpt(error->message);
  g_error_free(error);
  return invalid_argument((refused ? "" : "it is no complete XML: ") + why);
}

}  // namespace cudavision::hog
