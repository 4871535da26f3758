// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of cudasigma2kp.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>

#include "cuda/common/backends.h"
#include "cuda/common/number_text.h"
#include "cuda/sigma2kp/sigma2kp.h"
#include "gst/base/style/color_text.h"
#include "gst/base/style/line_width.h"

namespace cudavision {

struct Sigma2KpSettings : Sigma2KpParams {
  std::optional<std::string> roi_type;
  ColorText color = "red";
  int point_size = kAutomaticWidth, line_width = kAutomaticWidth;
  double min_contrast = 12;  // of drawn keypoints

  friend bool operator==(const Sigma2KpSettings &, const Sigma2KpSettings &) = default;
};

inline Status validate(const Sigma2KpSettings &settings) {
  CUDAVISION_TRY(validate_color("color", settings.color));
  return validate(static_cast<const Sigma2KpParams &>(settings));
}

// Returns a warning if no frame can have a keypoint with these settings, or an empty text (element_state.h).
inline std::string futile(const Sigma2KpSettings &settings) {
  // The centre of a cell with an odd side lies in the middle between the centres of four windows.
  if (settings.definition == Sigma2KpDefinition::grid && settings.cell % 2 == 1 &&
      settings.tau * settings.tau <= 0.5)
    return "No window is nearer than tau (" + text_of(settings.tau) +
           ") to the centre of a cell with the side " + std::to_string(settings.cell) +
           ": no keypoint can be found. Make tau more than 0.7072, or cell even";
  return {};
}

// As futile() above, for regions of this size.
inline std::string futile(const Sigma2KpSettings &settings, Size region) {
  const int least = settings.window + settings.cell - 1;
  if (region.width >= least && region.height >= least) return {};
  return "A region of " + to_string(region) + " pixels holds no cell of keypoints, whose side is " +
         std::to_string(least) + " pixels (window + cell - 1): no keypoint can be found";
}

}  // namespace cudavision
