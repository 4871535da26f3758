// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/style/color_text.h"

#include <algorithm>
#include <iterator>

#include "gst/base/input/excerpt.h"

namespace cudavision {
namespace {

constexpr struct {
  const char *name;
  guint32 rgb;
} kNames[] = {{"aqua", 0x00ffff},    {"black", 0x000000},   {"blue", 0x0000ff},   {"cyan", 0x00ffff},
              {"fuchsia", 0xff00ff}, {"gray", 0x808080},    {"grey", 0x808080},   {"green", 0x008000},
              {"lime", 0x00ff00},    {"magenta", 0xff00ff}, {"maroon", 0x800000}, {"navy", 0x000080},
              {"olive", 0x808000},   {"orange", 0xffa500},  {"purple", 0x800080}, {"red", 0xff0000},
              {"silver", 0xc0c0c0},  {"teal", 0x008080},    {"white", 0xffffff},  {"yellow", 0xffff00}};

// Parses the whole text as a number of at most 32 bits.
std::optional<guint32> number(const std::string &text, guint base) {
  guint64 value = 0;
  if (!g_ascii_string_to_unsigned(text.c_str(), base, 0, G_MAXUINT32, &value, nullptr)) return std::nullopt;
  return static_cast<guint32>(value);
}

}  // namespace

std::optional<guint32> parse_color(const std::string &text) {
  const auto *name = std::find_if(std::begin(kNames), std::end(kNames), [&](const auto &known) {
    return g_ascii_strcasecmp(known.name, text.c_str()) == 0;
  });
  if (name != std::end(kNames)) return 0xff000000 | name->rgb;
  if (text.starts_with("#")) {
    const std::optional<guint32> digits = number(text.substr(1), 16);
    if (text.size() == 7 && digits) return 0xff000000 | *digits;
    return text.size() == 9 ? digits : std::nullopt;
  }
  if (text.starts_with("0x") || text.starts_with("0X")) return number(text.substr(2), 16);
  return number(text, 10);
}

Status validate_color(const char *property, const ColorText &color, const char *word) {
  if (color.is_color() || (word != nullptr && color.is_word(word))) return {};
  return invalid_argument(std::string(property) + "='" + excerpt(color.text()) + "' is not a colour: give " +
                          (word != nullptr ? std::string(word) + ", " : "") +
                          "a name, as red or lime, #RRGGBB, #AARRGGBB or 0xAARRGGBB");
}

}  // namespace cudavision
