// SPDX-License-Identifier: LGPL-2.1-or-later
// The views of cudarectify and the points of both pictures, against OpenCV and known scenes.
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <opencv2/calib3d.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

#include "gst/rectify/view.h"

namespace cudavision::rectify {
namespace {

constexpr double kDegree = std::numbers::pi / 180, kNear = 1.0 / 256;
constexpr Size kFrame{640, 480};
constexpr double kMiddle = 719.5;  // of the panoramas

// The camera of OpenCV's pictures left*.jpg, which bends lines by 20 pixels in corners.
CameraModel street() {
  CameraModel camera;
  camera.fx = camera.fy = 535.9, camera.cx = 342.3, camera.cy = 235.6;
  const double k[] = {-0.266, -0.0386, 0.00178, -0.00028, 0.238};
  std::copy(std::begin(k), std::end(k), camera.k);
  return camera;
}

CameraModel ceiling() {
  CameraModel camera;
  camera.lens = CameraModel::Lens::fisheye;
  camera.fx = 150, camera.fy = 151, camera.cx = 318, camera.cy = 243;
  const double k[] = {0.02, -0.01, 0.003, -0.0005};
  std::copy(std::begin(k), std::end(k), camera.k);
  return camera;
}

// A fisheye that sees 45 degrees to the sides. OpenCV 4.6 shifts the centre wrongly if fx and fy differ.
CameraModel narrow() {
  CameraModel camera = ceiling();
  camera.fx = camera.fy = 400;
  return camera;
}

cv::Matx33d matrix_of(const CameraModel &c) { return {c.fx, 0, c.cx, 0, c.fy, c.cy, 0, 0, 1}; }
std::vector<double> coefficients(const CameraModel &c) {
  return {c.k, c.k + (c.lens == CameraModel::Lens::fisheye ? 4 : 12)};
}
cv::Size cv_size(Size size) { return {size.width, size.height}; }

CameraView made(const ViewSettings &settings, const CameraModel *camera, Size output) {
  CameraView view;
  EXPECT_EQ(make_view(settings, camera, kFrame, output, &view).text(), "");
  return view;
}

// Points of all parts of a picture.
std::vector<Point> points(Size size = kFrame) {
  std::vector<Point> all;
  for (int y = 0; y <= 12; ++y)
    for (int x = 0; x <= 16; ++x) all.push_back({x * (size.width - 1) / 16.0, y * (size.height - 1) / 12.0});
  return all;
}

// The camera matrix that a view is made with.
cv::Matx33d new_matrix(const CameraView &view) { return cv::Matx33d(view.matrix).inv(); }

void expect_equal(const cv::Matx33d &a, const cv::Matx33d &b, double tolerance) {
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(a.val[i], b.val[i], tolerance) << i;
}

TEST(View, undistorted_is_that_of_opencv) {
  const CameraModel camera = street();
  // OpenCV 4.6 takes the right and the lower edge to be a pixel beyond the picture: its picture is larger by a pixel.
  const bool is_beyond = cv::getOptimalNewCameraMatrix(cv::Matx33d(500, 0, 320, 0, 500, 240, 0, 0, 1),
                                                       cv::Mat::zeros(1, 5, CV_64F), {640, 480}, 0)
                             .at<double>(0, 0) < 499.9;
  const cv::Size size = is_beyond ? cv::Size(639, 479) : cv::Size(640, 480);
  for (const double alpha : {0.0, 0.3, 1.0})
    for (const Size output : {kFrame, Size{1280, 720}}) {
      ViewSettings settings;
      settings.alpha = alpha;
      const cv::Mat opencv = cv::getOptimalNewCameraMatrix(matrix_of(camera), coefficients(camera), size,
                                                           alpha, cv_size(output));
      // It undoes the distortion less exactly, to some hundredths of a pixel.
      expect_equal(new_matrix(made(settings, &camera, output)), opencv, 0.3);
    }
}

TEST(View, undistorted_shows_no_border_or_the_whole_picture) {
  const CameraModel camera = street();
  for (const double alpha : {0.0, 1.0}) {
    ViewSettings settings;
    settings.alpha = alpha;
    const ViewPoints carry(made(settings, &camera, {320, 240}));
    for (const Point &point : points(alpha == 0 ? Size{320, 240} : kFrame)) {
      const auto there = alpha == 0 ? carry.to_camera(point) : carry.to_view(point, kMiddle);
      const Size size = alpha == 0 ? kFrame : Size{320, 240};
      ASSERT_TRUE(there);
      EXPECT_TRUE(there->x > -0.3 && there->y > -0.3 && there->x < size.width - 0.7 &&
                  there->y < size.height - 0.7)
          << point.x << ' ' << point.y << ' ' << there->x << ' ' << there->y;
    }
  }
  CameraModel straight;
  straight.fx = straight.fy = 500, straight.cx = 320, straight.cy = 240;
  expect_equal(new_matrix(made({}, &straight, kFrame)), matrix_of(straight), 1e-9);
}

TEST(View, undistorted_fisheye_is_that_of_opencv) {
  const CameraModel camera = narrow();
  for (const double balance : {0.0, 0.4, 1.0})
    for (const Size output : {kFrame, Size{1280, 720}}) {
      ViewSettings settings;
      settings.alpha = balance;
      cv::Mat opencv;
      cv::fisheye::estimateNewCameraMatrixForUndistortRectify(matrix_of(camera), coefficients(camera),
                                                              cv_size(kFrame), cv::Matx33d::eye(), opencv,
                                                              balance, cv_size(output));
      expect_equal(new_matrix(made(settings, &camera, output)), opencv, 1e-6);
    }
  // A lens that sees more than the half-space ahead still has such a picture.
  const CameraModel wide = ceiling();
  const CameraView view = made({}, &wide, kFrame);
  EXPECT_NEAR(new_matrix(view)(0, 0), 320 / std::tan(80 * kDegree), 1) << "its sides are at 80 degrees";
}

TEST(View, points_are_those_of_opencv) {
  const CameraModel camera = street(), fisheye = narrow();
  ViewSettings settings;
  for (const CameraModel *model : {&camera, &fisheye}) {
    const CameraView view = made(settings, model, kFrame);
    const ViewPoints carry(view);
    const cv::Matx33d matrix = new_matrix(view);
    expect_equal(matrix, {matrix(0, 0), 0, matrix(0, 2), 0, matrix(1, 1), matrix(1, 2), 0, 0, 1}, 1e-9);
    std::vector<cv::Point2d> given, expected;
    for (const Point &point : points()) given.emplace_back(point.x, point.y);
    if (model == &camera)
      cv::undistortPoints(given, expected, matrix_of(*model), coefficients(*model), cv::noArray(), matrix,
                          cv::TermCriteria(cv::TermCriteria::COUNT + cv::TermCriteria::EPS, 1000, 1e-12));
    else
      cv::fisheye::undistortPoints(given, expected, matrix_of(*model), coefficients(*model), cv::noArray(),
                                   matrix);
    for (std::size_t i = 0; i < given.size(); ++i) {
      const auto there = carry.to_view({given[i].x, given[i].y}, kMiddle);
      ASSERT_TRUE(there);
      EXPECT_NEAR(there->x, expected[i].x, kNear) << given[i];
      EXPECT_NEAR(there->y, expected[i].y, kNear) << given[i];
    }
  }
}

TEST(View, points_come_back) {
  const CameraModel camera = street(), fisheye = ceiling();
  CameraModel tilted = street();
  const double more[] = {0.1, -0.05, 0.02, 0.001, -0.002, 0.003, -0.001},
               tilt[] = {1, 0, 0, 0.0002, 0.999, 0, 0, 0.02, 1};
  std::copy(std::begin(more), std::end(more), tilted.k + 5);
  std::copy(std::begin(tilt), std::end(tilt), tilted.tilt);
  std::vector<CameraView> views;
  for (const CameraModel *model : std::initializer_list<const CameraModel *>{&camera, &tilted, &fisheye}) {
    ViewSettings settings;
    views.push_back(made(settings, model, kFrame));
    settings.kind = ViewKind::perspective;
    settings.pan = 20, settings.tilt = 10, settings.roll = 30;
    views.push_back(made(settings, model, {800, 600}));
    settings.kind = ViewKind::panorama;
    settings.field_of_view = 60;
    views.push_back(made(settings, model, {1200, 300}));
    settings.kind = ViewKind::plane;
    settings.corners = {{{250, 150}, {420, 160}, {440, 330}, {210, 320}}};
    views.push_back(made(settings, model, {300, 400}));
  }
  for (const CameraView &view : views) {
    const ViewPoints carry(view);
    int count = 0;
    for (const Point &point : points()) {
      const auto there = carry.to_view(point, kMiddle);
      if (!there) continue;
      const auto back = carry.to_camera(*there);
      ASSERT_TRUE(back);
      EXPECT_NEAR(back->x, point.x, 1e-6);
      EXPECT_NEAR(back->y, point.y, 1e-6);
      ++count;
    }
    EXPECT_GT(count, 100);
  }
}

TEST(View, a_pinhole_does_not_see_what_is_behind_it) {
  EXPECT_FALSE(place_of(street(), {0.1, 0, -1}));
  EXPECT_TRUE(place_of(ceiling(), {1, 0, -0.2}));
}

// A polynomial that turns back far outside of the picture: nothing is seen beyond, nor twice.
TEST(View, there_are_no_rays_beyond_a_fold) {
  CameraModel camera = street();
  camera.k[0] = -0.4, camera.k[1] = 0, camera.k[2] = 0, camera.k[3] = 0, camera.k[4] = 0.02;
  const double fold = 0.9622, edge = fold * (1 - 0.4 * fold * fold + 0.02 * std::pow(fold, 6));
  for (double radius = 0.02; radius < 2; radius += 0.01) {
    const auto ray =
        ray_of(camera, {camera.cx + radius * camera.fx * 0.6, camera.cy + radius * camera.fy * 0.8});
    EXPECT_EQ(ray.has_value(), radius < edge) << radius << ' ' << edge;
    if (ray) {
      EXPECT_LT(std::hypot((*ray)[0], (*ray)[1]), 1.05) << radius;
    }
  }
  EXPECT_TRUE(place_of(camera, {1, 0, 1})) << "as OpenCV shows it";
  camera.farthest = farthest_seen(camera);
  EXPECT_NEAR(std::sqrt(camera.farthest), fold, 0.005);
  EXPECT_TRUE(place_of(camera, {0.9, 0, 1}));
  EXPECT_FALSE(place_of(camera, {1, 0, 1}));
  CameraModel fisheye = ceiling();
  std::fill_n(fisheye.k, 4, 0.0);
  EXPECT_EQ(farthest_seen(fisheye), HUGE_VAL) << "it sees what is behind it, too";
  EXPECT_EQ(farthest_seen(street()), HUGE_VAL);
  fisheye.k[0] = -0.05;  // 1 - 0.15 * angle * angle is the derivative
  fisheye.farthest = farthest_seen(fisheye);
  EXPECT_NEAR(fisheye.farthest, std::sqrt(1 / 0.15), 0.1 * kDegree);
  EXPECT_TRUE(place_of(fisheye, {std::sin(2.5), 0, std::cos(2.5)}));
  EXPECT_FALSE(place_of(fisheye, {std::sin(2.6), 0, std::cos(2.6)}));
}

TEST(View, perspective_looks_where_it_is_told) {
  const CameraModel camera = street(), fisheye = ceiling();
  ViewSettings settings;
  settings.kind = ViewKind::perspective;
  settings.pan = 10, settings.tilt = 5;
  const auto centre = ViewPoints(made(settings, &camera, {641, 481})).to_camera({320, 240});
  const double pan = 10 * kDegree, tilt = 5 * kDegree;
  const auto expected =
      place_of(camera, {std::sin(pan) * std::cos(tilt), std::sin(tilt), std::cos(pan) * std::cos(tilt)});
  ASSERT_TRUE(centre && expected);
  EXPECT_NEAR(centre->x, expected->x, 1e-9);
  EXPECT_NEAR(centre->y, expected->y, 1e-9);

  settings = {};
  settings.kind = ViewKind::perspective, settings.field_of_view = 60;
  const ViewPoints ahead(made(settings, &fisheye, {600, 400}));
  const auto left = ahead.to_camera({-0.5, 199.5});
  ASSERT_TRUE(left);
  EXPECT_NEAR((*ray_of(fisheye, *left))[0], -std::sin(30 * kDegree), 1e-9);

  // From the ceiling, the view of roll=90 is where the right edge of the picture is, and upright: what lies further
  // from the middle of the picture, nearer to the horizon, is above.
  settings.tilt = -60, settings.roll = 90;
  const ViewPoints right(made(settings, &fisheye, {600, 400}));
  const auto middle = right.to_camera({299.5, 199.5}), above = right.to_camera({299.5, 150});
  ASSERT_TRUE(middle && above);
  EXPECT_GT(middle->x, fisheye.cx + 100);
  EXPECT_NEAR(middle->y, fisheye.cy, 1e-9);
  EXPECT_GT(above->x, middle->x + 1);
}

TEST(View, panorama_goes_around) {
  const CameraModel fisheye = ceiling();
  ViewSettings settings;
  settings.kind = ViewKind::panorama, settings.tilt = 90, settings.field_of_view = 60;
  const Size size{1440, 240};
  const ViewPoints carry(made(settings, &fisheye, size));
  // The horizon is at the upper edge, and pan=0, the upper edge of the camera's picture, in the middle.
  const auto horizon = carry.to_camera({719.5, -0.5}), below = carry.to_camera({719.5, 239.5});
  ASSERT_TRUE(horizon && below);
  EXPECT_NEAR(horizon->x, fisheye.cx, 1e-9);
  EXPECT_LT(horizon->y, fisheye.cy - 200);
  EXPECT_NEAR((*ray_of(fisheye, *horizon))[2], 0, 1e-9);
  EXPECT_NEAR((*ray_of(fisheye, *below))[2], std::sin(60 * kDegree), 1e-9);
  // A quarter of the picture to the right is a quarter turn clockwise.
  const auto quarter = carry.to_camera({719.5 + 360, 120});
  ASSERT_TRUE(quarter);
  EXPECT_GT(quarter->x, fisheye.cx + 100);
  EXPECT_NEAR(quarter->y, fisheye.cy, 1e-9);
  // The seam, below the middle.
  for (const double aside : {-0.3, 0.3}) {
    const auto there = carry.to_view({fisheye.cx + aside, fisheye.cy + 150}, kMiddle);
    ASSERT_TRUE(there);
    EXPECT_NEAR(there->x, aside < 0 ? -0.5 : 1439.5, 1) << "clockwise: the left is reached from below";
    const auto beside = carry.to_view({fisheye.cx + aside, fisheye.cy + 150}, 100);
    ASSERT_TRUE(beside);
    EXPECT_NEAR(beside->x, -0.5, 1) << "both are seen as neighbours from there";
  }

  // Directions are clockwise from the upper edge of the picture, or with roll from elsewhere, and follow `pan`.
  settings.pan = 90;
  const auto place = [&](double x, double y) {
    return Point{fisheye.cx + x * fisheye.fx, fisheye.cy + y * fisheye.fy};
  };
  const auto there =
      ViewPoints(made(settings, &fisheye, size)).to_view(place(-1, 1), kMiddle);  // 225 degrees
  ASSERT_TRUE(there);
  EXPECT_NEAR(there->x, (225 + 90) * 4 - 0.5, 1e-6);
  settings.pan = 0, settings.roll = 90;
  const auto rolled = ViewPoints(made(settings, &fisheye, size)).to_view(place(1, 0), kMiddle);
  ASSERT_TRUE(rolled);
  EXPECT_NEAR(rolled->x, 719.5, 1e-6);
  // A wider picture than 360 degrees is stretched.
  EXPECT_NEAR(made(settings, &fisheye, {2000, 240}).longitude_step * 2000, 360 * kDegree, 1e-9);

  settings.roll = 0, settings.tilt = 0, settings.field_of_view = 90, settings.pan = 15;
  const ViewPoints wall(made(settings, &fisheye, {600, 300}));  // 180 degrees wide
  const auto ahead = wall.to_view({fisheye.cx, fisheye.cy}, kMiddle);
  ASSERT_TRUE(ahead);
  EXPECT_NEAR(ahead->x, 299.5 - 15 * 300 / 90.0, 1e-6);
  EXPECT_NEAR(ahead->y, 149.5, 1e-6);
  const auto side = wall.to_camera({299.5 + 75 * 300 / 90.0, 149.5});
  ASSERT_TRUE(side);
  EXPECT_NEAR((*ray_of(fisheye, *side))[2], 0, 1e-9) << "15 + 75 degrees to the right";
}

TEST(View, plane_of_corners_is_that_of_opencv) {
  ViewSettings settings;
  settings.kind = ViewKind::plane;
  settings.corners = {{{200, 100}, {420, 110}, {600, 400}, {30, 380}}};
  const Size output{300, 500};
  const CameraModel camera = street();
  for (const CameraModel *model : {static_cast<const CameraModel *>(nullptr), &camera}) {
    std::vector<cv::Point2f> corners, straight;
    for (const Point &corner : *settings.corners) corners.emplace_back(corner.x, corner.y);
    if (model == nullptr)
      straight = corners;
    else
      cv::undistortPoints(corners, straight, matrix_of(camera), coefficients(camera), cv::noArray(),
                          matrix_of(camera));
    const std::vector<cv::Point2f> places{{0, 0}, {299, 0}, {299, 499}, {0, 499}};
    const cv::Matx33d opencv = cv::getPerspectiveTransform(straight, places);
    const ViewPoints carry(made(settings, model, output));
    for (std::size_t i = 0; i < 4; ++i) {
      const auto corner = carry.to_view((*settings.corners)[i], kMiddle);
      ASSERT_TRUE(corner);
      EXPECT_NEAR(corner->x, places[i].x, 1e-9);
      EXPECT_NEAR(corner->y, places[i].y, 1e-9);
    }
    for (const Point &point : {Point{300, 200}, Point{250, 350}, Point{400, 300}}) {
      std::vector<cv::Point2d> there{{point.x, point.y}};
      if (model != nullptr)
        cv::undistortPoints(there, there, matrix_of(camera), coefficients(camera), cv::noArray(),
                            matrix_of(camera));
      cv::perspectiveTransform(there, there, opencv);
      const auto found = carry.to_view(point, kMiddle);
      ASSERT_TRUE(found);
      EXPECT_NEAR(found->x, there[0].x, 0.02);
      EXPECT_NEAR(found->y, there[0].y, 0.02);
    }
  }
}

TEST(View, plane_of_a_homography_is_that_of_opencv) {
  ViewSettings settings;
  settings.kind = ViewKind::plane;
  // The sign of the matrix has no meaning.
  const cv::Matx33d matrix(1.2, 0.4, -90, 0.1, 1.9, -130, 0.0002, 0.0021, 1);
  const CameraModel camera = street();
  for (const double sign : {1, -2})
    for (const CameraModel *model : {static_cast<const CameraModel *>(nullptr), &camera}) {
      Matrix given;
      for (std::size_t i = 0; i < 9; ++i) given[i] = sign * matrix.val[i];
      settings.homography = given;
      const ViewPoints carry(made(settings, model, {300, 200}));
      const ViewPoints straight(model != nullptr ? made({}, model, kFrame) : CameraView());
      for (const Point &point : {Point{300, 200}, Point{250, 350}, Point{400, 300}}) {
        const auto before = straight.to_view(point, kMiddle), found = carry.to_view(point, kMiddle);
        ASSERT_TRUE(before && found);
        std::vector<cv::Point2d> there{{before->x, before->y}};
        cv::perspectiveTransform(there, there, matrix);
        EXPECT_NEAR(found->x, there[0].x, 1e-6);
        EXPECT_NEAR(found->y, there[0].y, 1e-6);
      }
    }
  // The sky is no part of the plane.
  EXPECT_FALSE(ViewPoints(made(settings, nullptr, {300, 200})).to_view({300, -600}, kMiddle));
}

TEST(View, settings_that_make_no_picture_are_refused) {
  const CameraModel camera = street(), fisheye = ceiling();
  const auto plane = [](std::optional<Corners> corners, std::optional<Matrix> homography = {}) {
    ViewSettings settings;
    settings.kind = ViewKind::plane;
    settings.corners = corners, settings.homography = homography;
    return settings;
  };
  const auto other = [](ViewKind kind, double tilt, double field_of_view, double alpha = 0) {
    ViewSettings settings;
    settings.kind = kind, settings.tilt = tilt, settings.field_of_view = field_of_view,
    settings.alpha = alpha;
    return settings;
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const struct {
    ViewSettings settings;
    const CameraModel *camera;
    const char *fault;
  } cases[] = {
      {{}, nullptr, "calibration-location: this view needs the calibration of the camera"},
      {other(ViewKind::undistorted, 0, 90, kNan), &camera, "view: its settings"},
      {other(ViewKind::perspective, 0, 171), &camera,
       "field-of-view: a perspective view has 1 to 170 degrees"},
      {other(ViewKind::perspective, kNan, 90), &camera, "view: its settings"},
      {other(ViewKind::panorama, 91, 60), &fisheye, "tilt: that of a panorama is from -90 to 90 degrees"},
      {other(ViewKind::panorama, 90, 91), &fisheye,
       "field-of-view: a panorama has 1 to 180 degrees without tilt, and 1 to 90 with 90"},
      {other(ViewKind::panorama, 0, 0), &fisheye, "field-of-view: a panorama"},
      {plane(Corners{{{0, 0}, {9, 9}, {9, 0}, {0, 9}}}), nullptr, "corners: they are not those of a convex"},
      {plane(Corners{{{0, 0}, {9, 0}, {9, kNan}, {0, 9}}}), nullptr,
       "corners: they are not those of a convex"},
      {plane(Corners{{{0, 0}, {0, 9}, {9, 9}, {9, 0}}}), nullptr, "corners: they are not those of a convex"},
      {plane(Corners{{{-9999, 0}, {9, 0}, {9, 9}, {0, 9}}}), &fisheye,
       "corners: the lens does not see one of them"},
      {plane({}, Matrix{1, 2, 3, 2, 4, 6, 0, 0, 1}), nullptr, "view: its settings make no picture"},
      {plane({}, Matrix{1, 0, 0, 0, kNan, 0, 0, 0, 1}), nullptr, "view: its settings make no picture"},
      {plane({}, Matrix{}), nullptr, "view: its settings make no picture"},
  };
  for (const auto &c : cases) {
    CameraView view;
    const Status status = make_view(c.settings, c.camera, kFrame, {320, 240}, &view);
    EXPECT_EQ(status.text().find(c.fault), 0u) << status.text() << "\nnot: " << c.fault;
    EXPECT_EQ(view, CameraView());
  }
}

}  // namespace
}  // namespace cudavision::rectify
