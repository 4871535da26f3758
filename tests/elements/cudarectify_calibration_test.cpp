// SPDX-License-Identifier: LGPL-2.1-or-later
// Calibration files of OpenCV and ROS, what is wrong with others, and frames of another size.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <opencv2/calib3d.hpp>
#include <string>
#include <vector>

#include "gst/rectify/calibration.h"
#include "gst/rectify/view.h"
#include "tests/support/decode.h"

namespace cudavision::rectify {
namespace {

std::string fault_of(const std::string &text) {
  Calibration calibration;
  return parse_calibration(text, &calibration).text();
}

Calibration parsed(const std::string &text) {
  Calibration calibration;
  EXPECT_EQ(parse_calibration(text, &calibration).text(), "") << text;
  return calibration;
}

// A file as cv::FileStorage writes it.
std::string file_of(const cv::Matx33d &matrix, const std::vector<double> &k) {
  cv::FileStorage file(".yml", cv::FileStorage::WRITE | cv::FileStorage::MEMORY);
  file << "image_width" << 640 << "image_height" << 480;
  file << "camera_matrix" << cv::Mat(matrix) << "distortion_coefficients" << cv::Mat(k);
  file << "per_view_reprojection_errors" << cv::Mat::ones(13, 1, CV_32F);
  return file.releaseAndGetString();
}

constexpr char kOpenCV[] = R"(%YAML:1.0
---
image_width: 640
image_height: 480
camera_matrix: !!opencv-matrix
   rows: 3
   cols: 3
   dt: d
   data: [ 500., 0., 320.5, 0., 510.,
       239.25, 0., 0., 1. ]
distortion_coefficients: !!opencv-matrix
   rows: 5
   cols: 1
   dt: d
   data: [ -2.5e-01, 0.125, 1.e-03, -2.e-03, 0. ]
)";

constexpr char kRos[] = R"(image_width: 1280
image_height: 720
camera_name: door
camera_matrix:
  rows: 3
  cols: 3
  data: [700.5, 0, 640, 0, 701, 360, 0, 0, 1]
distortion_model: equidistant
distortion_coefficients:
  rows: 1
  cols: 4
  data: [0.01, -0.02, 0.03, -0.04]
rectification_matrix:
  rows: 3
  cols: 3
  data: [0, -1, 0, 1, 0, 0, 0, 0, 1]
projection_matrix:
  rows: 3
  cols: 4
  data: [700, 0, 640, 0, 0, 700, 360, 0, 0, 0, 1, 0]
)";

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(Calibration, files_of_opencv_are_read) {
  const Calibration read = parsed(kOpenCV);
  EXPECT_EQ(read.size, (Size{640, 480}));
  CameraModel camera;
  camera.fx = 500, camera.fy = 510, camera.cx = 320.5, camera.cy = 239.25;
  camera.k[0] = -0.25, camera.k[1] = 0.125, camera.k[2] = 0.001, camera.k[3] = -0.002;
  EXPECT_EQ(read.camera, camera);
  // The members of other writers mean the same.
  for (const char *name : {"K", "cameraMatrix", "Camera_Matrix"})
    EXPECT_EQ(parsed(replaced(kOpenCV, "camera_matrix", name)).camera, camera) << name;
  for (const char *name : {"D", "distCoeffs", "dist_coeff"})
    EXPECT_EQ(parsed(replaced(kOpenCV, "distortion_coefficients", name)).camera, camera) << name;
  const char *lists =
      "camera_matrix: [[500, 0, 320.5], [0, 510, 239.25], [0, 0, 1]]\n"
      "dist_coeff:\n- - -0.25\n  - 0.125\n  - 0.001\n  - -0.002\n  - 0\n";
  EXPECT_EQ(parsed(lists).camera, camera);
  EXPECT_EQ(parsed(lists).size, Size{});
}

TEST(Calibration, every_count_of_coefficients_is_read_as_opencv_orders_them) {
  const cv::Matx33d matrix(500, 0, 320, 0, 510, 240, 0, 0, 1);
  std::vector<double> k;
  for (std::size_t count = 1; count <= 16; ++count) {
    k.push_back(0.01 * static_cast<double>(count));
    const bool is_right = count == 4 || count == 5 || count == 8 || count == 12 || count == 14;
    Calibration read;
    const Status status = parse_calibration(file_of(matrix, k), &read);
    EXPECT_EQ(status.ok(), is_right) << count << status.text();
    if (!is_right) {
      EXPECT_NE(status.text().find("4, 5, 8, 12 or 14 are expected"), std::string::npos) << status.text();
      continue;
    }
    std::vector<cv::Point2d> places;
    cv::projectPoints(std::vector<cv::Point3d>{{0.3, -0.2, 1}}, cv::Vec3d(), cv::Vec3d(), matrix, k, places);
    CameraView view;
    view.camera = read.camera;
    const auto place = ViewPoints(view).to_camera({0.3, -0.2});
    ASSERT_TRUE(place);
    EXPECT_NEAR(place->x, places[0].x, 1e-9) << count;
    EXPECT_NEAR(place->y, places[0].y, 1e-9) << count;
  }
}

