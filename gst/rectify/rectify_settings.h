// SPDX-License-Identifier: LGPL-2.1-or-later
// The settings of cudarectify, which its properties set.
#pragma once

#include <optional>
#include <string>

#include "cuda/remap/remap.h"
#include "gst/base/style/color_text.h"
#include "gst/rectify/calibration.h"
#include "gst/rectify/view.h"

namespace cudavision {

// ViewSettings::corners and ::homography are not used: RectifyOperation reads the texts.
struct RectifySettings : RemapSettings, rectify::ViewSettings {
  std::optional<std::string> calibration_location, corners_text, homography_text;
  ColorText border_color = "black";

  bool has_calibration() const { return calibration_location && !calibration_location->empty(); }

  friend bool operator==(const RectifySettings &, const RectifySettings &) = default;
};

struct RectifyFiles {
  std::optional<rectify::Calibration> calibration;
};

// Checks each property, that the view has what it needs, and that some camera can show it.
Status validate(const RectifySettings &settings);

// Without a calibration, undistorted frames are only scaled.
std::string futile(const RectifySettings &settings);

// The view for frames of this size: the texts are read, and fractions of the frame become pixels.
Status read_view(const RectifySettings &settings, Size frame, rectify::ViewSettings *view);

}  // namespace cudavision
