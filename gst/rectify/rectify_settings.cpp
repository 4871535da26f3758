// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/rectify/rectify_settings.h"

#include <glib.h>

#include <cmath>
#include <limits>

namespace cudavision {
namespace {

using rectify::ViewKind;

// Reads so many numbers with spaces or commas between them, each at most `most`. There are none without a text.
template <std::size_t count>
Status read_numbers(const std::optional<std::string> &text, double most, const char *fault,
                    std::optional<std::array<double, count>> *numbers) {
  numbers->reset();
  if (!text) return {};
  numbers->emplace();
  std::size_t found = 0;
  g_auto(GStrv) words = g_strsplit_set(text->c_str(), " ,\t\n", -1);
  for (char **word = words; *word != nullptr; ++word) {
    if (**word == '\0') continue;
    char *end = nullptr;
    const double number = g_ascii_strtod(*word, &end);
    if (*end != '\0' || !(std::abs(number) <= most) || found == count) return invalid_argument(fault);
    (**numbers)[found++] = number;
  }
  return found == count ? Status() : invalid_argument(fault);
}

}  // namespace

Status validate(const RectifySettings &settings) {
  CUDAVISION_TRY(validate_color("border-color", settings.border_color));
  constexpr Size kAny{1000, 1000};  // the faults that are found here do not depend on it
  rectify::ViewSettings view;
  CUDAVISION_TRY(read_view(settings, kAny, &view));
  if (view.kind == ViewKind::plane && view.corners.has_value() == view.homography.has_value())
    return invalid_argument(view.corners
                                ? "corners and homography both say what becomes of a plane: give one of them"
                                : "view=plane needs corners or homography");
  if ((view.kind == ViewKind::perspective || view.kind == ViewKind::panorama) && !settings.has_calibration())
    return invalid_argument("this view needs a calibration: calibration-location is not set");
  if (view.kind == ViewKind::undistorted) return {};
  CameraView made;
  const CameraModel any;
  return rectify::make_view(view, &any, kAny, kAny, &made);
}

std::string futile(const RectifySettings &settings) {
  if (settings.kind != ViewKind::undistorted || settings.has_calibration()) return {};
  return "calibration-location is not set, so the picture stays as it is; view=plane needs no calibration";
}

Status read_view(const RectifySettings &settings, Size frame, rectify::ViewSettings *view) {
  constexpr double kFarthest = 4;  // of a corner from the frame, in frames: farther ones are mistakes
  *view = settings;
  std::optional<std::array<double, 8>> corners;
  CUDAVISION_TRY(read_numbers(settings.corners_text, kFarthest,
                              "corners is not a list of four points: give x,y four times, in fractions of "
                              "the frame, from the corner that becomes the top left one clockwise, as in "
                              "0.4,0.4 0.6,0.4 0.9,1 0.1,1",
                              &corners));
  CUDAVISION_TRY(read_numbers(
      settings.homography_text, std::numeric_limits<double>::max(),
      "homography is not a matrix: give nine numbers, row by row, as the matrix of cv::warpPerspective",
      &view->homography));
  if (!corners) return {};
  view->corners.emplace();
  for (std::size_t i = 0; i < 4; ++i)
    (*view->corners)[i] = {(*corners)[2 * i] * frame.width - 0.5, (*corners)[2 * i + 1] * frame.height - 0.5};
  return {};
}

}  // namespace cudavision
