// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the remapping on every backend with its definition and with OpenCV, and tests its limits.
#include "cuda/remap/remap.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <memory>
#include <opencv2/imgproc.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "cuda/common/backends.h"
#include "cuda/remap/remap_backends.h"
#include "tests/kernels/remap_definition.h"
#include "tests/support/backends.h"
#include "tests/support/budget.h"
#include "tests/support/instruction_sets.h"
#include "tests/support/opencv_camera.h"
#include "tests/support/pictures.h"
#include "tests/support/test_image.h"

namespace cudavision::test {
namespace {

class Remap : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(Remap);

constexpr RemapSettings kEverySetting[] = {{Interpolation::linear, Border::constant},
                                           {Interpolation::linear, Border::replicate},
                                           {Interpolation::nearest, Border::constant},
                                           {Interpolation::nearest, Border::replicate}};

std::string text_of(const RemapSettings &settings) {
  return std::string(settings.interpolation == Interpolation::linear ? "linear" : "nearest") +
         (settings.border == Border::constant ? " constant" : " replicate");
}

RemapGrid grid_of(int channels, Size source, Size output) {
  return {channels, 1, 1, 0, 0, source, output, {3, 50, 120, 250}};
}

// A map in the backend's memory.
class BackendMap {
 public:
  BackendMap(const Execution &execution, Size size)
      : size_(size), memory_(execution, remap::map_bytes(size)) {}
  BackendMap(const Execution &execution, const MapPicture &entries) : BackendMap(execution, entries.size()) {
    std::vector<std::uint8_t> bytes(memory_.count());
    const remap::Map map = remap::map_in(bytes.data(), size_);
    for (int y = 0; y < size_.height; ++y)
      for (int x = 0; x < size_.width; ++x) {
        const MapEntry &entry = entries.at(x, y);
        const std::ptrdiff_t i = map.entry(x, y);
        map.places[i] = {static_cast<std::int16_t>(entry.is_nowhere ? remap::kNowhere : entry.x >> 5),
                         static_cast<std::int16_t>(entry.is_nowhere ? remap::kNowhere : entry.y >> 5)};
        map.fractions[i] = static_cast<std::uint16_t>((entry.y & 31) * 32 + (entry.x & 31));
      }
    memory_.write(bytes);
  }
  remap::Map map() const { return remap::map_in(memory_.data(), size_); }
  MapPicture entries() const {
    std::vector<std::uint8_t> bytes = memory_.read();
    const remap::Map map = remap::map_in(bytes.data(), size_);
    MapPicture entries(size_);
    for (int y = 0; y < size_.height; ++y)
      for (int x = 0; x < size_.width; ++x) {
        const std::ptrdiff_t i = map.entry(x, y);
        const remap::Place place = map.places[i];
        if (place.x == remap::kNowhere && place.y == remap::kNowhere)
          entries.at(x, y) = {0, 0, true};
        else
          entries.at(x, y) = {place.x * 32 + map.fractions[i] % 32, place.y * 32 + map.fractions[i] / 32};
      }
    return entries;
  }

