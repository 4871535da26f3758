// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/input/excerpt.h"

#include <glib.h>

#include <algorithm>

namespace cudavision {
namespace {

constexpr std::string_view kEllipsis = "\xe2\x80\xa6";

// The number of bytes of the printable character at the beginning of the text, or 0 if there is none.
std::size_t printable_bytes(std::string_view text) {
  const gunichar character = g_utf8_get_char_validated(text.data(), static_cast<gssize>(text.size()));
  if (character >= static_cast<gunichar>(-2) || !g_unichar_isprint(character)) return 0;
  return static_cast<std::size_t>(g_unichar_to_utf8(character, nullptr));
}

// Escapes as many of the first characters as fit into `most` bytes. end: set to the end of these characters in `text`.
std::string escaped(std::string_view text, std::size_t most, std::size_t *end) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string shown;
  for (*end = 0; *end < text.size();) {
    const std::size_t count = printable_bytes(text.substr(*end, 6));
    if (shown.size() + (count > 0 ? count : 4) > most) break;
    if (count > 0) {
      shown.append(text, *end, count);
    } else {
      const auto byte = static_cast<unsigned char>(text[*end]);
      shown.append("\\x").append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 15]);
    }
    *end += std::max<std::size_t>(count, 1);
  }
  return shown;
}

}  // namespace

std::string excerpt(std::string_view text) {
  constexpr std::size_t kHalf = (kMostExcerptBytes - kEllipsis.size()) / 2;
  std::size_t end = 0;
  std::string whole = escaped(text, kMostExcerptBytes, &end);
  if (end == text.size()) return whole;
  const std::string first = escaped(text, kHalf, &end);
  // Finds the longest end of the text that fits. An escape needs more bytes than the character or part of a character
  // that it stands for, so the last kHalf bytes of the text may not fit.
  std::size_t begin = std::max(end, text.size() - std::min(text.size(), kHalf));
  std::string last = escaped(text.substr(begin), kHalf, &end);
  while (begin + end < text.size()) last = escaped(text.substr(++begin), kHalf, &end);
  return first + std::string(kEllipsis) + last;
}

std::string quoted_excerpt(std::string_view text) { return '"' + excerpt(text) + '"'; }

}  // namespace cudavision
