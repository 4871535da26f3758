// SPDX-License-Identifier: LGPL-2.1-or-later
// Colours as people write them: a name, hexadecimal digits or a number.
#pragma once

#include <glib.h>

#include <optional>
#include <string>

#include "cuda/common/status.h"

// The ways to write a colour, for the descriptions of properties.
#define CUDAVISION_COLOR_WORDS "a name as red, #RRGGBB, #AARRGGBB or 0xAARRGGBB"

namespace cudavision {

// Reads one of the names of CSS 2.1 (or cyan, magenta), #RRGGBB, #AARRGGBB or a number 0xAARRGGBB. Upper and
// lower case are the same. Returns 0xAARRGGBB, or nothing if the text is no colour. A name and #RRGGBB are
// opaque; a number has the alpha that it says, which is 0 for 0x00RRGGBB.
std::optional<guint32> parse_color(const std::string &text);

// The value of a property that is a colour.
class ColorText {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): it is the default value of members
  ColorText(const char *text) : text_(text), argb_(parse_color(text_)) {}

  const std::string &text() const { return text_; }
  // The word that stands for colours by the direction of lines, in properties that allow it instead of one colour.
  static constexpr const char *kByDirection = "direction";
  bool is_by_direction() const { return is_word(kByDirection); }
  // Whether the text is this word, in upper or lower case.
  bool is_word(const char *word) const { return g_ascii_strcasecmp(text_.c_str(), word) == 0; }
  bool is_color() const { return argb_.has_value(); }
  // 0xAARRGGBB. A colour without any opacity would draw nothing, which nobody asks for: it is opaque.
  guint32 argb() const { return opacity_is_missing() ? *argb_ | 0xff000000 : argb_.value_or(0xff000000); }
  bool opacity_is_missing() const { return argb_ && *argb_ >> 24 == 0; }

  friend bool operator==(const ColorText &, const ColorText &) = default;

 private:
  std::string text_;
  std::optional<guint32> argb_;
};

// Returns an error that names the property and says what a colour looks like, unless the text is a colour or `word`.
Status validate_color(const char *property, const ColorText &color, const char *word = nullptr);

}  // namespace cudavision
