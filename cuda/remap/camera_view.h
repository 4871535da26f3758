// SPDX-License-Identifier: LGPL-2.1-or-later
// Where each pixel of a new picture lies in a camera's picture: a camera model, and the rays of the new picture's
// pixels.
#pragma once

#include <limits>

namespace cudavision {

// Projects a ray (X, Y, Z) into the camera's picture. Pixels have whole coordinates at their centres, as in OpenCV.
struct CameraModel {
  enum class Lens {
    pinhole,  // OpenCV's calib3d: x = X / Z, y = Y / Z, distorted by k
    fisheye,  // OpenCV's cv::fisheye, after J. Kannala and S. S. Brandt, "A generic camera model and calibration method
    // for conventional, wide-angle, and fish-eye lenses", 2006: the angle to the optical axis, distorted by k
  };
  Lens lens = Lens::pinhole;
  double fx = 1, fy = 1, cx = 0, cy = 0;  // in pixels; the default is the picture itself: the ray (x, y, 1)
  // pinhole: k1 k2 p1 p2 k3 k4 k5 k6 s1 s2 s3 s4, in OpenCV's order; fisheye: k1 k2 k3 k4. Others are 0.
  double k[12] = {};
  // pinhole: the tilt of the sensor (OpenCV's tauX and tauY), row by row.
  double tilt[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  // Rays farther from the optical axis are nowhere in the picture. pinhole: of x * x + y * y; fisheye: of the angle.
  double farthest = std::numeric_limits<double>::infinity();

  friend bool operator==(const CameraModel &, const CameraModel &) = default;
};

// The ray of the new picture's pixel (x, y) in the camera's coordinates. Rays that the camera cannot see, because they
// come from behind a pinhole or from beyond CameraModel::farthest, are nowhere in its picture.
struct CameraView {
  enum class Surface {
    plane,  // matrix * (x, y, 1)
    panorama,  // matrix * (cos(b) sin(a), sin(b), cos(b) cos(a)), a = longitude + x * longitude_step, b alike from y
  };
  Surface surface = Surface::plane;
  double matrix[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};  // row by row
  double longitude = 0, longitude_step = 0;        // in radians, and radians a pixel
  double latitude = 0, latitude_step = 0;
  CameraModel camera;

  friend bool operator==(const CameraView &, const CameraView &) = default;
};

}  // namespace cudavision