TEST(Calibration, nothing_is_seen_behind_a_fold) {
  const CameraModel folded =
      parsed(replaced(kOpenCV, "0.125", "0")).camera;  // 1 - 0.75 r * r is the derivative
  EXPECT_NEAR(std::sqrt(folded.farthest), std::sqrt(1 / 0.75), 0.01) << "p2 moves it a little";
}

TEST(Calibration, camera_info_of_ros_is_read) {
  const Calibration read = parsed(kRos);
  EXPECT_EQ(read.size, (Size{1280, 720}));
  EXPECT_EQ(read.camera.lens, CameraModel::Lens::fisheye);
  EXPECT_EQ(read.camera.fy, 701);
  EXPECT_EQ(read.camera.k[3], -0.04);
  // A message as rostopic prints it.
  const char *message =
      "height: 480\nwidth: 640\ndistortion_model: \"plumb_bob\"\nD: [0.1, 0, 0, 0, 0]\n"
      "K: [500, 0, 320, 0, 500, 240, 0, 0, 1]\nR: [-1, 0, 0, 0, -1, 0, 0, 0, 1]\n"
      "roi:\n  height: 0\n  width: 0\n";
  EXPECT_EQ(parsed(message).camera.k[0], 0.1);
  EXPECT_EQ(parsed(message).size, (Size{640, 480}));
  EXPECT_EQ(parsed(replaced(message, "D: [0.1, 0, 0, 0, 0]", "D: []")).camera.k[0], 0);
  // ros2 topic echo ends each message so, and may have printed several.
  const std::string first = std::string(message) + "---\n";
  EXPECT_EQ(parsed(first).camera, parsed(message).camera);
  EXPECT_EQ(parsed(first + "height: 1\nwidth: 1\n").size, (Size{640, 480}));
}

TEST(Calibration, fisheyes_are_told_by_the_file) {
  const std::string four = replaced(kOpenCV, "-2.e-03, 0.", "-2.e-03");
  EXPECT_EQ(parsed(four).camera.lens, CameraModel::Lens::pinhole);
  for (const char *line : {"fisheye_model: 1\n", "fisheye_model: true\n", "camera_model: fisheye\n"})
    EXPECT_EQ(parsed(four + line).camera.lens, CameraModel::Lens::fisheye) << line;
  EXPECT_EQ(parsed(four + "fisheye_model: 0\n").camera.lens, CameraModel::Lens::pinhole);
  EXPECT_NE(
      fault_of(std::string(kOpenCV) + "fisheye_model: 1\n").find("line 11: distortion_coefficients has 5"),
      std::string::npos);
}

