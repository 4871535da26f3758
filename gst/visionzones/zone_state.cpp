// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visionzones/zone_state.h"

#include <string_view>

#include "gst/base/input/excerpt.h"
#include "gst/base/input/regular_file.h"

namespace cudavision {
namespace {

// The title, the checksum of the plan, and for each rule the total and the totals by type of both directions.
constexpr char kForm[] = "(ssa(ta{st}ta{st}))", kRule[] = "(ta{st}ta{st})";
constexpr std::string_view kBeginning = "('cudavisionzones', '";
constexpr std::size_t kMostBytes = std::size_t{1} << 24;

Status about(const std::string &location, const char *what, const Status &status) {
  return {status.code(), "state-location: '" + excerpt(location) + '\'' + what + status.text()};
}

void add_rule(GVariantBuilder *builder, const ZoneCounts &counts) {
  g_variant_builder_open(builder, G_VARIANT_TYPE(kRule));
  for (int direction = 0; direction < kDirections; ++direction) {
    g_variant_builder_add(builder, "t", counts.all(direction).total);
    g_variant_builder_open(builder, G_VARIANT_TYPE("a{st}"));
    for (const auto &[type, tally] : counts.types(direction))
      if (g_utf8_validate(type.c_str(), -1, nullptr))
        g_variant_builder_add(builder, "{st}", type.c_str(), tally.total);
    g_variant_builder_close(builder);
  }
  g_variant_builder_close(builder);
}

ZoneCounts counts_in(GVariant *rule) {
  ZoneCounts counts;
  for (int direction = 0; direction < kDirections; ++direction) {
    g_autoptr(GVariant) total = g_variant_get_child_value(rule, static_cast<gsize>(2 * direction));
    g_autoptr(GVariant) types = g_variant_get_child_value(rule, static_cast<gsize>(2 * direction + 1));
    counts.begin_at(direction, g_variant_get_uint64(total));
    GVariantIter items;
    g_variant_iter_init(&items, types);
    const char *type = nullptr;
    for (guint64 count = 0; g_variant_iter_next(&items, "{&st}", &type, &count);)
      counts.begin_at(direction, type, count);
  }
  return counts;
}

Status decode(const std::string &text, const ZonePlan &plan, std::vector<ZoneCounts> *counts) {
  g_autoptr(GVariant) state =
      text.starts_with(kBeginning)
          ? g_variant_parse(G_VARIANT_TYPE(kForm), text.data(), text.data() + text.size(), nullptr, nullptr)
          : nullptr;
  if (state == nullptr) return invalid_argument("it is no file of counts");
  const char *checksum = nullptr;
  g_autoptr(GVariant) rules = nullptr;
  g_variant_get(state, "(&s&s@a(ta{st}ta{st}))", nullptr, &checksum, &rules);
  if (plan.checksum != checksum || g_variant_n_children(rules) != plan.rules.size())
    return invalid_argument("it has the counts of other lines and zones; remove it, or name another file");
  for (gsize i = 0; i < plan.rules.size(); ++i) {
    g_autoptr(GVariant) rule = g_variant_get_child_value(rules, i);
    counts->push_back(counts_in(rule));
  }
  return {};
}

}  // namespace

Status load_counts(const std::string &location, const ZonePlan &plan, std::vector<ZoneCounts> *counts) {
  std::string text;
  Status status = read_regular_file(location, kMostBytes, &text);
  if (status.code() == Status::Code::no_file) return {};
  if (status.ok()) status = decode(text, plan, counts);
  return status.ok() ? status : about(location, " cannot be used: ", status);
}

Status save_counts(const std::string &location, const ZonePlan &plan, const std::vector<CountedRule> &rules) {
  std::string there;
  Status status = read_beginning(location, kBeginning.size(), &there);
  if (status.ok() && there != kBeginning) status = invalid_argument("it is a file of another kind");
  if (status.ok() || status.code() == Status::Code::no_file) {
    GVariantBuilder builder;
    g_variant_builder_init(&builder, G_VARIANT_TYPE("a(ta{st}ta{st})"));
    for (const CountedRule &rule : rules) add_rule(&builder, rule.counts);
    g_autoptr(GVariant) state =
        g_variant_ref_sink(g_variant_new(kForm, "cudavisionzones", plan.checksum.c_str(), &builder));
    g_autofree char *text = g_variant_print(state, FALSE);
    status = replace_file(location, text);
  }
  return status.ok() ? status : about(location, " is not replaced by the counts: ", status);
}

}  // namespace cudavision
