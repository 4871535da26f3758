// SPDX-License-Identifier: LGPL-2.1-or-later
// libFuzzer target: calibration files of cudarectify, and the views that they give.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "gst/rectify/calibration.h"
#include "gst/rectify/view.h"

namespace {

using namespace cudavision;
using namespace cudavision::rectify;

// Each view of an accepted camera is refused with a reason, or carries points to finite places and back.
void look(const CameraModel &camera, ViewKind kind) {
  ViewSettings settings;
  settings.kind = kind, settings.alpha = 0.5;
  if (kind == ViewKind::plane) settings.corners = {{{50, 50}, {90, 50}, {90, 90}, {50, 90}}};
  CameraView view;
  const Status status = make_view(settings, &camera, {160, 120}, {64, 48}, &view);
  if (status.ok() != status.text().empty()) std::abort();
  if (!status.ok()) return;
  const ViewPoints carry(view);
  for (double x = 0; x < 160; x += 40)
    for (const double y : {0, 60, 119}) {
      const auto there = carry.to_view({x, y}, 80);
      const auto back = there ? carry.to_camera(*there) : there;
      if (back && !(std::isfinite(back->x) && std::isfinite(back->y))) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Calibration calibration;
  const Status status = parse_calibration({reinterpret_cast<const char *>(data), size}, &calibration);
  if (status.text().size() > 800 || status.ok() != status.text().empty()) std::abort();
  if (!status.ok()) return 0;
  CameraModel camera;
  calibration.size = {};
  if (!camera_for(calibration, {160, 120}, &camera).ok()) std::abort();
  for (const ViewKind kind :
       {ViewKind::undistorted, ViewKind::perspective, ViewKind::panorama, ViewKind::plane})
    look(camera, kind);
  return 0;
}
