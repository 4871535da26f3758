// SPDX-License-Identifier: LGPL-2.1-or-later
// Projects rays into a camera's picture with additions, multiplications, divisions and square roots alone, which CPU
// and GPU round alike.
#pragma once

#include <cmath>

#include "cuda/common/host_device.h"
#include "cuda/remap/camera_view.h"

namespace cudavision::remap {

struct Ray {
  double x, y, z;
};

// A position in the camera's picture, in pixels.
struct Position {
  double x, y;
};

constexpr double kPi = 3.14159265358979323846;

// The angle between a ray and the optical axis, 0 to pi, from its distance to the axis and its coordinate on it. It
// differs from the exact angle by less than 1e-15. The polynomial interpolates the arctangent of t, divided by t,
// between 0 and tan(pi / 8), in t * t.
CUDAVISION_HOST_DEVICE inline double angle_to_axis(double radius, double z) {
  const double along = z < 0 ? -z : z;
  const double small = radius < along ? radius : along, large = radius < along ? along : radius;
  // Above tan(pi / 8), atan(t) = pi / 4 + atan((t - 1) / (t + 1)).
  const bool is_steep = small > 0.41421356237309503 * large;
  const double t = (is_steep ? small - large : small) / (is_steep ? small + large : large), u = t * t;
  double sum = 0.021133752033748364 * u - 0.04347919839046537;
  sum = (sum * u + 0.0568830340363325) * u - 0.066402251735395;
  sum = (sum * u + 0.07689952488233016) * u - 0.09090773003240828;
  sum = (sum * u + 0.11111106177375227) * u - 0.14285714180900647;
  sum = (sum * u + 0.19999999998854168) * u - 0.33333333333328435;
  sum = sum * u + 1.0;
  const double angle = t * sum + (is_steep ? kPi / 4 : 0.0),
               from_axis = radius > along ? kPi / 2 - angle : angle;
  return z < 0 ? kPi - from_axis : from_axis;
}

// Sets *position and returns true, or returns false if the ray is nowhere in the picture. Both are computed without
// branches, so that compilers vectorise loops over rays.
CUDAVISION_HOST_DEVICE inline bool project_fisheye(const CameraModel &camera, const Ray &ray,
                                                   Position *position) {
  const double *k = camera.k;
  const double radius = std::sqrt(ray.x * ray.x + ray.y * ray.y), angle = angle_to_axis(radius, ray.z);
  const double a2 = angle * angle, a4 = a2 * a2, a6 = a4 * a2, a8 = a4 * a4;
  const double distorted = angle * (1 + k[0] * a2 + k[1] * a4 + k[2] * a6 + k[3] * a8);
  // On the axis itself, x and y are 0.
  const double scale = radius > 0 ? distorted / radius : 0.0;
  *position = {camera.fx * ray.x * scale + camera.cx, camera.fy * ray.y * scale + camera.cy};
  return (radius > 0 || ray.z > 0) && angle <= camera.farthest;
}

CUDAVISION_HOST_DEVICE inline bool project_pinhole(const CameraModel &camera, const Ray &ray,
                                                   Position *position) {
  const double *k = camera.k, *tilt = camera.tilt;
  const double inverse = 1 / ray.z, x = ray.x * inverse, y = ray.y * inverse;
  const double x2 = x * x, y2 = y * y, r2 = x2 + y2, xy2 = 2 * x * y;
  const double radial =
      (1 + ((k[4] * r2 + k[1]) * r2 + k[0]) * r2) / (1 + ((k[7] * r2 + k[6]) * r2 + k[5]) * r2);
  const double dx = x * radial + k[2] * xy2 + k[3] * (r2 + 2 * x2) + k[8] * r2 + k[9] * r2 * r2,
               dy = y * radial + k[2] * (r2 + 2 * y2) + k[3] * xy2 + k[10] * r2 + k[11] * r2 * r2;
  const double tx = tilt[0] * dx + tilt[1] * dy + tilt[2], ty = tilt[3] * dx + tilt[4] * dy + tilt[5],
               tz = tilt[6] * dx + tilt[7] * dy + tilt[8];
  const double back = tz != 0 ? 1 / tz : 1.0;
  *position = {camera.fx * back * tx + camera.cx, camera.fy * back * ty + camera.cy};
  return ray.z > 0 && r2 <= camera.farthest;
}

}  // namespace cudavision::remap