TEST(Calibration, hostile_files_are_refused_with_line_and_reason) {
  const std::string good = kOpenCV, ros = kRos;
  const struct {
    std::string text, fault;
  } cases[] = {
      {"", "it has no camera_matrix"},
      {"12", "line 1: a member such as camera_matrix is expected"},
      {"- 12", "line 1: a member such as camera_matrix is expected"},
      {"<?xml version=\"1.0\"?>", "it is XML, and YAML is expected"},
      {good.substr(0, good.size() / 2), "it is no complete YAML: "},
      {replaced(good, "510.", "5l0."), "line 9: \"5l0.\" in camera_matrix is no number from -1e9 to 1e9"},
      {replaced(good, "239.25", ".nan"), "line 10: \".nan\" in camera_matrix is no number"},
      {replaced(good, "239.25", "nan"), "line 10: \"nan\" in camera_matrix is no number"},
      {replaced(good, "0.125", "1e10"), "line 15: \"1e10\" in distortion_coefficients is no number"},
      {replaced(good, "0., 1. ]", "1. ]"), "line 5: camera_matrix is not as expected: fx 0 cx"},
      {replaced(good, "500.", "0"), "line 5: camera_matrix is not as expected: fx 0 cx"},
      {replaced(good, "510.", "-5"), "line 5: camera_matrix is not as expected: fx 0 cx"},
      {replaced(good, "0., 1. ]", "1., 0. ]"), "line 5: camera_matrix is not as expected: fx 0 cx"},
      {replaced(good, "camera_matrix", "M1"), "it has no camera_matrix"},
      {replaced(good, "distortion_coefficients", "D1"), "it has no distortion_coefficients"},
      {replaced(good, "640", "0"), "line 3: image_width is no whole number from 1 to 16384"},
      {replaced(good, "640", "640.5"), "line 3: image_width is no whole number"},
      {replaced(good, "480", "16385"), "line 4: image_height is no whole number"},
      {good + "K: 3\n", "line 16: \"K\" is there already, as camera_matrix in line 5"},
      {good + "? [a]\n: 3\n", "line 16: the name of a member is no text"},
      {replaced(good, "500.", "*a"), "it has an alias, *a, which is not read"},
      {replaced(good, "image_width", "%TAG ! b\nimage_width"), "it has a directive"},
      {"a: " + std::string(40, '['), "its collections lie within more than 16 others"},
      {replaced(ros, "equidistant", "fov"),
       "line 8: distortion_model is \"fov\", and plumb_bob, rational_polynomial, equidistant or fisheye is "
       "expected"},
      {replaced(ros, ", -0.04", ""),
       "line 9: distortion_coefficients has 3 numbers, and 4, those of a fisheye"},
  };
  for (const auto &c : cases) {
    Calibration calibration, unchanged;
    calibration.size = unchanged.size = {7, 7};
    const Status status = parse_calibration(c.text, &calibration);
    EXPECT_NE(status.text().find(c.fault), std::string::npos) << c.fault << '\n'
                                                              << status.text() << '\n'
                                                              << c.text;
    EXPECT_LT(status.text().size(), 400u);
    EXPECT_EQ(calibration.size, unchanged.size);
    EXPECT_EQ(calibration.camera, unchanged.camera);
  }
}

TEST(Calibration, files_are_found_and_named) {
  Calibration calibration;
  EXPECT_EQ(read_calibration("/nowhere/a.yml", &calibration).code(), Status::Code::no_file);
  EXPECT_NE(read_calibration("/nowhere/a.yml", &calibration)
                .text()
                .find("the calibration /nowhere/a.yml: it cannot"),
            std::string::npos);
  const std::string name = testing::TempDir() + "calibration.yml";
  std::ofstream(name) << kOpenCV;
  EXPECT_TRUE(read_calibration(name, &calibration).ok());
  EXPECT_EQ(calibration.camera.fx, 500);
  std::ofstream(name) << std::string((1 << 20) + 1, ' ');
  EXPECT_NE(read_calibration(name, &calibration).text().find("at most 1048576 are read"), std::string::npos);
  std::ofstream(name).close();
  EXPECT_NE(read_calibration(name, &calibration).text().find("it has no camera_matrix"), std::string::npos);
}

TEST(Calibration, the_camera_is_scaled_with_the_picture) {
  Calibration calibration = parsed(kOpenCV);
  CameraModel camera;
  EXPECT_TRUE(camera_for(calibration, {640, 480}, &camera).ok());
  EXPECT_EQ(camera, calibration.camera);
  ASSERT_TRUE(camera_for(calibration, {320, 240}, &camera).ok());
  EXPECT_EQ(camera.fx, 250);
  EXPECT_EQ(camera.fy, 255);
  EXPECT_EQ(camera.cx, 160);  // 321 pixels from the left edge become 160.5
  EXPECT_EQ(camera.cy, 119.375);
  EXPECT_EQ(camera.k[0], calibration.camera.k[0]);
  const struct {
    Size calibrated, frame;
    bool is_same;
  } shapes[] = {{{1920, 1080}, {3840, 2160}, true}, {{1280, 720}, {854, 480}, true},
                {{854, 480}, {3840, 2160}, true},   {{1920, 1080}, {1920, 1088}, false},
                {{640, 480}, {640, 360}, false},    {{640, 480}, {160, 121}, false},
                {{640, 480}, {480, 640}, false},    {{0, 0}, {640, 360}, true}};
  for (const auto &shape : shapes) {
    calibration.size = shape.calibrated;
    const Status status = camera_for(calibration, shape.frame, &camera);
    EXPECT_EQ(status.ok(), shape.is_same)
        << shape.calibrated.width << ' ' << shape.frame.width << ' ' << shape.frame.height;
    EXPECT_EQ(status.text().find("have another shape") == std::string::npos, shape.is_same);
  }
}

}  // namespace
}  // namespace cudavision::rectify
