// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of cudainpaint.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>

#include "cuda/inpaint/inpaint.h"

namespace cudavision {

enum class InpaintMode { frame, temporal };

// Members of InpaintParams but `temporal`, which is `mode`.
struct InpaintSettings : InpaintParams {
  InpaintMode mode = InpaintMode::frame;
  std::optional<std::string> mask_location, roi_type;
  guint32 mask_color = 0;  // 0xAARRGGBB; none without opacity
  int mask_tolerance = 16;
  bool mask_alpha = false;
  int region_x = 0, region_y = 0, region_width = 0, region_height = 0;
  int dilation = 0;

  friend bool operator==(const InpaintSettings &, const InpaintSettings &) = default;
  InpaintParams params() const {
    InpaintParams params = *this;
    params.temporal = mode == InpaintMode::temporal;
    return params;
  }
};

}  // namespace cudavision
