// SPDX-License-Identifier: LGPL-2.1-or-later
// The time of day of a frame, in UTC.
#include <string_view>

#include "gst/visionjson/frame_json.h"

namespace cudavision {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr seconds kFrom1900To1970{2208988800};  // 70 years, 17 of them leap years

std::optional<Utc> utc_of(const GstReferenceTimestampMeta *meta) {
  if (meta->timestamp > G_MAXINT64 || !GST_IS_CAPS(meta->reference) || gst_caps_is_empty(meta->reference) ||
      gst_caps_is_any(meta->reference))
    return std::nullopt;
  const Utc time{nanoseconds(meta->timestamp)};
  const std::string_view clock = gst_structure_get_name(gst_caps_get_structure(meta->reference, 0));
  if (clock == "timestamp/x-unix") return time;
  if (clock == "timestamp/x-ntp") return time - kFrom1900To1970;
  return std::nullopt;
}

}  // namespace

std::optional<Utc> utc_of(GstBuffer *buffer) {
  gpointer state = nullptr;
  while (GstMeta *meta =
             gst_buffer_iterate_meta_filtered(buffer, &state, GST_REFERENCE_TIMESTAMP_META_API_TYPE))
    if (const auto time = utc_of(reinterpret_cast<const GstReferenceTimestampMeta *>(meta))) return time;
  return std::nullopt;
}

std::string rfc3339(Utc time) {
  const auto whole = std::chrono::floor<seconds>(time);
  g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc(whole.time_since_epoch().count());
  g_autofree gchar *second = g_date_time_format(date, "%Y-%m-%dT%H:%M:%S");
  g_autofree gchar *text = g_strdup_printf("%s.%09dZ", second, static_cast<int>((time - whole).count()));
  return text;
}

}  // namespace cudavision
