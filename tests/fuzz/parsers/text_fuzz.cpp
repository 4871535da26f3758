// SPDX-License-Identifier: LGPL-2.1-or-later
// libFuzzer target: the texts of properties, colours, and the strings that cudavisionjson writes.
#include <glib.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "gst/base/input/excerpt.h"
#include "gst/base/style/color_text.h"
#include "gst/visionjson/json_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string text(reinterpret_cast<const char *>(data), size);
  const cudavision::ColorText color(text.c_str());
  if (validate_color("color", color, "none").text().size() > 600) std::abort();
  if (validate_color("color", color).ok()) (void)color.argb();
  const std::string shown = cudavision::excerpt(text);
  if (shown.size() > cudavision::kMostExcerptBytes || shown.find('\n') != std::string::npos ||
      !g_utf8_validate(shown.data(), static_cast<gssize>(shown.size()), nullptr))
    std::abort();
  std::string json;
  cudavision::append_string(&json, text.c_str());
  // Whatever the text was, the line is valid UTF-8 without line feeds.
  if (!g_utf8_validate(json.data(), static_cast<gssize>(json.size()), nullptr) ||
      json.find('\n') != std::string::npos)
    std::abort();
  return 0;
}
