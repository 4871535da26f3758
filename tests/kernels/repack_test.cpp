// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares repacking on every backend with its definition, which reads and writes the bits of a sample one by one.
#include "cuda/repack/repack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/backends.h"
#include "tests/support/budget.h"
#include "tests/support/pictures.h"
#include "tests/support/test_image.h"

namespace {

using namespace cudavision::test;
using cudavision::Component;
using cudavision::GrayRange;
using cudavision::Region;
using cudavision::repack_frame;
using cudavision::RepackedComponent;
using cudavision::RepackedFrame;
using cudavision::Size;
using cudavision::unpack_frame;

class Repack : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(Repack);

// A component: its plane of the wide frame, the place of its samples there, and their number of bits below the upper 8.
struct WideComponent {
  int plane, offset, step, bit, shift_x = 0, shift_y = 0;
  int low = 0;
};
struct Wide {
  const char *name;
  std::vector<WideComponent> components;
};
const std::vector<Wide> &wides() {
  static const std::vector<Wide> all{
      {"16 bits, two planes", {{0, 1, 2, 0, 0, 0, 8}, {1, 1, 4, 0, 1, 1, 8}, {1, 3, 4, 0, 1, 1, 8}}},
      {"10 bits, three planes", {{0, 0, 2, 2, 0, 0, 2}, {1, 0, 2, 2, 1, 1, 2}, {2, 0, 2, 2, 1, 1, 2}}},
      {"12 bits, 4:2:2", {{0, 0, 2, 4, 0, 0, 4}, {1, 0, 2, 4, 1, 0, 4}, {2, 0, 2, 4, 1, 0, 4}}},
      {"10:10:10:2", {{0, 0, 4, 2, 0, 0, 2}, {0, 1, 4, 4, 0, 0, 2}, {0, 2, 4, 6, 0, 0, 2}}},
      {"alpha in front", {{0, 1, 4, 0}, {0, 2, 4, 0}, {0, 3, 4, 0}, {0, 0, 4, 0}}},
      {"planes of 8 bits", {{2, 0, 1, 0}, {0, 0, 1, 0}, {1, 0, 1, 0}, {3, 0, 1, 0}}},
      {"16 bits, grey", {{0, 1, 2, 0, 0, 0, 8}}},
  };
  return all;
}

int samples_across(int pixels, int shift) { return (pixels + (1 << shift) - 1) >> shift; }

// A frame of noise with a copy of 8 bits, one plane per component, in the memory of a backend.
class Frames {
 public:
  Frames(const cudavision::Execution &execution, const Wide &wide, Size size, unsigned seed)
      : wide_(wide), size_(size) {
    for (const WideComponent &c : wide.components) {
      const Size samples{samples_across(size.width, c.shift_x), samples_across(size.height, c.shift_y)};
      const auto plane = static_cast<std::size_t>(c.plane);
      if (planes_.size() <= plane) planes_.resize(plane + 1);
      if (!planes_[plane])
        planes_[plane] = std::make_unique<TestImage<std::uint8_t>>(
            execution, noise({samples.width * c.step, samples.height}, seed++), kOddPitch);
      eights_.push_back(std::make_unique<TestImage<std::uint8_t>>(execution, noise(samples, seed++), kTight));
    }
  }

  RepackedFrame frame(std::optional<GrayRange> range = {}) const {
    RepackedFrame frame;
    frame.width = size_.width, frame.height = size_.height;
    frame.range = range;
    for (std::size_t i = 0; i < wide_.components.size(); ++i) {
      const WideComponent &c = wide_.components[i];
      const auto from = planes_[static_cast<std::size_t>(c.plane)]->view(), to = eights_[i]->view();
      frame.component[frame.count++] = {
          .wide = {from.data + (range ? 0 : c.offset), from.pitch_bytes, c.step, c.shift_x, c.shift_y},
          .bit = c.bit,
          .eight = {to.data, to.pitch_bytes, 1, c.shift_x, c.shift_y},
          .low = c.low};
    }
    return frame;
  }
  std::vector<Picture> wide() const { return download(planes_); }
  std::vector<Picture> eight() const { return download(eights_); }

 private:
  using Images = std::vector<std::unique_ptr<TestImage<std::uint8_t>>>;
  static std::vector<Picture> download(const Images &images) {
    std::vector<Picture> pictures;
    for (const auto &image : images) pictures.push_back(image->download());
    return pictures;
  }

