// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of cudabgsub, and the file that they name.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <optional>
#include <string>

#include "cuda/bgsub/bgsub.h"
#include "cuda/common/number_text.h"
#include "cuda/components/components.h"
#include "cuda/morphology/morphology.h"
#include "gst/base/style/color_text.h"
#include "gst/bgsub/saved_background.h"
#include "gst/inpaint/mask_picture.h"

namespace cudavision {

enum class BgsubOutput { mask, overlay, background, foreground };

struct BgsubSettings : BgsubParams {
  int mixtures = 5;
  int scale = 1;  // a square with so many pixels on each side is one pixel of the model
  BgsubOutput output = BgsubOutput::overlay;
  ColorText color = "#a0ff0000";
  int open = 1, close = 4;  // radii in pixels
  int min_area = 200;       // pixels
  int max_regions = 16;
  double max_motion = 0.5;  // share of the pixels
  double blind_time = 2;    // seconds
  std::optional<std::string> mask_location, ignore_type, model_location;

  friend bool operator==(const BgsubSettings &, const BgsubSettings &) = default;

  // Removes noise first, then closes gaps.
  MorphologyParams cleaning() const {
    return {
        MorphologyShape::ellipse, 2, {{MorphologyKind::open, open}, {MorphologyKind::close, close}}, false};
  }
};

struct BgsubSettingsRanges {
  static constexpr Range<int> max_regions{0, kMaxComponents};
  static constexpr Range<double> max_motion{0, 1}, blind_time{0, 3600};
};

inline Status validate(const BgsubSettings &settings) {
  CUDAVISION_TRY(validate_color("color", settings.color));
  CUDAVISION_TRY(validate(settings.cleaning()));
  return validate(static_cast<const BgsubParams &>(settings));
}

struct BgsubFiles {
  std::shared_ptr<const MaskPicture> mask;  // of mask-location, or null if it is not set
  std::shared_ptr<SavedBackground> model;   // of model-location, or null if there is no such file
};

}  // namespace cudavision