 private:
  Size size_;
  Memory memory_;
};

// The map that a backend makes for a grid.
MapPicture made_map(const Execution &execution, const CameraView &view, const RemapGrid &grid) {
  const auto width = static_cast<std::size_t>(grid.output.width),
             height = static_cast<std::size_t>(grid.output.height);
  std::vector<remap::Ray> columns(width);
  std::vector<remap::RowOfRays> rows(height);
  remap::fill_tables(view, grid, columns.data(), rows.data());
  Memory column_memory(execution, width * sizeof(remap::Ray)),
      row_memory(execution, height * sizeof(remap::RowOfRays));
  const auto bytes = [](const auto &table) {
    const auto *first = reinterpret_cast<const std::uint8_t *>(table.data());
    return std::vector<std::uint8_t>(first, first + table.size() * sizeof table[0]);
  };
  column_memory.write(bytes(columns));
  row_memory.write(bytes(rows));
  const BackendMap map(execution, grid.output);
  remap::MapTasks tasks;
  tasks.count = 1;
  tasks.task[0] = {map.map(), grid.offset_x, grid.offset_y, 32.0 / grid.scale_x, 32.0 / grid.scale_y};
  tasks.task[0].columns = reinterpret_cast<const remap::Ray *>(column_memory.data());
  tasks.task[0].rows = reinterpret_cast<const remap::RowOfRays *>(row_memory.data());
  EXPECT_TRUE(succeeds(remap::make_maps(execution, view.camera, tasks)));
  return map.entries();
}

// Steps and placement of a grid's samples.
struct Layout {
  int step_in, step_out;
  Placement placement = kAligned;
};

SampleGrid samples_of(const TestImage<std::uint8_t> &image, int step) {
  return {image.view().data, image.view().pitch_bytes, step};
}

Picture before_run(const RemapGrid &grid, int step) {
  return noise({grid.output.width * step, grid.output.height}, 77);
}

// Computes the samples of one grid from any map.
Picture remapped(const Execution &execution, const Picture &source, const RemapGrid &grid,
                 const MapPicture &entries, const RemapSettings &settings, const Layout &layout) {
  const BackendMap map(execution, entries);
  const TestImage<std::uint8_t> in(execution, source, layout.placement),
      out(execution, before_run(grid, layout.step_out), layout.placement);
  remap::GridTasks tasks;
  tasks.count = 1;
  tasks.task[0] = {samples_of(in, layout.step_in),
                   samples_of(out, layout.step_out),
                   grid.source,
                   grid.channels,
                   settings,
                   {},
                   map.map()};
  std::copy_n(grid.border, 4, tasks.task[0].constant);
  EXPECT_TRUE(succeeds(remap::remap_grids(execution, tasks)));
  EXPECT_TRUE(same(in.download(), source)) << "the source must not change";
  return out.download();
}

Picture defined(const Picture &source, const RemapGrid &grid, const MapPicture &entries,
                const RemapSettings &settings, const Layout &layout) {
  Picture output = before_run(grid, layout.step_out);
  remap_definition(source, layout.step_in, grid, settings, entries, layout.step_out, &output);
  return output;
}

// A map of smooth parts and of places anywhere: near the edges, beyond them and, if wanted, nowhere.
MapPicture wild_map(Size output, Size source, unsigned seed, bool with_nowhere) {
  Random random(seed);
  MapPicture map(output);
  const auto anywhere = [&](int side) {
    const int kind = random.below(8);
    if (kind == 0) return random.below(65535 * 32) - 32767 * 32;
    if (kind == 1) return 32 * (side - 2) + random.below(128);
    if (kind == 2) return random.below(128) - 64;
    return random.below(32 * (side + 4)) - 64;
  };
  for (int y = 0; y < output.height; ++y)
    for (int x = 0; x < output.width; ++x) {
      MapEntry &entry = map.at(x, y);
      if (x / 8 % 2 == 0)
        entry = {x * 33 - 45 + random.below(40), y * 31 + random.below(20)};
      else
        entry = {anywhere(source.width), anywhere(source.height)};
      if (with_nowhere && random.below(9) == 0) entry = {0, 0, true};
    }
  return map;
}

std::vector<Size> sizes() {
  std::vector<Size> sizes{{1, 1}, {1, 7}, {6, 1}, {2, 2}, {4, 3}, {37, 9}, {230, 10}};
  if (!kEmulated) sizes.insert(sizes.end(), {{64, 48}, {257, 31}, {640, 123}, {1031, 20}});
  return sizes;
}

cv::Mat mat_of(const Picture &picture, int channels) {
  return {picture.height(), picture.width() / channels, CV_8UC(channels),
          const_cast<std::uint8_t *>(picture.row(0))};
}

Picture remapped_by_opencv(const Picture &source, const RemapGrid &grid, const MapPicture &entries,
                           const RemapSettings &settings) {
  const bool is_linear = settings.interpolation == Interpolation::linear;
  cv::Mat places(entries.height(), entries.width(), CV_16SC2), fractions;
  if (is_linear) fractions.create(entries.height(), entries.width(), CV_16UC1);
  for (int y = 0; y < entries.height(); ++y)
    for (int x = 0; x < entries.width(); ++x) {
      const MapEntry &entry = entries.at(x, y);
      auto &place = places.at<cv::Vec2s>(y, x);
      if (is_linear) {
        place = {static_cast<short>(entry.x >> 5), static_cast<short>(entry.y >> 5)};
        fractions.at<std::uint16_t>(y, x) = static_cast<std::uint16_t>((entry.y & 31) * 32 + (entry.x & 31));
      } else {
        place = {cv::saturate_cast<short>(entry.x / 32.0), cv::saturate_cast<short>(entry.y / 32.0)};
      }
    }
  Picture output({grid.output.width * grid.channels, grid.output.height});
  cv::Mat out = mat_of(output, grid.channels);
  cv::remap(mat_of(source, grid.channels), out, places, fractions,
            is_linear ? cv::INTER_LINEAR : cv::INTER_NEAREST,
            settings.border == Border::constant ? cv::BORDER_CONSTANT : cv::BORDER_REPLICATE,
            cv::Scalar(grid.border[0], grid.border[1], grid.border[2], grid.border[3]));
  return output;
}

TEST_P(Remap, wild_maps_equal_cv_remap) {
  unsigned seed = 1;
  for (const Size source_size : sizes())
    for (const Size output : {Size{1, 1}, Size{13, 5}, Size{205, 9}})
      for (int channels = 1; channels <= 4; ++channels) {
        const RemapGrid grid = grid_of(channels, source_size, output);
        const Picture source = noise({source_size.width * channels, source_size.height}, seed);
        const MapPicture map = wild_map(output, source_size, ++seed, false);
        for (const RemapSettings &settings : kEverySetting) {
          SCOPED_TRACE(testing::Message() << to_string(source_size) << " to " << to_string(output)
                                          << " channels " << channels << " " << text_of(settings));
          ASSERT_TRUE(same(remapped(execution(), source, grid, map, settings, {channels, channels}),
                           remapped_by_opencv(source, grid, map, settings)));
        }
      }
}

// Every placement, and steps beyond the channels, whose bytes must not be written.
TEST_P(Remap, every_layout_equals_the_definition) {
  unsigned seed = 1;
  const Size source_size{61, 17}, output{85, 9};
  for (const Placement &placement : kPlacements)
    for (int channels = 1; channels <= 4; ++channels)
      for (const Layout &layout :
           {Layout{channels, channels, placement}, Layout{channels + 1, channels, placement},
            Layout{channels, channels + 1, placement}, Layout{4, 6, placement}}) {
        const RemapGrid grid = grid_of(channels, source_size, output);
        const Picture source = noise({source_size.width * layout.step_in, source_size.height}, ++seed);
        const MapPicture map = wild_map(output, source_size, seed, true);
        const RemapSettings &settings = kEverySetting[seed % 4];
        SCOPED_TRACE(testing::Message() << placement << " steps " << layout.step_in << " " << layout.step_out
                                        << " channels " << channels << " " << text_of(settings));
        ASSERT_TRUE(same(remapped(execution(), source, grid, map, settings, layout),
                         defined(source, grid, map, settings, layout)));
      }
}

// Every pair of fractions with values that make each rounding matter.
TEST_P(Remap, every_fraction_equals_the_definition) {
  const Size source_size{34, 33}, output{32 * 8, kEmulated ? 32 : 128};
  const Picture source = noise(source_size, 5);
  MapPicture map(output);
  for (int y = 0; y < output.height; ++y)
    for (int x = 0; x < output.width; ++x)
      map.at(x, y) = {x % 32 + 32 * (x / 32 + y % 20), y % 32 + 32 * (y % 23)};
  const RemapGrid grid = grid_of(1, source_size, output);
  for (const RemapSettings &settings : kEverySetting)
    EXPECT_TRUE(same(remapped(execution(), source, grid, map, settings, {1, 1}),
                     defined(source, grid, map, settings, {1, 1})));
}

TEST(RemapRules, angle_to_axis_is_the_arctangent) {
  double worst = 0;
  for (int i = 0; i <= 200000; ++i) {
    const double angle = remap::kPi * i / 200000, length = std::exp2(i % 40 - 20),
                 radius = length * std::sin(angle), z = length * std::cos(angle);
    worst = std::max(worst,
                     std::abs(remap::angle_to_axis(std::abs(radius), z) - std::atan2(std::abs(radius), z)));
  }
  EXPECT_LT(worst, 1e-15);
  EXPECT_EQ(remap::angle_to_axis(0, 1), 0);
  EXPECT_EQ(remap::angle_to_axis(1, 0), remap::kPi / 2);
}

constexpr double kCoefficients[14] = {-0.31, 0.11,  0.0011, -0.0023, 0.021, 0.052, -0.023,
                                      0.004, 0.002, -0.001, 0.0013,  0.001, 0.03,  -0.05};

// The matrix of a tilted sensor, from OpenCV's documentation of the camera model.
cv::Matx33d tilt_of(double x, double y) {
  const cv::Matx33d around_x(1, 0, 0, 0, std::cos(x), std::sin(x), 0, -std::sin(x), std::cos(x)),
      around_y(std::cos(y), 0, -std::sin(y), 0, 1, 0, std::sin(y), 0, std::cos(y)),
      both = around_y * around_x;
  return cv::Matx33d(both(2, 2), 0, -both(0, 2), 0, both(2, 2), -both(1, 2), 0, 0, 1) * both;
}

// A view of a camera as the functions of OpenCV have it, and the map that they make.
struct OpenCVView {
  cv::Matx33d camera, turned,
      wanted;  // turned: the rotation from the camera to the new one, whose matrix is `wanted`
  std::vector<double> coefficients;
  bool is_fisheye;

