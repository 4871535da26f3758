// SPDX-License-Identifier: LGPL-2.1-or-later
// The settings of cudainpaint, which its properties set, and the file that they name.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <optional>
#include <string>

#include "cuda/inpaint/inpaint.h"
#include "gst/base/input/excerpt.h"
#include "gst/base/style/color_text.h"
#include "gst/inpaint/mask_picture.h"

namespace cudavision {

enum class InpaintMode { frame, temporal };

// InpaintParams::temporal is not used: params() sets it from `mode`.
struct InpaintSettings : InpaintParams {
  InpaintMode mode = InpaintMode::frame;
  std::optional<std::string> mask_location, remove_type;
  ColorText mask_color = kNone;  // a colour, whose opacity does not count, or kNone
  int mask_tolerance = 16;
  bool mask_alpha = false, attach_mask = false;
  int region_x = 0, region_y = 0, region_width = 0, region_height = 0;
  int dilation = 0;

  InpaintParams params() const {
    InpaintParams params = *this;
    params.temporal = mode == InpaintMode::temporal;
    return params;
  }
  static constexpr const char *kNone = "none";
  bool removes_color() const { return !mask_color.is_word(kNone); }

  friend bool operator==(const InpaintSettings &, const InpaintSettings &) = default;
};

inline Status validate(const InpaintSettings &settings) {
  CUDAVISION_TRY(validate_color("mask-color", settings.mask_color, settings.kNone));
  return validate(settings.params());
}

inline std::string hint(const InpaintSettings &settings) {
  if (settings.removes_color() && settings.mask_color.opacity_is_missing())
    return "mask-color=" + excerpt(settings.mask_color.text()) +
           " is a colour, and its pixels are removed: none removes no colour";
  if (settings.mask_location || (settings.remove_type && !settings.remove_type->empty()) ||
      settings.removes_color() || settings.mask_alpha ||
      (settings.region_width > 0 && settings.region_height > 0))
    return {};
  return "no property selects what to remove: set mask-location, mask-color, mask-alpha, remove-type, or "
         "region-width and "
         "region-height";
}

struct InpaintFiles {
  // The picture of mask-location, or null if the property is not set.
  std::shared_ptr<const MaskPicture> mask;
};

// Returns a warning if the mask cannot select a pixel, or an empty text (element_state.h).
inline std::string futile(const InpaintFiles &files) {
  if (files.mask == nullptr || files.mask->brightest().value_or(0) >= kLeastMaskLuma) return {};
  if (!files.mask->brightest())
    return "The mask of mask-location selects nothing: all its pixels are transparent. Pixels that are "
           "bright and opaque "
           "are removed: save it without an alpha channel, or make it opaque";
  return "The mask of mask-location selects nothing: its largest luma is " +
         std::to_string(*files.mask->brightest()) + ", and pixels are removed from a luma of " +
         std::to_string(kLeastMaskLuma) + " on. Save it with 255 instead of 1, or in white";
}

}  // namespace cudavision
