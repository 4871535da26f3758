// SPDX-License-Identifier: LGPL-2.1-or-later
// The rays that a camera sees, the views of its picture that users choose, and the points of both pictures.
#pragma once

#include <array>
#include <optional>

#include "cuda/common/image.h"
#include "cuda/common/status.h"
#include "cuda/remap/camera_view.h"
#include "gst/base/geometry/projective.h"

namespace cudavision::rectify {

using Point = RealPoint;  // in pixels, which have whole coordinates at their centres

// The place of a ray in the camera's picture; none if the camera cannot see it.
std::optional<Point> place_of(const CameraModel &camera, const Vector &ray);
// CameraModel::farthest for this lens: polynomials fold the picture far outside of the one for which they were made, so
// what lies behind the fold would be seen once more, mirrored. Looks along a row of pixels, to a tenth of a degree.
double farthest_seen(const CameraModel &camera);
// The ray that a place of the picture shows, of any length; none if there is no such ray. If the model folds the
// picture, it is the one on the centre's side.
std::optional<Vector> ray_of(const CameraModel &camera, Point place);

enum class ViewKind {
  // The same direction, with straight lines: as cv::getOptimalNewCameraMatrix with alpha; for fisheyes as
  // cv::fisheye::estimateNewCameraMatrixForUndistortRectify with alpha as its balance. That function errs if fx and fy
  // differ, and if the lens sees more than the half-space ahead: here, edges count as at most 80 degrees from the axis.
  undistorted,
  // The picture of a camera without distortion that stands there. It is turned around the optical axis by roll, then to
  // the right by pan and then down by tilt.
  perspective,
  // Columns are directions, clockwise as seen from above, and rows are angles to the horizon. `tilt` tells how far the
  // optical axis points below the horizon. `pan` is the direction in the middle; 0 is ahead, and for a camera on a
  // ceiling where the upper edge of its picture is. The rows reach over field_of_view degrees, with the horizon in the
  // middle for tilt=0, at the top for tilt=90, and between them in proportion. The columns have the same scale, but
  // reach over 360 degrees at most. The camera is first turned around its optical axis by roll.
  panorama,
  // A plane from above: the centres of the new picture's corner pixels show `corners`, as with
  // cv::getPerspectiveTransform(corners, {{0, 0}, {width - 1, 0}, {width - 1, height - 1}, {0, height - 1}}), or the
  // homography. Calibrated cameras are made straight first.
  plane,
};

struct ViewSettings {
  ViewKind kind = ViewKind::undistorted;
  double alpha = 0;                    // 0: no borders are seen; 1: the whole picture of the camera is seen
  double pan = 0, tilt = 0, roll = 0;  // degrees: right, down, clockwise
  // Degrees between the outer edges: across the width (perspective), or from top to bottom (panorama).
  double field_of_view = 90;
  // plane: in the camera's picture, clockwise from the one that becomes top left
  std::optional<Corners> corners;
  // plane: as for cv::warpPerspective, row by row: from the picture of the view undistorted with the frame's size and
  // `alpha`, or without a calibration from the frame, to the new one
  std::optional<Matrix> homography;

  friend bool operator==(const ViewSettings &, const ViewSettings &) = default;
};

// A plane must have corners or a homography. camera: null without a calibration, which only the plane does not need.
// Errors begin with the name of the setting.
Status make_view(const ViewSettings &settings, const CameraModel *camera, Size frame, Size output,
                 CameraView *view);

// Carries points between both pictures, by the model itself (not by the map), also beyond their edges.
class ViewPoints {
 public:
  explicit ViewPoints(const CameraView &view);
  // The place in the new picture of a point of the camera's picture; none if no ray of the new picture meets it. A
  // panorama has a place every 360 degrees: this is the one nearest to the column `near`.
  std::optional<Point> to_view(Point camera, double near) const;
  std::optional<Point> to_camera(Point view) const;

 private:
  CameraView view_;
  Matrix matrix_, inverse_;
};

}  // namespace cudavision::rectify