  CameraView view() const {
    CameraView view;
    const cv::Matx33d inverse = (wanted * turned).inv(cv::DECOMP_LU);
    std::copy_n(inverse.val, 9, view.matrix);
    CameraModel &model = view.camera;
    model.lens = is_fisheye ? CameraModel::Lens::fisheye : CameraModel::Lens::pinhole;
    model.fx = camera(0, 0), model.fy = camera(1, 1), model.cx = camera(0, 2), model.cy = camera(1, 2);
    std::copy_n(coefficients.data(), std::min<std::size_t>(coefficients.size(), 12), model.k);
    if (coefficients.size() == 14)
      std::copy_n(tilt_of(coefficients[12], coefficients[13]).val, 9, model.tilt);
    return view;
  }
  MapPicture map(Size size) const {
    cv::Mat places, fractions;
    if (is_fisheye)
      cv::fisheye::initUndistortRectifyMap(camera, coefficients, turned, wanted, {size.width, size.height},
                                           CV_16SC2, places, fractions);
    else
      cv::initUndistortRectifyMap(camera, coefficients, turned, wanted, {size.width, size.height}, CV_16SC2,
                                  places, fractions);
    MapPicture map(size);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const cv::Vec2s place = places.at<cv::Vec2s>(y, x);
        const int fraction = fractions.at<std::uint16_t>(y, x);
        map.at(x, y) = {place[0] * 32 + fraction % 32, place[1] * 32 + fraction / 32};
      }
    return map;
  }
};

OpenCVView opencv_view(int coefficient_count, bool is_fisheye) {
  OpenCVView view;
  view.camera = {512.3, 0, 322.7, 0, 508.9, 237.1, 0, 0, 1};
  view.wanted = {401.7, 0, 310.2, 0, 399.4, 251.6, 0, 0, 1};
  cv::Rodrigues(cv::Vec3d(0.03, -0.05, 0.02), view.turned);
  view.coefficients.assign(kCoefficients, kCoefficients + coefficient_count);
  if (is_fisheye) view.coefficients = {-0.012, 0.021, -0.0041, 0.0007};
  view.is_fisheye = is_fisheye;
  return view;
}

// Succeeds if at most a few places in a million differ, and those by one 32nd of a sample: where two computations of
// the same position round differently. OpenCV adds up the rays of a row, and fuses operations where the processor can.
testing::AssertionResult nearly_same(const MapPicture &actual, const MapPicture &expected) {
  int count = 0;
  for (int y = 0; y < expected.height(); ++y)
    for (int x = 0; x < expected.width(); ++x) {
      const MapEntry &a = actual.at(x, y), &e = expected.at(x, y);
      if (a == e) continue;
      ++count;
      if (a.is_nowhere != e.is_nowhere || std::abs(a.x - e.x) > 1 || std::abs(a.y - e.y) > 1)
        return testing::AssertionFailure()
               << "(" << x << ", " << y << ") is at (" << a.x << ", " << a.y << ") / 32 " << a.is_nowhere
               << " instead of (" << e.x << ", " << e.y << ") / 32 " << e.is_nowhere;
    }
  const int most = 2 + expected.width() * expected.height() / 200'000;
  if (count <= most) return testing::AssertionSuccess();
  return testing::AssertionFailure() << count << " places differ by one 32nd";
}

Size map_size() { return kEmulated ? Size{75, 41} : Size{641, 483}; }

TEST_P(Remap, maps_equal_those_of_opencv) {
  for (const int count : {4, 5, 8, 12, 14, 0}) {
    SCOPED_TRACE(testing::Message() << count << " coefficients");
    const OpenCVView peer = opencv_view(count, count == 0);
    const RemapGrid grid = grid_of(1, {640, 480}, map_size());
    EXPECT_TRUE(nearly_same(made_map(execution(), peer.view(), grid), peer.map(grid.output)));
  }
}

// A camera on the ceiling: its fisheye sees all that is below it, and a little above the horizon.
CameraModel ceiling_camera() {
  CameraModel camera;
  camera.lens = CameraModel::Lens::fisheye;
  camera.fx = 190.3, camera.fy = 191.1, camera.cx = 319.4, camera.cy = 317.8;
  camera.k[0] = 0.01, camera.k[1] = -0.003;
  return camera;
}

CameraView panorama() {
  CameraView view;
  view.surface = CameraView::Surface::panorama;
  const double matrix[] = {1, 0, 0, 0, 0, -1, 0, 1, 0};  // down is the optical axis
  std::copy_n(matrix, 9, view.matrix);
  view.longitude = -3.1, view.longitude_step = 0.0097;
  view.latitude = -1.6, view.latitude_step = 0.0065;
  view.camera = ceiling_camera();
  return view;
}

// Four points seen from above: behind the horizon there is nothing.
CameraView birds_eye_view() {
  CameraView view;
  const double matrix[] = {1.30173, 0.40137, -30.07, 0.10071, 2.10313, -50.3, 0.00101, 0.0061, -0.807};
  std::copy_n(matrix, 9, view.matrix);
  return view;
}

std::vector<CameraView> views() {
  CameraView behind = opencv_view(8, true).view();  // a wide plane around the ray from behind
  const double back[] = {1, 0, -37, 0, 1, -20, 0, 0, -9};
  std::copy_n(back, 9, behind.matrix);
  CameraView wild = opencv_view(14, false).view();
  wild.camera.k[0] = 900, wild.camera.k[5] = -3, wild.camera.fx = 1e6;
  return {CameraView(),
          opencv_view(14, false).view(),
          opencv_view(4, true).view(),
          panorama(),
          birds_eye_view(),
          behind,
          wild};
}

RemapGrid chroma_grid(const RemapGrid &luma, int channels, double offset_x, double offset_y) {
  RemapGrid grid = luma;
  grid.channels = channels;
  grid.scale_x = grid.scale_y = 2;
  grid.offset_x = offset_x, grid.offset_y = offset_y;
  for (Size *size : {&grid.source, &grid.output})
    *size = {divide_up(size->width, 2), divide_up(size->height, 2)};
  return grid;
}

TEST_P(Remap, maps_equal_the_definition) {
  const RemapGrid luma = grid_of(1, {640, 480}, map_size());
  RemapGrid narrow = luma;
  narrow.scale_x = 4, narrow.offset_x = 1.5;
  int index = 0, nowhere = 0;
  for (const CameraView &view : views())
    for (const RemapGrid &grid :
         {luma, chroma_grid(luma, 2, 0, 0.5), chroma_grid(luma, 2, 0.5, 0.5), narrow}) {
      SCOPED_TRACE(testing::Message() << "view and grid " << index++);
      const MapPicture expected = map_definition(view, grid);
      for (const MapEntry &entry : expected.pixels()) nowhere += entry.is_nowhere;
      EXPECT_TRUE(nearly_same(made_map(execution(), view, grid), expected));
    }
  EXPECT_GT(nowhere, 100);
}

TEST_P(Remap, both_backends_make_the_same_map) {
  const ExecutionOwner owner({"cpu", Backend::cpu, 2});
  const RemapGrid grid = chroma_grid(grid_of(1, {640, 480}, map_size()), 1, 0, 0.5);
  for (const CameraView &view : views())
    EXPECT_TRUE(made_map(execution(), view, grid) == made_map(owner.execution(), view, grid));
}

// Runs frames of several grids through one object.
class Runner {
 public:
  Runner(const Execution &execution, const std::vector<RemapGrid> &grids)
      : execution_(execution), grids_(grids) {
    EXPECT_TRUE(succeeds(make_remap(execution, grids.data(), static_cast<int>(grids.size()), &remap_)));
  }
  std::vector<Picture> run(const std::vector<Picture> &sources, const RemapSettings &settings) {
    std::vector<std::unique_ptr<TestImage<std::uint8_t>>> in, out;
    std::vector<SampleGrid> source, output;
    for (std::size_t i = 0; i < grids_.size(); ++i) {
      const int step = grids_[i].channels;
      in.push_back(std::make_unique<TestImage<std::uint8_t>>(execution_, sources[i], kAligned));
      out.push_back(
          std::make_unique<TestImage<std::uint8_t>>(execution_, before_run(grids_[i], step), kAligned));
      source.push_back(samples_of(*in.back(), step));
      output.push_back(samples_of(*out.back(), step));
    }
    EXPECT_TRUE(succeeds(remap_->run(source.data(), output.data(), settings)));
    std::vector<Picture> pictures;
    for (const auto &image : out) pictures.push_back(image->download());
    return pictures;
  }
  cudavision::Remap &remap() { return *remap_; }