  Wide wide_;
  Size size_;
  Images planes_, eights_;
};

// --- the definition ---

// Bit i, counted from the lowest one, of the eight most significant bits of a sample.
int bit_of(const Picture &plane, const WideComponent &c, int x, int y, int i) {
  const int at = c.bit + i;
  return plane.at(x * c.step + c.offset + at / 8, y) >> at % 8 & 1;
}
int eight_of(const Picture &plane, const WideComponent &c, int x, int y) {
  int value = 0;
  for (int i = 0; i < 8; ++i) value |= bit_of(plane, c, x, y, i) << i;
  return value;
}
void set_eight(Picture *plane, const WideComponent &c, int x, int y, int value) {
  for (int i = 0; i < 8; ++i) {
    const int at = c.bit + i;
    std::uint8_t &byte = plane->at(x * c.step + c.offset + at / 8, y);
    byte = static_cast<std::uint8_t>((byte & ~(1 << at % 8)) | (value >> i & 1) << at % 8);
  }
}
// Whether a pixel of the sample lies in the region.
bool touches(const WideComponent &c, int x, int y, Region region) {
  const auto overlap = [](int sample, int shift, int begin, int length) {
    return (sample << shift) < begin + length && ((sample + 1) << shift) > begin;
  };
  return overlap(x, c.shift_x, region.x, region.width) && overlap(y, c.shift_y, region.y, region.height);
}

// Calls visit(i, c, x, y) for each sample of each component c, the i-th.
template <typename Visit>
void for_each_sample(const Wide &wide, const std::vector<Picture> &eight, const Visit &visit) {
  for (std::size_t i = 0; i < wide.components.size(); ++i)
    for (int y = 0; y < eight[i].height(); ++y)
      for (int x = 0; x < eight[i].width(); ++x) visit(i, wide.components[i], x, y);
}

std::vector<Size> sizes() {
  return {{1, 1}, {2, 3}, {5, 7}, {33, 9}, {kSlow ? Size{64, 16} : Size{257, 61}}};
}

// --- tests ---

TEST_P(Repack, every_format_equals_the_definition) {
  unsigned seed = 1;
  for (const Wide &wide : wides())
    for (const Size size : sizes()) {
      SCOPED_TRACE(wide.name);
      const Frames frames(execution(), wide, size, ++seed);
      const std::vector<Picture> before = frames.wide();
      EXPECT_TRUE(succeeds(repack_frame(execution(), frames.frame(), frames.frame().count)));
      const std::vector<Picture> eight = frames.eight();
      for_each_sample(wide, eight, [&](std::size_t i, const WideComponent &c, int x, int y) {
        ASSERT_EQ(eight[i].at(x, y), eight_of(before[static_cast<std::size_t>(c.plane)], c, x, y))
            << "component " << i << " at " << x << ", " << y;
      });
      EXPECT_TRUE(frames.wide() == before);
    }
}

TEST_P(Repack, first_components_leave_the_others) {
  const Frames frames(execution(), wides()[1], {9, 5}, 3);
  const std::vector<Picture> before = frames.eight();
  EXPECT_TRUE(succeeds(repack_frame(execution(), frames.frame(), 1)));
  const std::vector<Picture> after = frames.eight();
  EXPECT_FALSE(after[0] == before[0]);
  EXPECT_TRUE(after[1] == before[1]);
  EXPECT_TRUE(after[2] == before[2]);
}

TEST_P(Repack, changed_samples_of_the_region_are_written_and_other_bits_stay) {
  unsigned seed = 20;
  for (const Wide &wide : wides())
    for (const Size size : sizes()) {
      SCOPED_TRACE(wide.name);
      const Frames frames(execution(), wide, size, ++seed);
      const Region region{size.width / 3, size.height / 4, (size.width + 1) / 2, (size.height + 1) / 2};
      std::vector<Picture> expected = frames.wide();
      const std::vector<Picture> eight = frames.eight();
      for_each_sample(wide, eight, [&](std::size_t i, const WideComponent &c, int x, int y) {
        if (touches(c, x, y, region))
          set_eight(&expected[static_cast<std::size_t>(c.plane)], c, x, y, eight[i].at(x, y));
      });
      EXPECT_TRUE(succeeds(unpack_frame(execution(), frames.frame(), region)));
      const std::vector<Picture> actual = frames.wide();
      for (std::size_t i = 0; i < actual.size(); ++i)
        EXPECT_TRUE(same(actual[i], expected[i])) << "plane " << i;
    }
}

TEST_P(Repack, replaced_samples_keep_no_bit) {
  unsigned seed = 70;
  for (const Wide &wide : wides())
    for (const Size size : sizes()) {
      SCOPED_TRACE(wide.name);
      const Frames frames(execution(), wide, size, ++seed);
      Picture marks = noise(size, seed);
      for (std::uint8_t &mark : marks.pixels()) mark = mark > 128 ? mark : 0;
      const TestImage<std::uint8_t> replaced(execution(), marks, kMisaligned);
      std::vector<Picture> expected = frames.wide();
      const std::vector<Picture> eight = frames.eight();
      for_each_sample(wide, eight, [&](std::size_t i, const WideComponent &c, int x, int y) {
        Picture &plane = expected[static_cast<std::size_t>(c.plane)];
        set_eight(&plane, c, x, y, eight[i].at(x, y));
        if (marks.at(x << c.shift_x, y << c.shift_y) == 0) return;
        for (int k = 1; k <= c.low; ++k) {  // the bits below the upper eight, from the highest down
          const int at = 8 * c.offset + c.bit - k;
          std::uint8_t &byte = plane.at(x * c.step + at / 8, y);
          byte = static_cast<std::uint8_t>(byte & ~(1 << at % 8));
        }
      });
      EXPECT_TRUE(succeeds(
          unpack_frame(execution(), frames.frame(), {0, 0, size.width, size.height}, replaced.view())));
      const std::vector<Picture> actual = frames.wide();
      for (std::size_t i = 0; i < actual.size(); ++i)
        EXPECT_TRUE(same(actual[i], expected[i])) << "plane " << i;
    }
}

TEST_P(Repack, frame_that_was_not_changed_keeps_every_bit) {
  for (const Wide &wide : wides())
    for (const auto &range : {std::optional<GrayRange>(), std::optional<GrayRange>({1000, 3000})}) {
      if (range && wide.components.size() != 1) continue;
      const Size size{19, 11};
      const Frames frames(execution(), wide, size, 40);
      const std::vector<Picture> before = frames.wide();
      EXPECT_TRUE(succeeds(repack_frame(execution(), frames.frame(range), frames.frame().count)));
      EXPECT_TRUE(succeeds(unpack_frame(execution(), frames.frame(range), {0, 0, size.width, size.height})));
      EXPECT_TRUE(frames.wide() == before) << wide.name;
    }
}

TEST_P(Repack, range_of_grey_values_equals_the_definition) {
  const Size size{kSlow ? 64 : 256, kSlow ? 64 : 256};
  const Picture bytes = Frames(execution(), wides()[6], size, 50).wide()[0];
  const int present = bytes.at(0, 0) + 256 * bytes.at(1, 0);  // the limits of a range are values of the frame
  for (const GrayRange range :
       {GrayRange{0, 65535}, GrayRange{0, 255}, GrayRange{7000, 9000}, GrayRange{12, 13},
        GrayRange{65534, 65535}, GrayRange{present - 3, present}, GrayRange{present, present + 3}}) {
    SCOPED_TRACE(std::to_string(range.low) + " to " + std::to_string(range.high));
    const Frames frames(execution(), wides()[6], size, 50);
    std::vector<Picture> expected = frames.wide();
    EXPECT_TRUE(succeeds(repack_frame(execution(), frames.frame(range), 1)));
    const Picture eight = frames.eight()[0];
    const auto value_at = [&](int x, int y) {
      return expected[0].at(2 * x, y) + 256 * expected[0].at(2 * x + 1, y);
    };
    const auto definition = [&](int v) {
      const double scaled = std::floor((v - range.low) * 256.0 / (range.high - range.low + 1));
      return static_cast<int>(std::clamp(scaled, 0.0, 255.0));
    };
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) ASSERT_EQ(eight.at(x, y), definition(value_at(x, y)));

    const Frames drawn(execution(), wides()[6], size, 50);  // its copy of 8 bits holds noise
    const Picture wanted = drawn.eight()[0];
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        if (definition(value_at(x, y)) == wanted.at(x, y)) continue;
        const int value = static_cast<int>(
            std::floor(range.low + wanted.at(x, y) * (range.high - range.low) / 255.0 + 0.5));
        expected[0].at(2 * x, y) = static_cast<std::uint8_t>(value & 255);
        expected[0].at(2 * x + 1, y) = static_cast<std::uint8_t>(value >> 8);
      }
    EXPECT_TRUE(succeeds(unpack_frame(execution(), drawn.frame(range), {0, 0, size.width, size.height})));
    EXPECT_TRUE(same(drawn.wide()[0], expected[0]));
  }
}

