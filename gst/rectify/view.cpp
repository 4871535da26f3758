// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/rectify/view.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "cuda/remap/camera_rules.h"

namespace cudavision::rectify {
namespace {

constexpr double kDegree = std::numbers::pi / 180;

// The inverse of a camera matrix: from pixels to rays.
Matrix rays_of(double fx, double fy, double cx, double cy) {
  return {1 / fx, 0, -cx / fx, 0, 1 / fy, -cy / fy, 0, 0, 1};
}

// x runs to the right, y down and z ahead.
Matrix rolled(double degrees) { return rotation(0, 1, degrees * kDegree); }
Matrix panned(double degrees) { return rotation(2, 0, degrees * kDegree); }
Matrix tilted(double degrees) { return rotation(2, 1, degrees * kDegree); }

// A ray by two numbers: its place on the plane in front of a pinhole, or its angle to the axis of a fisheye, in its
// direction.
Vector ray_at(const CameraModel &camera, Point at) {
  if (camera.lens == CameraModel::Lens::pinhole) return {at.x, at.y, 1};
  const double angle = std::hypot(at.x, at.y), scale = angle > 0 ? std::sin(angle) / angle : 1;
  return {at.x * scale, at.y * scale, std::cos(angle)};
}

bool is_straight(const CameraModel &camera) {
  CameraModel straight;
  straight.fx = camera.fx, straight.fy = camera.fy, straight.cx = camera.cx, straight.cy = camera.cy;
  return camera == straight;
}

// A calibrated camera, and what is asked of it.
struct Setup {
  const ViewSettings &settings;
  CameraModel camera;
  Size frame;
};

// The place of a ray on the plane in front of the camera.
std::optional<Point> on_plane(const std::optional<Vector> &ray) {
  if (!ray || !((*ray)[2] > 0)) return {};
  return Point{(*ray)[0] / (*ray)[2], (*ray)[1] / (*ray)[2]};
}

Status no_picture() {
  return invalid_argument("alpha: no straight picture is left of frames of this calibration");
}

// The largest rectangle within the straightened picture and the one around it, each as two axes. Points are left out if
// they have no ray, which happens in corners.
struct Span {
  double first, last;
};
void find_rectangles(const Setup &setup, Span inner[2], Span outer[2]) {
  constexpr double kFar = std::numeric_limits<double>::max();
  constexpr int kSteps = 8;
  for (int axis = 0; axis < 2; ++axis) inner[axis] = {-kFar, kFar}, outer[axis] = {kFar, -kFar};
  for (int row = 0; row <= kSteps; ++row)
    for (int column = 0; column <= kSteps; ++column) {
      const Point corner{column * (setup.frame.width - 1.0) / kSteps,
                         row * (setup.frame.height - 1.0) / kSteps};
      const auto point = on_plane(ray_of(setup.camera, corner));
      if (!point) continue;
      const double at[] = {point->x, point->y};
      const int step[] = {column, row};
      for (int axis = 0; axis < 2; ++axis) {
        outer[axis] = {std::min(outer[axis].first, at[axis]), std::max(outer[axis].last, at[axis])};
        if (step[axis] == 0) inner[axis].first = std::max(inner[axis].first, at[axis]);
        if (step[axis] == kSteps) inner[axis].last = std::min(inner[axis].last, at[axis]);
      }
    }
}

Status undistorted_pinhole(const Setup &setup, Size output, Matrix *rays) {
  Span inner[2], outer[2];
  find_rectangles(setup, inner, outer);
  const int pixels[] = {output.width, output.height};
  double focal[2], centre[2];
  for (int axis = 0; axis < 2; ++axis) {
    constexpr double kMost = 1e6;
    const Span in = inner[axis], out = outer[axis];
    if (!(in.last > in.first && in.last - in.first < kMost)) return no_picture();
    const double last = std::max(pixels[axis] - 1, 1), closer = last / (in.last - in.first),
                 further = last / (out.last - out.first), alpha = setup.settings.alpha;
    focal[axis] = (1 - alpha) * closer + alpha * further;
    centre[axis] = -(1 - alpha) * closer * in.first - alpha * further * out.first;
  }
  *rays = rays_of(focal[0], focal[1], centre[0], centre[1]);
  return {};
}

// The place on the plane in front of a fisheye of a point of an edge of its picture.
Point edge_of_fisheye(const CameraModel &camera, Point place) {
  const double widest = std::tan(80 * kDegree);
  const auto straight = on_plane(ray_of(camera, place));
  if (straight && std::hypot(straight->x, straight->y) < widest) return *straight;
  const double x = (place.x - camera.cx) / camera.fx, y = (place.y - camera.cy) / camera.fy,
               scale = widest / std::hypot(x, y);
  return {x * scale, y * scale};
}

Status undistorted_fisheye(const Setup &setup, Size output, Matrix *rays) {
  const CameraModel &camera = setup.camera;
  const double x = 0.5 * setup.frame.width, y = 0.5 * setup.frame.height, aspect = camera.fx / camera.fy,
               alpha = setup.settings.alpha;
  const Point left = edge_of_fisheye(camera, {0, y}), right = edge_of_fisheye(camera, {2 * x, y}),
              top = edge_of_fisheye(camera, {x, 0}), bottom = edge_of_fisheye(camera, {x, 2 * y}),
              centre{(left.x + right.x + top.x + bottom.x) / 4, (left.y + right.y + top.y + bottom.y) / 4};
  const auto [least, most] =
      std::minmax({x / (centre.x - left.x), x / (right.x - centre.x), y * aspect / (centre.y - top.y),
                   y * aspect / (bottom.y - centre.y)});
  const double focal = alpha * least + (1 - alpha) * most, across = 0.5 * output.width / x,
               down = 0.5 * output.height / y;
  if (!(focal > 0) || !std::isfinite(focal)) return no_picture();
  *rays = rays_of(focal * across, focal / aspect * down, (x - centre.x * focal) * across,
                  (y - centre.y * focal / aspect) * down);
  return {};
}

Status undistorted(const Setup &setup, Size output, Matrix *rays) {
  return setup.camera.lens == CameraModel::Lens::fisheye ? undistorted_fisheye(setup, output, rays)
                                                         : undistorted_pinhole(setup, output, rays);
}

Status perspective(const ViewSettings &s, Size output, Matrix *matrix) {
  if (!(s.field_of_view >= 1 && s.field_of_view <= 170))
    return invalid_argument("field-of-view: a perspective view has 1 to 170 degrees");
  const double focal = 0.5 * output.width / std::tan(0.5 * s.field_of_view * kDegree);
  const Matrix turned = product(rolled(s.roll), product(panned(s.pan), tilted(s.tilt)));
  *matrix = product(turned, rays_of(focal, focal, 0.5 * (output.width - 1), 0.5 * (output.height - 1)));
  return {};
}

Status panorama(const ViewSettings &s, Size output, CameraView *view, Matrix *matrix) {
  if (!(s.tilt >= -90 && s.tilt <= 90))
    return invalid_argument("tilt: that of a panorama is from -90 to 90 degrees");
  const double middle = 0.5 * s.field_of_view * s.tilt / 90;
  if (!(s.field_of_view >= 1 && std::abs(middle) + 0.5 * s.field_of_view <= 90))
    return invalid_argument(
        "field-of-view: a panorama has 1 to 180 degrees without tilt, and 1 to 90 with 90");
  const double down = s.field_of_view / output.height, across = std::min(down, 360.0 / output.width);
  view->surface = CameraView::Surface::panorama;
  view->longitude_step = across * kDegree, view->latitude_step = down * kDegree;
  view->longitude = (s.pan - 0.5 * across * (output.width - 1)) * kDegree;
  view->latitude = (middle - 0.5 * down * (output.height - 1)) * kDegree;
  *matrix = product(rolled(s.roll), tilted(-s.tilt));
  return {};
}

Status from_corners(const Setup &setup, Size output, Matrix *matrix) {
  Corners corners = *setup.settings.corners;
  for (Point &corner : corners) {
    const auto straight = on_plane(ray_of(setup.camera, corner));
    if (!straight) return invalid_argument("corners: the lens does not see one of them ahead");
    corner = *straight;
  }
  const Matrix from = from_square(corners);
  if (!is_quadrilateral(corners) || !(determinant(from) > 0))
    return invalid_argument("corners: they are not those of a convex quadrilateral, clockwise");
  *matrix = product(from, Matrix{1.0 / (output.width - 1), 0, 0, 0, 1.0 / (output.height - 1), 0, 0, 0, 1});
  return {};
}

// Without a calibration, the undistorted view is the frame itself.
Status from_homography(const Setup &setup, Size output, Matrix *matrix) {
  Matrix straight;
  CUDAVISION_TRY(undistorted(setup, setup.frame, &straight));
  *matrix = product(straight, inverse(*setup.settings.homography));
  // A homography does not say which side of the horizon is seen. It is that of the new picture's centre.
  if (mapped(*matrix, {0.5 * (output.width - 1), 0.5 * (output.height - 1), 1})[2] < 0)
    for (double &value : *matrix) value = -value;
  return {};
}

// matrix: set to the rays.
Status make(const Setup &setup, Size output, CameraView *view, Matrix *matrix) {
  const ViewSettings &s = setup.settings;
  if (s.kind == ViewKind::undistorted) return undistorted(setup, output, matrix);
  if (s.kind == ViewKind::perspective) return perspective(s, output, matrix);
  if (s.kind == ViewKind::panorama) return panorama(s, output, view, matrix);
  return s.corners ? from_corners(setup, output, matrix) : from_homography(setup, output, matrix);
}

}  // namespace

std::optional<Point> place_of(const CameraModel &camera, const Vector &ray) {
  remap::Position at;
  const remap::Ray given{ray[0], ray[1], ray[2]};
  const bool is_seen = camera.lens == CameraModel::Lens::fisheye ? project_fisheye(camera, given, &at)
                                                                 : project_pinhole(camera, given, &at);
  if (!is_seen || !std::isfinite(at.x) || !std::isfinite(at.y)) return {};
  return Point{at.x, at.y};
}

double farthest_seen(const CameraModel &camera) {
  double last = -HUGE_VAL, reached = 0;
  for (int step = 0; step < 1800; ++step) {
    const double angle = step * 0.1 * kDegree;
    const auto place = place_of(camera, {std::sin(angle), 0, std::cos(angle)});
    if (!place) break;  // the half-space behind a pinhole
    if (!(place->x > last)) return reached;
    last = place->x;
    reached = camera.lens == CameraModel::Lens::pinhole ? std::pow(std::tan(angle), 2) : angle;
  }
  return camera.farthest;
}

// Newton's method from the centre outwards. Steps are limited, so that it stops at the first fold, where the
// determinant of the derivatives falls to 0, and does not jump over it.
std::optional<Vector> ray_of(const CameraModel &camera, Point place) {
  if (is_straight(camera))
    return Vector{(place.x - camera.cx) / camera.fx, (place.y - camera.cy) / camera.fy, 1};
  constexpr double kExact = 1e-9, kDifference = 1e-6;
  constexpr int kMostSteps = 100;
  Point at;
  for (int step = 0; step < kMostSteps; ++step) {
    const auto beside = [&](double dx, double dy) {
      return place_of(camera, ray_at(camera, {at.x + dx, at.y + dy})).value_or(Point{NAN, NAN});
    };
    const Point now = beside(0, 0), right = beside(kDifference, 0), below = beside(0, kDifference);
    const double x = place.x - now.x, y = place.y - now.y;
    if (std::hypot(x, y) <= kExact) return ray_at(camera, at);
    const double xx = right.x - now.x, yx = right.y - now.y, xy = below.x - now.x, yy = below.y - now.y;
    const double folded = xx * yy - xy * yx;
    if (!(folded > 0)) return {};
    const double scale = kDifference / folded, dx = scale * (x * yy - y * xy), dy = scale * (y * xx - x * yx);
    const double limit = 0.25 * std::max(1.0, std::hypot(at.x, at.y)),
                 shortened = std::min(1.0, limit / std::hypot(dx, dy));
    at.x += shortened * dx, at.y += shortened * dy;
  }
  return {};
}

Status make_view(const ViewSettings &settings, const CameraModel *camera, Size frame, Size output,
                 CameraView *view) {
  if (camera == nullptr && settings.kind != ViewKind::plane)
    return invalid_argument("calibration-location: this view needs the calibration of the camera");
  const Setup setup{settings, camera != nullptr ? *camera : CameraModel(), frame};
  CameraView made;
  made.camera = setup.camera;
  Matrix matrix{};
  CUDAVISION_TRY(make(setup, output, &made, &matrix));
  for (const double value : matrix)
    if (!std::isfinite(value)) return invalid_argument("view: its settings make no picture");
  std::copy(matrix.begin(), matrix.end(), made.matrix);
  *view = made;
  return {};
}

ViewPoints::ViewPoints(const CameraView &view)
    : view_(view), matrix_(std::to_array(view.matrix)), inverse_(inverse(matrix_)) {}

std::optional<Point> ViewPoints::to_view(Point camera, double near) const {
  const auto ray = ray_of(view_.camera, camera);
  if (!ray) return {};
  const auto [x, y, z] = mapped(inverse_, *ray);
  if (view_.surface == CameraView::Surface::plane) {
    if (!(z > 0)) return {};
    return Point{x / z, y / z};
  }
  const double column = (std::atan2(x, z) - view_.longitude) / view_.longitude_step,
               row = (std::atan2(y, std::hypot(x, z)) - view_.latitude) / view_.latitude_step;
  return Point{near + std::remainder(column - near, 2 * std::numbers::pi / view_.longitude_step), row};
}

std::optional<Point> ViewPoints::to_camera(Point view) const {
  if (view_.surface == CameraView::Surface::plane)
    return place_of(view_.camera, mapped(matrix_, {view.x, view.y, 1}));
  const double a = view_.longitude + view.x * view_.longitude_step,
               b = view_.latitude + view.y * view_.latitude_step;
  const Vector ray{std::cos(b) * std::sin(a), std::sin(b), std::cos(b) * std::cos(a)};
  return place_of(view_.camera, mapped(matrix_, ray));
}

}  // namespace cudavision::rectify