 private:
  Execution execution_;
  std::vector<RemapGrid> grids_;
  std::unique_ptr<cudavision::Remap> remap_;
};

std::vector<Picture> noises(const std::vector<RemapGrid> &grids) {
  std::vector<Picture> pictures;
  for (const RemapGrid &grid : grids)
    pictures.push_back(noise({grid.source.width * grid.channels, grid.source.height}, 3));
  return pictures;
}

// The samples of each grid, for several views one after the other.
void expect_definition(const Execution &execution, const std::vector<RemapGrid> &grids) {
  const std::vector<Picture> sources = noises(grids);
  Runner runner(execution, grids);
  for (const CameraView &view : views()) {
    ASSERT_TRUE(succeeds(runner.remap().set_view(view)));
    for (const RemapSettings &settings : kEverySetting) {
      const std::vector<Picture> outputs = runner.run(sources, settings);
      for (std::size_t i = 0; i < grids.size(); ++i) {
        const int step = grids[i].channels;
        const MapPicture map = made_map(execution, view, grids[i]);
        ASSERT_TRUE(same(outputs[i], defined(sources[i], grids[i], map, settings, {step, step})))
            << "grid " << i << " " << text_of(settings);
      }
    }
  }
}

// Luma, two equal planes that share a map, and one with a siting of its own; then grids that differ in one thing each.
TEST_P(Remap, frames_of_several_grids_equal_the_definition) {
  const RemapGrid luma = grid_of(1, {200, 150}, kEmulated ? Size{71, 33} : Size{301, 203}),
                  chroma = chroma_grid(luma, 1, 0, 0.5);
  expect_definition(execution(), {luma, chroma, chroma, chroma_grid(luma, 2, 0.5, 0.5)});
  RemapGrid other_scale = chroma, other_size = chroma;
  other_scale.scale_x = 1;
  ++other_size.output.width;
  expect_definition(execution(), {chroma, chroma_grid(luma, 1, 0, 0), other_scale, other_size});
}

TEST_P(Remap, the_view_of_the_camera_itself_changes_nothing) {
  const RemapGrid luma = grid_of(1, {90, 31}, {90, 31});
  const std::vector<RemapGrid> grids{luma, chroma_grid(luma, 2, 0, 0.5), grid_of(3, {20, 9}, {20, 9})};
  const std::vector<Picture> sources = noises(grids);
  Runner runner(execution(), grids);
  ASSERT_TRUE(succeeds(runner.remap().set_view(CameraView())));
  for (const RemapSettings &settings : kEverySetting) {
    const std::vector<Picture> outputs = runner.run(sources, settings);
    for (std::size_t i = 0; i < grids.size(); ++i) EXPECT_TRUE(same(outputs[i], sources[i]));
  }
}

// A column and a row of the largest length, whose last samples are at the other end.
TEST_P(Remap, longest_sides_equal_the_definition) {
  for (const Size size : {Size{kMaxSide, 1}, Size{1, kMaxSide}}) {
    const RemapGrid grid = grid_of(1, size, size);
    CameraView view;
    view.matrix[0] = view.matrix[4] = -1;
    view.matrix[2] = size.width - 1.25, view.matrix[5] = size.height - 1.25;
    const std::vector<Picture> sources = noises({grid});
    Runner runner(execution(), {grid});
    ASSERT_TRUE(succeeds(runner.remap().set_view(view)));
    EXPECT_TRUE(
        same(runner.run(sources, {})[0], defined(sources[0], grid, map_definition(view, grid), {}, {1, 1})));
  }
}

TEST_P(Remap, wrong_arguments_are_refused) {
  const RemapGrid good = grid_of(1, {20, 10}, {30, 12});
  std::unique_ptr<cudavision::Remap> remap;
  const std::vector<RemapGrid> many(5, good);
  EXPECT_TRUE(refused(make_remap(execution(), many.data(), 0, &remap)));
  EXPECT_TRUE(refused(make_remap(execution(), many.data(), 5, &remap)));
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<RemapGrid> bad(10, good);
  bad[0].channels = 0, bad[1].channels = 5, bad[2].scale_x = 0, bad[3].scale_y = -1,
  bad[4].offset_x = infinity;
  bad[5].offset_y = std::nan(""), bad[6].source = {0, 5}, bad[7].source = {5, kMaxSide + 1};
  bad[8].output = {1, 0}, bad[9].output = {kMaxSide + 1, 1};
  for (const RemapGrid &grid : bad) EXPECT_TRUE(refused(make_remap(execution(), &grid, 1, &remap)));

  ASSERT_TRUE(succeeds(make_remap(execution(), &good, 1, &remap)));
  const TestImage<std::uint8_t> in(execution(), noise(good.source, 1), kAligned),
      out(execution(), before_run(good, 1), kAligned);
  const SampleGrid source = samples_of(in, 1), output = samples_of(out, 1);
  EXPECT_TRUE(refused(remap->run(&source, &output, {}))) << "there is no view";
  ASSERT_TRUE(succeeds(remap->set_view(CameraView())));
  const SampleGrid no_data{nullptr, 32, 1}, no_step{source.data, 32, 0},
      too_large{source.data, 200'000'000, 1};
  for (const SampleGrid &samples : {no_data, no_step, too_large}) {
    EXPECT_TRUE(refused(remap->run(&samples, &output, {})));
    EXPECT_TRUE(refused(remap->run(&source, &samples, {})));
  }
  EXPECT_TRUE(same(out.download(), before_run(good, 1)));
}

// Such a view is nonsense, but both backends make the same picture of it.
TEST_P(Remap, numbers_that_are_not_finite_have_places) {
  const RemapGrid grid = grid_of(1, {20, 10}, {30, 12});
  CameraView view;
  for (double *number :
       {&view.matrix[8], &view.camera.fx, &view.camera.k[11], &view.camera.tilt[0], &view.latitude}) {
    const double before = *number;
    for (const double value : {std::numeric_limits<double>::infinity(), std::nan("")}) {
      *number = value;
      EXPECT_TRUE(made_map(execution(), view, grid) == map_definition(view, grid)) << value;
    }
    *number = before;
  }
}

TEST_P(Remap, frame_and_view_are_one_launch_each) {
  CUDAVISION_NEEDS_EMULATION();
  const RemapGrid luma = grid_of(1, {40, 20}, {60, 30});
  const std::vector<RemapGrid> grids{luma, chroma_grid(luma, 2, 0, 0.5)};
  Runner runner(execution(), grids);
  const Budget view_budget;
  ASSERT_TRUE(succeeds(runner.remap().set_view(panorama())));
  EXPECT_EQ(view_budget.spent().launches, 1u);
  EXPECT_EQ(view_budget.spent().allocations + view_budget.spent().synchronisations, 0u);
  const TestImage<std::uint8_t> in(execution(), luma.source, kAligned),
      out(execution(), luma.output, kAligned), chroma_in(execution(), {40, 10}, kAligned),
      chroma_out(execution(), {60, 15}, kAligned);
  const SampleGrid source[] = {samples_of(in, 1), samples_of(chroma_in, 2)},
                   output[] = {samples_of(out, 1), samples_of(chroma_out, 2)};
  const Budget budget;
  EXPECT_TRUE(succeeds(runner.remap().run(source, output, {})));
  budget.expect_launches_alone(1);
}

TEST(RemapCpu, every_instruction_set_equals_the_definition) {
  if (kEmulated) GTEST_SKIP();
  const ExecutionOwner owner({"cpu", Backend::cpu, 1});
  const Size source_size{70, 40}, output{600, 21};
  const RemapGrid map_grid = grid_of(1, source_size, output);
  std::vector<MapPicture> maps;
  for (const CameraView &view : views()) maps.push_back(made_map(owner.execution(), view, map_grid));
  on_every_instruction_set([&] {
    for (std::size_t i = 0; i < maps.size(); ++i)
      EXPECT_TRUE(made_map(owner.execution(), views()[i], map_grid) == maps[i]);
    for (int channels = 1; channels <= 4; ++channels) {
      const RemapGrid grid = grid_of(channels, source_size, output);
      const Picture source = noise({source_size.width * channels, source_size.height}, 9);
      const MapPicture map = wild_map(output, source_size, 9, true);
      for (const RemapSettings &settings : kEverySetting)
        EXPECT_TRUE(same(remapped(owner.execution(), source, grid, map, settings, {channels, channels}),
                         defined(source, grid, map, settings, {channels, channels})));
    }
  });
}

}  // namespace
}  // namespace cudavision::test
