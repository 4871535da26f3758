// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the plan again when a property or the file changes.
#include "gst/visionzones/zone_source.h"

#include <sys/stat.h>

#include "gst/base/input/excerpt.h"
#include "gst/base/input/regular_file.h"

namespace cudavision {
namespace {

Status with_name(const std::string &what, const Status &status) {
  return status.ok() ? status : Status(status.code(), what + ": " + status.text());
}

Status read(const ZoneSettings &settings, ZonePlan *plan) {
  const bool has_file = settings.location && !settings.location->empty(),
             has_text = settings.zones && !settings.zones->empty();
  *plan = {};
  if (has_file && has_text)
    return invalid_argument("location and zones are both set: lines and polygons come from one of them");
  if (has_text) return with_name("zones", read_zone_plan(*settings.zones, plan));
  if (!has_file) return {};
  std::string text;
  Status status = read_regular_file(*settings.location, kMostPlanBytes, &text);
  if (status.ok()) status = read_zone_plan(text, plan);
  return with_name('\'' + excerpt(*settings.location) + '\'', status);
}

}  // namespace

ZoneSource::Stamp ZoneSource::stamp_of(const std::string &location) {
  struct stat file {};
  if (stat(location.c_str(), &file) != 0) return {};
  return {file.st_dev, file.st_ino, static_cast<guint64>(file.st_size),
          static_cast<guint64>(file.st_mtim.tv_sec), static_cast<guint64>(file.st_mtim.tv_nsec)};
}

bool ZoneSource::update(const ZoneSettings &settings, ZonePlan *plan, Status *status) {
  const bool is_set = generation_ != settings.generation;
  const gint64 now = g_get_monotonic_time();
  if (!is_set && (!settings.location || now - looked_ < G_USEC_PER_SEC)) return false;
  looked_ = now;
  const Stamp stamp = settings.location ? stamp_of(*settings.location) : Stamp();
  // Stamp() says that there is no file, as for a moment while it is replaced: the last plan stays in force.
  if (!is_set && (stamp == stamp_ || stamp == Stamp())) return false;
  generation_ = settings.generation, stamp_ = stamp;
  ZonePlan next;
  *status = read(settings, &next);
  if (status->ok()) *plan = std::move(next);
  return true;
}

}  // namespace cudavision