// --- cost and errors ---

TEST_P(Repack, each_call_takes_one_launch_without_global_atomics) {
  CUDAVISION_NEEDS_EMULATION();
  const Frames frames(execution(), wides()[0], {70, 9}, 60);
  const Budget budget;
  EXPECT_TRUE(succeeds(repack_frame(execution(), frames.frame(), 3)));
  EXPECT_TRUE(succeeds(unpack_frame(execution(), frames.frame(), {1, 1, 60, 7})));
  budget.expect_launches_alone(2);
  finish(execution());
  EXPECT_EQ(budget.spent().global_atomics, 0u);
}

TEST_P(Repack, wrong_arguments_are_refused) {
  const Frames frames(execution(), wides()[0], {20, 10}, 61);
  for (const int components : {0, 4, -1})
    EXPECT_TRUE(refused(repack_frame(execution(), frames.frame(), components)));
  for (const Region region : {Region{0, 0, 21, 10}, Region{-1, 0, 5, 5}, Region{0, 0, 0, 1}})
    EXPECT_TRUE(refused(unpack_frame(execution(), frames.frame(), region)));
  for (const GrayRange range : {GrayRange{5, 5}, GrayRange{9, 2}})
    EXPECT_TRUE(refused(repack_frame(execution(), frames.frame(range), 1)));
  RepackedFrame frame = frames.frame();
  frame.component[1].wide.shift_x = 0;
  EXPECT_TRUE(refused(repack_frame(execution(), frame, 3)));
  frame = frames.frame();
  frame.component[0].bit = 8;
  EXPECT_TRUE(refused(repack_frame(execution(), frame, 1)));
}

}  // namespace
