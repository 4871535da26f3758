// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of cudahough.
#pragma once

#include <gst/gst.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>

#include "cuda/canny/canny.h"
#include "cuda/common/backends.h"
#include "cuda/common/number_text.h"
#include "cuda/hough/hough.h"
#include "gst/base/style/color_text.h"
#include "gst/base/style/line_width.h"
#include "gst/canny/canny_settings.h"

namespace cudavision {

enum class HoughInput { picture, edges };

// HoughParams::threshold and nms_radius have other defaults here. params() replaces kAutomaticThreshold by a number.
struct HoughSettings : CannyParams, HoughParams {
  static constexpr int kAutomaticThreshold = -1;

  HoughSettings() { threshold = kAutomaticThreshold, nms_radius = 6; }

  HoughInput input = HoughInput::picture;
  std::optional<std::string> roi_type;
  ColorText color = ColorText::kByDirection;
  double min_angle = 0, max_angle = 180;  // of lines, in degrees; 0 and 180: all lines
  int line_width = kAutomaticWidth;
  int max_drawn = 50;  // 0: all

  bool excludes_normals() const { return min_theta > 0 || max_theta < std::numbers::pi; }
  bool excludes_angles() const { return min_angle > 0 || max_angle < 180; }
  bool excludes_directions() const { return excludes_normals() || excludes_angles(); }
  // The parameters for pictures of that size. Small frames have more edges for their size, hence the constant.
  HoughParams params(Size size) const {
    HoughParams params = *this;
    if (threshold == kAutomaticThreshold) params.threshold = 30 + std::min(size.width, size.height) / 5;
    if (excludes_angles()) set_normals(&params);
    return params;
  }
  // Sets the range of directions of normals, which are a quarter turn ahead of lines. The range includes max_angle.
  void set_normals(HoughParams *params) const {
    constexpr double kDegree = std::numbers::pi / 180;
    const double first = min_angle + 90, last = max_angle + (min_angle > max_angle ? 270 : 90),
                 turned = last >= 180 ? 180 : 0;
    params->min_theta = (first - turned) * kDegree;
    params->max_theta = std::min({(last - turned) * kDegree + theta, params->min_theta + std::numbers::pi,
                                  HoughRanges::max_theta.most});
  }

  friend bool operator==(const HoughSettings &, const HoughSettings &) = default;
};

inline Status validate(const HoughSettings &settings) {
  CUDAVISION_TRY(validate_color("color", settings.color, ColorText::kByDirection));
  if (settings.input == HoughInput::edges && settings.gradient_voting)
    return invalid_argument(
        "gradient-voting needs the gradients of a picture and cannot be combined with input=edges");
  if (settings.excludes_normals() && settings.excludes_angles())
    return invalid_argument(
        "min-angle and max-angle cannot be combined with min-theta and max-theta, which say the same");
  CUDAVISION_TRY(validate(static_cast<const CannyParams &>(settings)));
  return validate(settings.params({}));
}

// Returns a warning if no frame can have a line with these settings, or an empty text (element_state.h).
inline std::string futile(const HoughSettings &settings) {
  if (hough_shape({}, settings.params({})).angles == 0)
    return "Between min-theta (" + text_of(settings.min_theta) + ") and max-theta (" +
           text_of(settings.max_theta) + ") there is no direction, in steps of theta (" +
           text_of(settings.theta) + "): no line can be found";
  return settings.input == HoughInput::picture ? futile(static_cast<const CannyParams &>(settings))
                                               : std::string();
}

// As futile() above, for regions of this size. An automatic threshold causes no warning.
inline std::string futile(const HoughSettings &settings, Size region) {
  // The most pixels of a column, or of a row for steep lines, that vote for a cell, which is rho wide across the line.
  const auto most_of_step = [&](int side) {
    return std::min<double>(side, std::floor(settings.rho * 1.4143) + 2);
  };
  const double most_votes =
      std::max(region.width * most_of_step(region.height), region.height * most_of_step(region.width));
  const double longest = std::hypot(region.width, region.height);
  if (settings.threshold >= most_votes)
    return "threshold is " + std::to_string(settings.threshold) + ", but no line of a region of " +
           to_string(region) + " pixels has more than " + std::to_string(std::lround(most_votes)) +
           " votes: no line can be found. Lower threshold";
  if (settings.mode == HoughMode::segments && settings.min_length > longest)
    return "min-length is " + std::to_string(settings.min_length) + ", but a region of " + to_string(region) +
           " pixels has no longer segment than " + std::to_string(std::lround(longest)) +
           " pixels: no segment can be found. Lower min-length";
  return {};
}

}  // namespace cudavision
