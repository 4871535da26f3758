// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers in texts for the user.
#pragma once

#include <charconv>
#include <concepts>
#include <string>

namespace cudavision {

// The number with a decimal point, whatever locale the application has set. digits: the maximum number of significant
// digits or, with std::chars_format::fixed, the number of digits after the point.
template <std::floating_point T>
std::string text_of(T number, int digits = 6, std::chars_format format = std::chars_format::general) {
  char text[400];  // enough for every double
  return {text, std::to_chars(text, text + sizeof text, number, format, digits).ptr};
}
template <std::integral T>
std::string text_of(T number) {
  return std::to_string(number);
}

}  // namespace cudavision
