// SPDX-License-Identifier: LGPL-2.1-or-later
// The removal mask compared with its definition on every backend.
#include <functional>
#include <limits>

#include "cuda/common/owned_memory.h"
#include "cuda/inpaint/removal_mask.h"
#include "tests/kernels/inpaint_definition.h"

namespace {

using namespace cudavision::test;
using cudavision::Region;
using cudavision::RemovalMask;
using cudavision::RemovalSources;
using cudavision::Size;

class InpaintMask : public BackendTest {
 protected:
  // Returns the removal mask of a frame. picture: a source unless it is empty. by_alpha: the alpha channel is a source.
  Picture mask_of_frame(const HostFrame &pixels, RemovalSources sources, const Picture &picture = {},
                        bool by_alpha = false, const Placement &placement = kMisalignedOddPitch) {
    std::unique_ptr<RemovalMask> algorithm;
    EXPECT_TRUE(succeeds(make_removal_mask(execution(), pixels.size, &algorithm)));
    const TestFrame frame(execution(), pixels, placement);
    std::unique_ptr<Memory> memory;
    if (picture.width() > 0) {
      memory = std::make_unique<Memory>(execution(), picture.pixels().size());
      memory->write(picture.pixels());
      sources.picture = memory->data();
    }
    if (by_alpha) {
      sources.alpha = frame.frame().component[0];
      sources.alpha.data += 3 - pixels.format->layout.place[0].offset_bytes;
    }
    cudavision::ImageView<const std::uint8_t> mask;
    EXPECT_TRUE(succeeds(algorithm->run(frame.frame(), sources, &mask)));
    const std::size_t bytes =
        static_cast<std::size_t>(pixels.size.width) * static_cast<std::size_t>(pixels.size.height);
    Picture result(pixels.size);
    EXPECT_EQ(mask.pitch_bytes, pixels.size.width);
    EXPECT_TRUE(succeeds(copy_to_host(execution(), result.pixels().data(), mask.data, bytes)));
    finish(execution());
    const Memory ours(execution(), bytes);  // a caller's memory gets the same bytes
    EXPECT_TRUE(succeeds(algorithm->run(frame.frame(), sources, &mask, ours.data())));
    finish(execution());
    EXPECT_EQ(mask.data, ours.data());
    EXPECT_TRUE(ours.read() == result.pixels());
    return result;
  }
};
CUDAVISION_TEST_ON_EVERY_BACKEND(InpaintMask);

Picture where(Size size, const std::function<bool(int, int)> &is_removed) {
  Picture mask(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) mask.at(x, y) = is_removed(x, y) ? 255 : 0;
  return mask;
}

TEST_P(InpaintMask, without_sources_nothing_is_removed) {
  const HostFrame frame(format_of("RGB"), {37, 21}, 1);
  EXPECT_TRUE(same(mask_of_frame(frame, {}), no_mask(frame.size)));
}

TEST_P(InpaintMask, color_removes_pixels_with_all_components_within_the_tolerance) {
  const Size size{45, 34};
  unsigned seed = 1;
  for (const auto &format : pixel_formats())
    for (const int tolerance : {0, 30, 90, 255}) {
      const HostFrame frame = textured(format.name, size, ++seed);
      RemovalSources sources;
      sources.by_color = true, sources.tolerance = tolerance;
      for (int c = 0; c < frame.component_count(); ++c)
        sources.color.component[c] = static_cast<std::uint8_t>(frame.at(c, 20, 10));
      const Picture expected = where(size, [&](int x, int y) {
        for (int c = 0; c < frame.component_count(); ++c)
          if (std::abs(frame.at(c, x, y) - frame.at(c, 20, 10)) > tolerance) return false;
        return true;
      });
      EXPECT_GT(count_of(expected, std::uint8_t{255}), 0);
      EXPECT_TRUE(same(mask_of_frame(frame, sources, {}, false, kPlacements[seed % 5]), expected))
          << format << " " << tolerance;
    }
}

TEST_P(InpaintMask, any_number_of_regions_is_clipped_to_the_frame) {
  const HostFrame frame(format_of("NV12"), {70, 50}, 3);
  std::vector<Region> regions{
      {-5, -5, 8, 7}, {60, 40, std::numeric_limits<int>::max(), 100}, {30, 20, 0, 9}, {200, 5, 9, 9}};
  for (int i = 0; i < 63; ++i) regions.push_back({i, (i * 7) % 50, 1 + i % 3, 1});
  for (const int count : {0, 1, 4, 32, 33, 64, 67}) {
    RemovalSources sources;
    sources.regions = regions.data(), sources.region_count = count;
    const Picture expected = where(frame.size, [&](int x, int y) {
      for (int i = 0; i < count; ++i) {
        const Region &r = regions[static_cast<std::size_t>(i)];
        if (x >= r.x && y >= r.y && x < std::int64_t{r.x} + r.width && y < std::int64_t{r.y} + r.height)
          return true;
      }
      return false;
    });
    EXPECT_TRUE(same(mask_of_frame(frame, sources), expected)) << count;
  }
}

TEST_P(InpaintMask, picture_and_transparency_select_pixels) {
  const Size size{33, 19};
  const Picture picture = checkerboard(size, 4, 0, 7);
  for (const char *format : {"RGBA", "BGRA"}) {
    const HostFrame frame(format_of(format), size, 5);
    const auto alpha = [&](int x, int y) { return frame.planes[0].at(4 * x + 3, y); };
    const Picture of_alpha = where(size, [&](int x, int y) { return alpha(x, y) < 128; });
    EXPECT_TRUE(same(mask_of_frame(frame, {}, {}, true), of_alpha));
    EXPECT_TRUE(same(mask_of_frame(frame, {}, picture),
                     where(size, [&](int x, int y) { return picture.at(x, y) != 0; })));
    EXPECT_TRUE(same(mask_of_frame(frame, {}, picture, true),
                     where(size, [&](int x, int y) { return picture.at(x, y) != 0 || alpha(x, y) < 128; })));
  }
}

TEST_P(InpaintMask, all_sources_are_combined) {
  const Size size{40, 30};
  const HostFrame frame = textured("BGRA", size, 8);
  const Picture picture = mask_of(size, {2, 3, 4, 5});
  std::vector<Region> regions(40, Region{20, 20, 3, 3});
  RemovalSources sources;
  sources.regions = regions.data(), sources.region_count = 40;
  sources.by_color = true, sources.tolerance = 12;
  for (int c = 0; c < 3; ++c) sources.color.component[c] = static_cast<std::uint8_t>(frame.at(c, 33, 5));
  Picture expected = mask_of_frame(frame, sources);
  EXPECT_GT(count_of(expected, std::uint8_t{255}), 9);
  const Picture of_alpha = mask_of_frame(frame, {}, {}, true);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      if (picture.at(x, y) != 0 || of_alpha.at(x, y) != 0) expected.at(x, y) = 255;
  EXPECT_TRUE(same(mask_of_frame(frame, sources, picture, true), expected));
}

TEST_P(InpaintMask, dilation_grows_by_a_square) {
  for (const Size size : {Size{1, 1}, Size{60, 1}, Size{1, 60}, Size{41, 37}})
    for (const int distance : {1, 2, 5, 40, 255}) {
      const HostFrame frame(format_of("GRAY8"), size, 4);
      Picture picture(size);
      Random random(7);
      for (auto &p : picture.pixels()) p = random.below(60) == 0;
      picture.at(size.width - 1, 0) = 1;
      RemovalSources sources;
      sources.dilation = distance;
      const Picture expected = where(size, [&](int x, int y) {
        for (int j = 0; j < size.height; ++j)
          for (int i = 0; i < size.width; ++i)
            if (picture.at(i, j) != 0 && std::abs(i - x) <= distance && std::abs(j - y) <= distance)
              return true;
        return false;
      });
      EXPECT_TRUE(same(mask_of_frame(frame, sources, picture), expected))
          << size.width << "x" << size.height << " " << distance;
    }
}

TEST_P(InpaintMask, nothing_outside_of_the_limit_is_removed) {
  const HostFrame frame(format_of("GRAY8"), {50, 40}, 4);
  const Picture picture = checkerboard(frame.size, 8, 0, 1);
  for (const int distance : {0, 3}) {
    RemovalSources sources;
    sources.dilation = distance;
    sources.limit = {7, 5, 23, 19};
    // Pixels outside of the limit do not grow into it either.
    const Picture expected = where(frame.size, [&](int x, int y) {
      if (x < 7 || y < 5 || x >= 30 || y >= 24) return false;
      for (int j = std::max(5, y - distance); j <= std::min(23, y + distance); ++j)
        for (int i = std::max(7, x - distance); i <= std::min(29, x + distance); ++i)
          if (picture.at(i, j) != 0) return true;
      return false;
    });
    EXPECT_TRUE(same(mask_of_frame(frame, sources, picture), expected)) << distance;
  }
}

TEST_P(InpaintMask, wrong_arguments_are_refused) {
  std::unique_ptr<RemovalMask> algorithm;
  EXPECT_TRUE(refused(make_removal_mask(execution(), {0, 4}, &algorithm)));
  ASSERT_TRUE(succeeds(make_removal_mask(execution(), {20, 10}, &algorithm)));
  const TestFrame frame(execution(), HostFrame(format_of("RGB"), {20, 10}, 1), kAligned);
  const TestFrame other(execution(), HostFrame(format_of("RGB"), {20, 11}, 1), kAligned);
  cudavision::ImageView<const std::uint8_t> mask;
  RemovalSources sources;
  EXPECT_TRUE(refused(algorithm->run(other.frame(), sources, &mask)));
  for (const int dilation : {-1, 256}) {
    sources.dilation = dilation;
    EXPECT_TRUE(refused(algorithm->run(frame.frame(), sources, &mask)));
  }
  finish(execution());
}

}  // namespace
