// SPDX-License-Identifier: LGPL-2.1-or-later
// Video frames of every pixel format in the memory of a backend, with guard bytes around each row of each plane.
#pragma once

#include <array>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "cuda/common/frame.h"
#include "tests/support/pictures.h"
#include "tests/support/test_image.h"

namespace cudavision::test {

struct PixelFormat {
  const char *name;
  PixelLayout layout;
  int plane_count;
  struct PlaneShape {
    int group_bytes = 0, shift_x = 0, shift_y = 0;  // one group of bytes holds 2^shift_x x 2^shift_y pixels
  } plane[3];

  Size plane_bytes(int i, Size size) const {
    const PlaneShape &p = plane[i];
    return {((size.width + (1 << p.shift_x) - 1) >> p.shift_x) * p.group_bytes,
            (size.height + (1 << p.shift_y) - 1) >> p.shift_y};
  }
  friend std::ostream &operator<<(std::ostream &out, const PixelFormat &f) { return out << f.name; }
};

// Components are in the order of the colour model, as {plane, offset, step, shift_x, shift_y}.
inline const std::vector<PixelFormat> &pixel_formats() {
  using enum ColorModel;
  static const std::vector<PixelFormat> formats{
      {"GRAY8", {gray, {{0, 0, 1, 0, 0}}}, 1, {{1, 0, 0}}},
      {"RGB", {rgb, {{0, 0, 3, 0, 0}, {0, 1, 3, 0, 0}, {0, 2, 3, 0, 0}}}, 1, {{3, 0, 0}}},
      {"BGR", {rgb, {{0, 2, 3, 0, 0}, {0, 1, 3, 0, 0}, {0, 0, 3, 0, 0}}}, 1, {{3, 0, 0}}},
      {"RGBA", {rgb, {{0, 0, 4, 0, 0}, {0, 1, 4, 0, 0}, {0, 2, 4, 0, 0}}}, 1, {{4, 0, 0}}},
      {"BGRA", {rgb, {{0, 2, 4, 0, 0}, {0, 1, 4, 0, 0}, {0, 0, 4, 0, 0}}}, 1, {{4, 0, 0}}},
      {"NV12", {yuv, {{0, 0, 1, 0, 0}, {1, 0, 2, 1, 1}, {1, 1, 2, 1, 1}}}, 2, {{1, 0, 0}, {2, 1, 1}}},
      {"NV21", {yuv, {{0, 0, 1, 0, 0}, {1, 1, 2, 1, 1}, {1, 0, 2, 1, 1}}}, 2, {{1, 0, 0}, {2, 1, 1}}},
      {"I420",
       {yuv, {{0, 0, 1, 0, 0}, {1, 0, 1, 1, 1}, {2, 0, 1, 1, 1}}},
       3,
       {{1, 0, 0}, {1, 1, 1}, {1, 1, 1}}},
      {"YV12",
       {yuv, {{0, 0, 1, 0, 0}, {2, 0, 1, 1, 1}, {1, 0, 1, 1, 1}}},
       3,
       {{1, 0, 0}, {1, 1, 1}, {1, 1, 1}}},
      {"Y42B",
       {yuv, {{0, 0, 1, 0, 0}, {1, 0, 1, 1, 0}, {2, 0, 1, 1, 0}}},
       3,
       {{1, 0, 0}, {1, 1, 0}, {1, 1, 0}}},
      {"Y444",
       {yuv, {{0, 0, 1, 0, 0}, {1, 0, 1, 0, 0}, {2, 0, 1, 0, 0}}},
       3,
       {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}}},
      {"YUY2", {yuv, {{0, 0, 2, 0, 0}, {0, 1, 4, 1, 0}, {0, 3, 4, 1, 0}}}, 1, {{4, 1, 0}}},
      {"UYVY", {yuv, {{0, 1, 2, 0, 0}, {0, 0, 4, 1, 0}, {0, 2, 4, 1, 0}}}, 1, {{4, 1, 0}}},
  };
  return formats;
}

// The bytes of a frame in host memory, plane by plane, as the reference definitions read it.
struct HostFrame {
  const PixelFormat *format;
  Size size;
  std::vector<Picture> planes;

  HostFrame(const PixelFormat &pixel_format, Size frame_size, unsigned seed)
      : format(&pixel_format), size(frame_size) {
    for (int i = 0; i < format->plane_count; ++i)
      planes.push_back(noise(format->plane_bytes(i, size), seed + static_cast<unsigned>(i)));
  }

  int component_count() const { return format->layout.model == ColorModel::gray ? 1 : 3; }
  std::uint8_t &sample(int component, int x, int y) {
    const PixelLayout::Place &p = format->layout.place[component];
    return planes[static_cast<std::size_t>(p.plane)].at((x >> p.shift_x) * p.step_bytes + p.offset_bytes,
                                                        y >> p.shift_y);
  }
  int at(int component, int x, int y) const { return const_cast<HostFrame *>(this)->sample(component, x, y); }

  friend bool operator==(const HostFrame &, const HostFrame &) = default;
};

inline testing::AssertionResult same(const HostFrame &actual, const HostFrame &expected) {
  for (std::size_t i = 0; i < expected.planes.size(); ++i)
    if (const testing::AssertionResult result = same(actual.planes[i], expected.planes[i]); !result)
      return testing::AssertionFailure() << "plane " << i << " in bytes: " << result.message();
  return testing::AssertionSuccess();
}

class TestFrame {
 public:
  TestFrame(const Execution &execution, const HostFrame &pixels, const Placement &placement)
      : shape_(pixels) {
    for (const Picture &plane : pixels.planes)
      planes_.push_back(std::make_unique<TestImage<std::uint8_t>>(execution, plane, placement));
  }

  Frame frame() const {
    Planes planes;
    planes.count = shape_.format->plane_count;
    for (int i = 0; i < planes.count; ++i) {
      const ImageView<std::uint8_t> view = planes_[static_cast<std::size_t>(i)]->view();
      planes.plane[i] = {view.data, view.pitch_bytes, view.width, view.height};
    }
    return make_frame(shape_.format->layout, shape_.size, planes);
  }

  // Waits for enqueued work. Fails the test if a guard byte has changed.
  HostFrame download() const {
    HostFrame pixels = shape_;
    for (std::size_t i = 0; i < planes_.size(); ++i) pixels.planes[i] = planes_[i]->download();
    return pixels;
  }

 private:
  HostFrame shape_;
  std::vector<std::unique_ptr<TestImage<std::uint8_t>>> planes_;
};

}  // namespace cudavision::test
