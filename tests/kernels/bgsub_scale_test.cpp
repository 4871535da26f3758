// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares reduced and enlarged pictures on every backend with their definition.
#include "cuda/bgsub/bgsub_scale.h"

#include <gtest/gtest.h>

#include "tests/support/backends.h"
#include "tests/support/budget.h"
#include "tests/support/pictures.h"
#include "tests/support/test_image.h"

namespace {

using namespace cudavision::test;
using cudavision::BgsubPixels;
using cudavision::enlarge_picture;
using cudavision::reduce_picture;
using cudavision::reduced_size;
using cudavision::Size;

class BgsubScale : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(BgsubScale);

// The pixels of an image whose rows hold `step` bytes per pixel.
BgsubPixels<std::uint8_t> pixels(const TestImage<std::uint8_t> &image, int step, int channels) {
  const auto view = image.view();
  return {view.data, view.pitch_bytes, step, channels, view.width / step, view.height};
}

TEST_P(BgsubScale, means_and_squares_equal_the_definition) {
  unsigned seed = 1;
  for (const Size size : {Size{1, 1}, {5, 3}, {8, 8}, {67, 9}, {33, 34}})
    for (const auto &[step, channels] : {std::pair{1, 1}, {3, 3}, {4, 3}})
      for (const int scale : {1, 2, 4, 16})
        for (const Placement &placement : {kOddPitch, kMisaligned}) {
          SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << ", step " << step
                                          << ", scale " << scale << ", seed " << seed);
          const Size less = reduced_size(size, scale);
          const Picture picture = noise({size.width * step, size.height}, seed++);
          const Picture before = noise({less.width * step, less.height}, seed);
          const TestImage<std::uint8_t> large(execution(), picture, placement),
              small(execution(), before, placement);
          ASSERT_TRUE(succeeds(reduce_picture(execution(), pixels(large, step, channels), scale,
                                              pixels(small, step, channels))));
          Picture expected = before;  // bytes that belong to no channel stay
          for (int y = 0; y < less.height; ++y)
            for (int x = 0; x < less.width; ++x)
              for (int c = 0; c < channels; ++c) {
                double sum = 0, count = 0;
                for (int py = y * scale; py < std::min((y + 1) * scale, size.height); ++py)
                  for (int px = x * scale; px < std::min((x + 1) * scale, size.width); ++px, ++count)
                    sum += picture.at(px * step + c, py);
                expected.at(x * step + c, y) = static_cast<std::uint8_t>(sum / count + 0.5);
              }
          ASSERT_TRUE(same(small.download(), expected));

          ASSERT_TRUE(succeeds(enlarge_picture(execution(), pixels(small, step, channels), scale,
                                               pixels(large, step, channels))));
          Picture enlarged = picture;
          for (int y = 0; y < size.height; ++y)
            for (int x = 0; x < size.width; ++x)
              for (int c = 0; c < channels; ++c)
                enlarged.at(x * step + c, y) = expected.at(x / scale * step + c, y / scale);
          ASSERT_TRUE(same(large.download(), enlarged));
        }
}

TEST_P(BgsubScale, pictures_that_do_not_fit_are_refused) {
  const TestImage<std::uint8_t> large(execution(), noise({9, 8}, 1), kTight),
      small(execution(), noise({5, 4}, 1), kTight);
  const auto a = pixels(large, 1, 1), b = pixels(small, 1, 1);
  EXPECT_TRUE(refused(reduce_picture(execution(), a, 4, b)));
  EXPECT_TRUE(refused(reduce_picture(execution(), a, 0, a)));
  EXPECT_TRUE(refused(enlarge_picture(execution(), b, 17, a)));
  BgsubPixels<std::uint8_t> colour = b;
  colour.channels = 3;
  EXPECT_TRUE(refused(reduce_picture(execution(), a, 2, colour)));
}

TEST_P(BgsubScale, each_is_one_launch) {
  CUDAVISION_NEEDS_EMULATION();
  const TestImage<std::uint8_t> large(execution(), noise({9, 8}, 1), kTight),
      small(execution(), noise({5, 4}, 1), kTight);
  const Budget reduces;
  EXPECT_TRUE(succeeds(reduce_picture(execution(), pixels(large, 1, 1), 2, pixels(small, 1, 1))));
  reduces.expect_launches_alone(1);
  const Budget enlarges;
  EXPECT_TRUE(succeeds(enlarge_picture(execution(), pixels(small, 1, 1), 2, pixels(large, 1, 1))));
  enlarges.expect_launches_alone(1);
}

}  // namespace
