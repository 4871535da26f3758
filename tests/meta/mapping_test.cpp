// SPDX-License-Identifier: LGPL-2.1-or-later
// Points and lines under scaling, cropping and rotation, compared with the mapping of single points.
#include "gst/meta/mapping.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "tests/meta/support.h"

namespace cudavision::test {
namespace {

using std::numbers::pi;

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
constexpr float kUnit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

// As gst_video_meta_transform_matrix_point() of GStreamer 1.28, without rounding to whole pixels.
Point reference(const float (&m)[3][3], const GstVideoRectangle &in, const GstVideoRectangle &out, double x,
                double y) {
  x -= in.x;
  y -= in.y;
  const double w = m[2][0] * x + m[2][1] * y + m[2][2];
  return {(m[0][0] * x + m[0][1] * y + m[0][2]) / w + out.x,
          (m[1][0] * x + m[1][1] * y + m[1][2]) / w + out.y};
}

GstCudaVisionLine line_through(float x1, float y1, float x2, float y2) {
  double theta = std::atan2(x2 - x1, -(y2 - y1));
  if (theta < 0) theta += pi;
  if (theta >= pi) theta -= pi;
  return {float(x1 * std::cos(theta) + y1 * std::sin(theta)), float(theta), 1, x1, y1, x2, y2};
}

TEST(Mapping, identity_is_known_as_such) {
  EXPECT_TRUE(FrameMapping::scaling({64, 48}, {64, 48}).identity());
  EXPECT_FALSE(FrameMapping::scaling({64, 48}, {64, 96}).identity());
  EXPECT_TRUE(FrameMapping::matrix(kUnit, {0, 0, 64, 48}, {64, 48}, {0, 0, 64, 48}, {64, 48}).identity());
  EXPECT_FALSE(FrameMapping::matrix(kUnit, {1, 0, 63, 48}, {64, 48}, {0, 0, 63, 48}, {63, 48}).identity());
  EXPECT_FALSE(FrameMapping::matrix(kUnit, {0, 0, 64, 48}, {64, 48}, {0, 0, 63, 48}, {63, 48}).identity());
  EXPECT_FALSE(FrameMapping::matrix(kUnit, {0, 0, 60, 48}, {64, 48}, {0, 0, 60, 48}, {60, 48}).identity());
  EXPECT_FALSE(FrameMapping::matrix(kUnit, {0, 0, 64, 48}, {64, 48}, {1, 0, 64, 48}, {64, 48}).identity());
}

TEST(Mapping, a_keypoint_without_angle_stays_without) {
  const auto mapped = FrameMapping::scaling({64, 48}, {128, 144}).map(GstCudaVisionKeypoint{1, 1, 5, kNone});
  ASSERT_TRUE(mapped);
  expect_near(*mapped, {2, 3, 5, kNone});
}

TEST(Mapping, scaling_keeps_the_last_pixel_of_a_row) {
  EXPECT_TRUE(FrameMapping::scaling({1920, 1080}, {19, 10}).map(GstCudaVisionKeypoint{1919, 1079, 1, 0}));
  const float shrink[3][3] = {{0.01f, 0, 0}, {0, 0.01f, 0}, {0, 0, 1}};
  const auto mapped = FrameMapping::matrix(shrink, {0, 0, 1920, 1080}, {1920, 1080}, {0, 0, 19, 10}, {19, 10})
                          .map(GstCudaVisionKeypoint{1899, 999, 1, 0});
  EXPECT_TRUE(mapped);
}

TEST(Mapping, a_point_outside_the_crop_is_dropped) {
  const FrameMapping crop =
      FrameMapping::matrix(kUnit, {10, 20, 30, 40}, {100, 100}, {0, 0, 30, 40}, {30, 40});
  const auto kept = [&](float x, float y) { return crop.map(GstCudaVisionKeypoint{x, y, 1, 0}).has_value(); };
  EXPECT_TRUE(kept(10, 20));
  EXPECT_TRUE(kept(39, 59));
  EXPECT_TRUE(kept(9.75f, 59.25f));  // in the pixels at the border
  EXPECT_FALSE(kept(9, 30));
  EXPECT_FALSE(kept(40, 30));
  EXPECT_FALSE(kept(20, 19));
  EXPECT_FALSE(kept(20, 60));
  EXPECT_FALSE(kept(kNone, 30));
  EXPECT_FALSE(kept(20, std::numeric_limits<float>::infinity()));
}

TEST(Mapping, a_line_is_clipped_to_the_crop) {
  const FrameMapping crop =
      FrameMapping::matrix(kUnit, {10, 20, 30, 40}, {100, 100}, {0, 0, 30, 40}, {30, 40});
  const auto across = crop.map(line_through(0, 30, 100, 30));
  ASSERT_TRUE(across);
  expect_near(*across, {10, float(pi / 2), 1, 0, 10, 29, 10});
  const auto at_the_border =
      FrameMapping::matrix(kUnit, {10, 20, 90, 80}, {100, 100}, {0, 0, 90, 80}, {90, 80})
          .map(line_through(0, 30, 99.5f, 30));
  ASSERT_TRUE(at_the_border);  // only the part outside the crop is cut off
  EXPECT_EQ(at_the_border->x1, 0);
  EXPECT_EQ(at_the_border->x2, 89.5f);
  const auto inside = crop.map(line_through(12, 30, 20, 30));
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->x1, 2);
  EXPECT_EQ(inside->x2, 10);
  const auto corner = crop.map(line_through(0, 30, 20, 10));  // touches only (10, 20)
  ASSERT_TRUE(corner);
  EXPECT_EQ(corner->x1, 0);
  EXPECT_EQ(corner->y2, 0);
  EXPECT_FALSE(crop.map(line_through(0, 29, 19, 10)));
  EXPECT_FALSE(crop.map(line_through(0, 70, 100, 70)));
  EXPECT_FALSE(crop.map(line_through(0, 30, 9, 30)));
  GstCudaVisionLine broken = line_through(0, 30, 100, 30);
  broken.x1 = kNone;
  EXPECT_FALSE(crop.map(broken));
}

// As compositor shows a picture that reaches beyond the left and the bottom of its output.
TEST(Mapping, what_leaves_the_new_frame_is_cut_off) {
  const FrameMapping moved =
      FrameMapping::matrix(kUnit, {0, 0, 100, 100}, {100, 100}, {-30, 20, 100, 100}, {200, 100});
  const auto kept = [&](float x, float y) {
    return moved.map(GstCudaVisionKeypoint{x, y, 1, 0}).has_value();
  };
  EXPECT_TRUE(kept(30, 79));
  EXPECT_TRUE(kept(99, 0));
  EXPECT_FALSE(kept(29, 50));
  EXPECT_FALSE(kept(50, 81));
  const auto line = moved.map(line_through(0, 30, 99, 30));
  ASSERT_TRUE(line);
  expect_near(*line, {50, float(pi / 2), 1, -0.5f, 50, 69, 50});  // to the border of the first pixel
  EXPECT_FALSE(moved.map(line_through(0, 30, 25, 30)));
  const FrameMapping outside =
      FrameMapping::matrix(kUnit, {0, 0, 100, 100}, {100, 100}, {-300, 0, 100, 100}, {200, 100});
  EXPECT_FALSE(outside.map(GstCudaVisionKeypoint{50, 50, 1, 0}));
  EXPECT_FALSE(outside.map(line_through(0, 30, 99, 30)));
}

TEST(Mapping, a_mirrored_line_has_its_ends_in_order) {
  const float mirror[3][3] = {{-1, 0, 99}, {0, 1, 0}, {0, 0, 1}};
  const auto mapped = FrameMapping::matrix(mirror, {0, 0, 100, 50}, {100, 50}, {0, 0, 100, 50}, {100, 50})
                          .map(line_through(10, 5, 30, 25));
  ASSERT_TRUE(mapped);
  EXPECT_EQ(mapped->x1, 69);
  EXPECT_EQ(mapped->y1, 25);
  EXPECT_EQ(mapped->x2, 89);
  EXPECT_EQ(mapped->y2, 5);
  const float upside_down[3][3] = {{1, 0, 0}, {0, -1, 49}, {0, 0, 1}};
  const auto vertical =
      FrameMapping::matrix(upside_down, {0, 0, 100, 50}, {100, 50}, {0, 0, 100, 50}, {100, 50})
          .map(line_through(7, 0, 7, 20));
  ASSERT_TRUE(vertical);
  EXPECT_EQ(vertical->y1, 29);
  EXPECT_EQ(vertical->y2, 49);
}

TEST(Mapping, theta_is_never_pi) {
  const float below = std::nextafter(float(pi), 0.f);
  for (const int height : {1, 1000000000}) {  // taller: the normal turns nearer to the x axis
    const auto mapped =
        FrameMapping::scaling({64, 1000}, {64, height}).map(GstCudaVisionLine{-5, below, 1, 5, 0, 5, 9});
    ASSERT_TRUE(mapped);
    EXPECT_GE(mapped->theta, 0);
    EXPECT_LT(double(mapped->theta), pi);
    const double x = mapped->x1, y = mapped->y1;
    EXPECT_NEAR(x * std::cos(mapped->theta) + y * std::sin(mapped->theta), mapped->rho, 0.01) << height;
  }
}

// A tensor of 4 x 3 cells of 16 x 16 pixels, whose middles are its positions.
GstCudaVisionTensorMeta cells() {
  GstCudaVisionTensorMeta tensor = {};
  tensor.frame_width = 64, tensor.frame_height = 48;
  tensor.origin_x = tensor.origin_y = 7.5;
  tensor.step_x = tensor.step_y = 16;
  return tensor;
}

TEST(Mapping, a_tensor_keeps_its_frame_when_the_whole_frame_is_scaled) {
  const float third[3][3] = {{1 / 3.f, 0, 0}, {0, 1 / 7.f, 0}, {0, 0, 1}};
  for (const FrameMapping &mapping :
       {FrameMapping::scaling({64, 48}, {21, 9}),
        FrameMapping::matrix(third, {0, 0, 64, 48}, {64, 48}, {0, 0, 21, 7}, {21, 7})}) {
    GstCudaVisionTensorMeta tensor = cells(), unknown = {};
    ASSERT_TRUE(mapping.move(&tensor));
    EXPECT_EQ(tensor.frame_width, 64u);
    EXPECT_EQ(tensor.frame_height, 48u);
    EXPECT_EQ(tensor.origin_x, 7.5);
    EXPECT_EQ(tensor.origin_y, 7.5);
    EXPECT_TRUE(mapping.move(&unknown));
    EXPECT_EQ(unknown.frame_width, 0u);
  }
}

// The tensor's last cell moves to where a keypoint at its position moves.
TEST(Mapping, a_tensor_follows_crops_and_borders_of_a_scaled_frame) {
  const float shrink[3][3] = {{0.5f, 0, 0}, {0, 0.25f, 0}, {0, 0, 1}};
  const FrameSize out_size{80, 60};
  const FrameMapping mapping =
      FrameMapping::matrix(shrink, {20, 8, 100, 80}, {128, 96}, {16, 12, 50, 20}, out_size);
  GstCudaVisionTensorMeta tensor = cells();  // of 64 x 48 pixels: the frame was scaled to 128 x 96 before
  ASSERT_TRUE(mapping.move(&tensor));
  EXPECT_EQ(tensor.frame_width, 80u);
  EXPECT_EQ(tensor.frame_height, 120u);
  const float last_x = 7.5f + 3 * 16, last_y = 7.5f + 2 * 16;
  const auto point = mapping.map(GstCudaVisionKeypoint{2 * last_x, 2 * last_y, 1, 0});
  ASSERT_TRUE(point);
  EXPECT_NEAR((tensor.origin_x + 3 * tensor.step_x) * out_size.width / tensor.frame_width, point->x, 1e-4);
  EXPECT_NEAR((tensor.origin_y + 2 * tensor.step_y) * out_size.height / tensor.frame_height, point->y, 1e-4);
}

TEST(Mapping, a_tensor_that_no_geometry_describes_is_refused) {
  const GstVideoRectangle whole{0, 0, 64, 48};
  const float turns[][3][3] = {{{-1, 0, 63}, {0, 1, 0}, {0, 0, 1}},   {{1, 0, 0}, {0, -1, 47}, {0, 0, 1}},
                               {{-1, 0, 63}, {0, -1, 47}, {0, 0, 1}}, {{1, 0.1f, 0}, {0, 1, 0}, {0, 0, 1}},
                               {{1, 0, 0}, {0.1f, 1, 0}, {0, 0, 1}},  {{0, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                               {{kNone, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 0}}};
  for (const auto &turn : turns) {
    GstCudaVisionTensorMeta tensor = cells();
    EXPECT_FALSE(FrameMapping::matrix(turn, whole, {64, 48}, whole, {64, 48}).move(&tensor));
  }
  // A tensor without a frame size cannot follow a crop.
  GstCudaVisionTensorMeta unknown = {};
  EXPECT_FALSE(
      FrameMapping::matrix(kUnit, {1, 0, 63, 48}, {64, 48}, {0, 0, 63, 48}, {63, 48}).move(&unknown));
}

// Matrices that elements make, and a shear.
class MappingOfMatrix : public testing::TestWithParam<int> {
 protected:
  static constexpr GstVideoRectangle kIn{16, 8, 300, 200}, kOut{5, 7, 400, 300};

  void SetUp() override {
    static constexpr float kMatrices[][3][3] = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                                {{4 / 3.f, 0, 0}, {0, 1.5f, 0}, {0, 0, 1}},
                                                {{0, -1, 199}, {1, 0, 0}, {0, 0, 1}},
                                                {{-1, 0, 299}, {0, 1, 0}, {0, 0, 1}},
                                                {{0.8f, 0.6f, 9}, {-0.6f, 0.8f, 180}, {0, 0, 1}},
                                                {{-1.3f, 0, 0}, {0, -1.4f, 0}, {0, 0, -1}},
                                                {{1.6f, 0.2f, 24}, {-0.1f, 1.8f, 40}, {0, 0, 2}}};
    const auto &chosen = kMatrices[GetParam()];
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) matrix_[i][j] = chosen[i][j];
  }
  FrameMapping mapping() const { return FrameMapping::matrix(matrix_, kIn, {400, 300}, kOut, {410, 310}); }
  Point reference_at(double x, double y) const { return reference(matrix_, kIn, kOut, x, y); }

  float matrix_[3][3];
  std::mt19937 random_{20260001};
  std::uniform_real_distribution<float> x_{16, 315}, y_{8, 207}, angle_{-3, 3};
};
INSTANTIATE_TEST_SUITE_P(, MappingOfMatrix, testing::Range(0, 7));

TEST_P(MappingOfMatrix, moves_points_and_their_gradients) {
  int mapped_count = 0;
  for (int i = 0; i < 1000; ++i) {
    const GstCudaVisionKeypoint keypoint{x_(random_), y_(random_), 1, angle_(random_)};
    const auto mapped = mapping().map(keypoint);
    if (!mapped) continue;
    ++mapped_count;
    const Point expected = reference_at(keypoint.x, keypoint.y);
    EXPECT_NEAR(mapped->x, expected.x, 1e-3);
    EXPECT_NEAR(mapped->y, expected.y, 1e-3);
    // A direction along the edge in the old frame is perpendicular to the gradient in the new frame, and an
    // uphill direction stays uphill. The error of the finite step is below 1e-4.
    constexpr double kStep = 1e-3;
    const auto moved = [&](double angle) {
      const Point to =
          reference_at(keypoint.x + kStep * std::cos(angle), keypoint.y + kStep * std::sin(angle));
      const double dx = to.x - expected.x, dy = to.y - expected.y;
      return (dx * std::cos(mapped->angle) + dy * std::sin(mapped->angle)) / std::hypot(dx, dy);
    };
    EXPECT_NEAR(moved(keypoint.angle + pi / 2), 0, 1e-4);
    EXPECT_GT(moved(keypoint.angle), 0);
  }
  EXPECT_GT(mapped_count, 100);
}

TEST_P(MappingOfMatrix, moves_every_point_of_a_line_onto_the_line) {
  int mapped_count = 0;
  for (int i = 0; i < 1000; ++i) {
    float x1 = x_(random_), y1 = y_(random_), x2 = x_(random_), y2 = y_(random_);
    if (std::hypot(x2 - x1, y2 - y1) < 10) continue;
    if (x2 < x1) std::swap(x1, x2), std::swap(y1, y2);
    const auto mapped = mapping().map(line_through(x1, y1, x2, y2));
    if (!mapped) continue;
    ++mapped_count;
    EXPECT_GE(mapped->theta, 0);
    EXPECT_LT(double(mapped->theta), pi);
    EXPECT_TRUE(mapped->x1 < mapped->x2 || (mapped->x1 == mapped->x2 && mapped->y1 <= mapped->y2));
    const auto distance = [&](double x, double y) {
      return x * std::cos(mapped->theta) + y * std::sin(mapped->theta) - mapped->rho;
    };
    // theta and rho are floats: their error is 1e-7 of 500 pixels, multiplied by at most ten by the matrices.
    for (const double t : {0.0, 0.25, 0.5, 1.0}) {
      const Point p =
          reference_at(std::lerp(double(x1), double(x2), t), std::lerp(double(y1), double(y2), t));
      EXPECT_NEAR(distance(p.x, p.y), 0, 2e-3);
    }
    EXPECT_NEAR(distance(mapped->x1, mapped->y1), 0, 2e-3);
    EXPECT_NEAR(distance(mapped->x2, mapped->y2), 0, 2e-3);
    for (const float x : {mapped->x1, mapped->x2}) EXPECT_TRUE(x >= 4.5f && x <= 405) << x;
    for (const float y : {mapped->y1, mapped->y2}) EXPECT_TRUE(y >= 6.5f && y <= 307) << y;
  }
  EXPECT_GT(mapped_count, 100);
}

#if GST_CHECK_VERSION(1, 28, 0)
TEST_P(MappingOfMatrix, agrees_with_gstreamer_to_half_a_pixel) {
  GstVideoMetaTransformMatrix transform = {nullptr, kIn, nullptr, kOut, {}};
  std::copy(&matrix_[0][0], &matrix_[0][0] + 9, &transform.matrix[0][0]);
  for (int y = 8; y < 208; y += 7)
    for (int x = 16; x < 316; x += 7) {
      const auto mapped = mapping().map(GstCudaVisionKeypoint{float(x), float(y), 1, 0});
      gint gst_x = x, gst_y = y;
      gst_video_meta_transform_matrix_point(&transform, &gst_x, &gst_y);
      if (!mapped) continue;
      EXPECT_NEAR(mapped->x, gst_x, 0.501);
      EXPECT_NEAR(mapped->y, gst_y, 0.501);
    }
}
#endif

}  // namespace
}  // namespace cudavision::test
