// SPDX-License-Identifier: LGPL-2.1-or-later
// Inpainting on every backend: compared with its definition, in cases with a known result, and at its limits.
#include "tests/kernels/inpaint_definition.h"

#include <chrono>
#include <cstdio>
#include <limits>
#include <new>
#include <opencv2/imgproc.hpp>
#include <set>
#include <thread>
#include <tuple>

namespace {

using namespace cudavision::test;
using cudavision::InpaintParams;
using cudavision::InpaintRanges;
using cudavision::InpaintReport;
using cudavision::Region;
using cudavision::RgbMatrix;
using cudavision::Size;

class Inpaint : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(Inpaint);

InpaintParams with(int patch_size, int search_radius = 0, bool lab = false, int max_patches = 0) {
  InpaintParams params;
  params.patch_size = patch_size, params.search_radius = search_radius, params.lab = lab,
  params.max_patches = max_patches;
  return params;
}

// --- the definition ---

TEST_P(Inpaint, every_size_equals_the_definition_step_by_step) {
  const struct {
    Size size;
    Region hole;
    int patch_size;
  } cases[] = {{{5, 3}, {0, 0, 2, 1}, 3},    {{3, 9}, {0, 7, 3, 2}, 3},      {{17, 13}, {7, 5, 4, 4}, 3},
               {{33, 30}, {9, 8, 11, 9}, 5}, {{40, 31}, {0, 10, 13, 12}, 7}, {{45, 37}, {30, 20, 15, 17}, 9},
               {{63, 21}, {25, 0, 9, 6}, 15}};
  unsigned seed = 1;
  for (const auto &c : cases) {
    SCOPED_TRACE(::testing::Message() << c.size.width << "x" << c.size.height << " seed " << seed);
    const HostFrame frame = textured(seed % 2 == 0 ? "GRAY8" : "RGB", c.size, seed);
    const Picture mask = mask_of(c.size, c.hole);
    TestedInpaint inpaint(execution(), c.size);
    inpaint.place(kPlacements[seed % 5], kPlacements[(seed + 2) % 5]);
    const Filled expected = definition(frame, mask, with(c.patch_size));
    EXPECT_GT(expected.report.patches, 0);
    ASSERT_TRUE(same(inpaint.run(frame, mask, with(c.patch_size)), expected));
    ++seed;
  }
}

TEST_P(Inpaint, every_format_equals_the_definition) {
  const Size size{29, 23};
  Picture mask = mask_of(size, {11, 7, 6, 5});
  // The corner of a frame of odd size: a chroma cell that the border cuts.
  mask.at(28, 22) = 1;
  const RgbMatrix bt709_full{
      .offset = 0, .luma = 16384, .red_v = 25802, .green_u = -3069, .green_v = -7670, .blue_u = 30402};
  TestedInpaint inpaint(execution(), size);
  unsigned seed = 40;
  for (const auto &format : pixel_formats())
    for (const bool lab : {false, true}) {
      SCOPED_TRACE(::testing::Message() << format << " lab " << lab);
      const HostFrame frame = textured(format.name, size, ++seed);
      const RgbMatrix matrix = lab ? bt709_full : RgbMatrix{};
      inpaint.place(kPlacements[seed % 5], kPlacements[(seed + 1) % 5]);
      ASSERT_TRUE(same(inpaint.run(frame, mask, with(5, 0, lab), matrix),
                       definition(frame, mask, with(5, 0, lab), matrix)));
    }
}

TEST_P(Inpaint, every_parameter_equals_the_definition) {
  const Size size{48, 40};
  const HostFrame frame = textured("BGR", size, 60);
  Picture mask = mask_of(size, {16, 12, 14, 12});
  remove(&mask, {20, 9, 4, 3});  // gives the hole convex and concave corners
  TestedInpaint inpaint(execution(), size);
  std::set<int> patches;
  for (const InpaintParams &params :
       {with(3), with(7), with(13), with(15), with(9, 1), with(9, 12), with(9, 1000),
        with(9, InpaintRanges::search_radius.most), with(9, 0, true), with(9, 0, false, 1),
        with(9, 0, false, 4), with(9, 0, false, 1000), with(5, 10, true, 9)}) {
    SCOPED_TRACE(::testing::Message() << params.patch_size << " " << params.search_radius << " " << params.lab
                                      << " " << params.max_patches);
    const Filled expected = definition(frame, mask, params);
    patches.insert(expected.report.patches);
    EXPECT_TRUE(same(inpaint.run(frame, mask, params), expected));
  }
  EXPECT_GT(patches.size(), 5u);
}

// The area around the hole does not fit into a block's shared memory, so the fill keeps its state in global memory.
TEST_P(Inpaint, large_holes_equal_the_definition) {
  const Size size = kEmulated ? Size{210, 90} : Size{260, 180};  // needs 113 KB (99 allowed), or 281 KB
  const HostFrame frame = textured("RGB", size, 70);
  Picture mask = no_mask(size);
  remove(&mask, {3, 3, 5, 5}), remove(&mask, {size.width - 9, size.height - 8, 5, 5});
  if (!kEmulated) remove(&mask, {60, 70, 30, 20});
  TestedInpaint inpaint(execution(), size);
  EXPECT_TRUE(same(inpaint.run(frame, mask, with(9)), definition(frame, mask, with(9))));
  for (const InpaintParams &params :
       {with(9, 6), with(7, 0, false, 2), with(5, 4, true, 9), with(9, 0, true)}) {
    SCOPED_TRACE(::testing::Message() << params.patch_size << " " << params.search_radius << " " << params.lab
                                      << " " << params.max_patches);
    EXPECT_TRUE(same(inpaint.run(frame, mask, params), definition(frame, mask, params)));
  }
}

// The cells of this picture (cuda/inpaint/search_cells.cuh) do not fit into the shared memory of the blocks beside
// the state, so most candidates are read from global memory: in a small window, and in the whole picture where a window
// has no candidate.
TEST_P(Inpaint, small_windows_in_a_large_picture_equal_the_definition) {
  const Size size = kEmulated ? Size{420, 260} : Size{1400, 900};
  const int x = size.width / 2, y = size.height / 2, apart = kEmulated ? 40 : 110;
  const HostFrame frame = textured("RGB", size, 72);
  Picture mask = no_mask(size);
  remove(&mask, {x, y, 26, 20}), remove(&mask, {x + apart, y + apart, 9, 7});
  TestedInpaint inpaint(execution(), size);
  for (const int reach : {6, kEmulated ? 7 : 64})
    EXPECT_TRUE(same(inpaint.run(frame, mask, with(9, reach)), definition(frame, mask, with(9, reach))))
        << reach;
}

// Four of five pixels are removed, and all of them touch one that is not: the front around a patch has more pixels than
// a block of the fill kernel has threads. Among the last of them are those with the highest priorities, at an island
// with an edge.
TEST_P(Inpaint, front_of_many_pixels_equals_the_definition) {
  const Size size{100, 74};
  HostFrame frame = textured("RGB", size, 71);
  Picture mask = no_mask(size);
  for (int y = 8; y < 66; ++y)
    for (int x = 8; x < 66; ++x) {
      const bool island = x >= 40 && x < 55 && y >= 51 && y < 60;
      mask.at(x, y) = island || (x + 2 * y) % 5 == 0 ? 0 : 1;
      for (int i = 0; island && i < 3; ++i) frame.planes[0].at(3 * x + i, y) = x < 47 ? 0 : 255;
    }
  for (const InpaintParams &params : {with(15), with(15, 40, false, 3)})
    EXPECT_TRUE(
        same(TestedInpaint(execution(), size).run(frame, mask, params), definition(frame, mask, params)));
}

// Black and white pixels, so that sums come near the largest possible one, 225 * 3 * 255^2.
TEST_P(Inpaint, sums_do_not_overflow) {
  const Size size{50, 34};
  HostFrame frame = drawn("RGB", noise(size, 5));
  for (auto &plane : frame.planes)
    for (auto &p : plane.pixels()) p = p < 128 ? 0 : 255;
  const Picture mask = mask_of(size, {20, 14, 6, 5});
  EXPECT_TRUE(
      same(TestedInpaint(execution(), size).run(frame, mask, with(15)), definition(frame, mask, with(15))));
}

TEST(InpaintLab, every_fifth_color_equals_opencv_except_for_rare_roundings) {
  std::vector<cv::Vec3b> colors;
  const auto byte = [](int v) { return static_cast<std::uint8_t>(v); };
  for (int r = 0; r < 256; r += 5)
    for (int g = 0; g < 256; g += 5)
      for (int b = 0; b < 256; b += 5) colors.push_back({byte(r), byte(g), byte(b)});
  cv::Mat lab;
  cv::cvtColor(cv::Mat(colors, false), lab, cv::COLOR_RGB2Lab);
  int different = 0;
  for (std::size_t i = 0; i < colors.size(); ++i) {
    using namespace cudavision::inpaint;
    const cv::Vec3b c = colors[i], expected = lab.at<cv::Vec3b>(static_cast<int>(i), 0);
    const std::uint32_t word = lab_of_rgb(pack(c[0], c[1], c[2], 99), lab_tables());
    for (int k = 0; k < 3; ++k) {
      const int difference = byte_of(word, k) - expected[k];
      different += difference != 0;
      ASSERT_LE(std::abs(difference), 1) << c;
    }
    ASSERT_EQ(byte_of(word, 3), 99);
  }
  // With OpenCV 4.6, which computes its tables in single precision, 16 components differ.
  EXPECT_LE(different, 30) << "of " << colors.size();
}

// --- cases with a known result ---

TEST_P(Inpaint, periodic_texture_is_restored_exactly) {
  const Size size{60, 50};
  for (const char *format : {"GRAY8", "RGB", "NV12"}) {
    HostFrame frame(format_of(format), size, 1);
    for (int c = 0; c < frame.component_count(); ++c)
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x)  // a tile of 6 x 4 pixels, in whole chroma cells
          frame.sample(c, x, y) = static_cast<std::uint8_t>(x / 2 % 3 * 50 + y / 2 % 2 * 90 + c * 5);
    const Picture mask = mask_of(size, {22, 16, 17, 15});
    HostFrame broken = frame;
    for (int c = 0; c < frame.component_count(); ++c)
      for (int y = 16; y < 31; ++y)
        for (int x = 22; x < 39; ++x) broken.sample(c, x, y) = static_cast<std::uint8_t>(x * y + 90 * c);
    EXPECT_TRUE(same(TestedInpaint(execution(), size).run(broken, mask, with(9)).frame, frame)) << format;
  }
}

// The first of equally good candidates is taken, and the first of targets with equal priority is filled.
TEST_P(Inpaint, ties_go_to_the_first) {
  const Size size{60, 44};
  Picture stripes(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      stripes.at(x, y) = static_cast<std::uint8_t>(y / 3 % 2 * 100 + x / 4 % 2 * 50);
  TestedInpaint inpaint(execution(), size);
  for (const Picture &picture : {constant(size, 80), stripes, checkerboard(size, 5, 40, 140)})
    for (const char *format : {"GRAY8", "BGR"}) {
      const HostFrame frame = drawn(format, picture);
      const Picture mask = mask_of(size, {24, 20, 13, 11});
      EXPECT_TRUE(same(inpaint.run(frame, mask, with(7)), definition(frame, mask, with(7)))) << format;
    }
}

// There are more candidates than the blocks of a GPU compare at once. Later ones are abandoned early, unless
// they are equally good.
TEST_P(Inpaint, wide_pictures_equal_the_definition) {
  const Size size{420, 60};
  TestedInpaint inpaint(execution(), size);
  const Picture mask = mask_of(size, {200, 36, 6, 5});
  for (const HostFrame &frame : {drawn("GRAY8", checkerboard(size, 5, 40, 140)), textured("RGB", size, 75)})
    EXPECT_TRUE(same(inpaint.run(frame, mask, with(5)), definition(frame, mask, with(5))));
}

// The blocks of a GPU cannot keep all candidates in shared memory, and read some from global memory.
TEST_P(Inpaint, large_pictures_equal_the_definition) {
  const bool on_card = !kEmulated && execution().backend == cudavision::Backend::cuda;
  const Size size = on_card ? Size{2814, 1855} : Size{466, 222};
  TestedInpaint inpaint(execution(), size);
  HostFrame frame = textured("RGB", size, 76);
  const Picture mask = mask_of(size, {size.width / 2, size.height / 3, 3, 2});
  const Filled expected = definition(frame, mask, with(9));
  EXPECT_TRUE(same(inpaint.run(frame, mask, with(9)), expected));
  // In this copy of the frame the best candidate lies in the last cell of the picture.
  HostFrame copied = frame;
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < 12; ++y)
      for (int x = 0; x < 13; ++x)
        copied.sample(c, size.width - 14 + x, size.height - 13 + y) =
            frame.sample(c, size.width / 2 - 5 + x, size.height / 3 - 5 + y);
  const Filled from_end = inpaint.run(copied, mask, with(9));
  EXPECT_TRUE(same(from_end, definition(copied, mask, with(9))));
  ASSERT_FALSE(from_end.steps.empty());
  EXPECT_GT(from_end.steps[0].source, (size.height - 13) * size.width);
}

TEST_P(Inpaint, straight_edges_are_continued) {
  const Size size{60, 50};
  for (const Picture &picture :
       {half_plane(size, 30, 25, 1, 0, 40, 200), half_plane(size, 30, 25, 0, 1, 40, 200),
        half_plane(size, 30, 25, 1, 1, 40, 200)}) {
    const HostFrame frame = drawn("GRAY8", picture);
    const Picture mask = mask_of(size, {23, 18, 14, 14});
    HostFrame broken = frame;
    for (int y = 18; y < 32; ++y)
      for (int x = 23; x < 37; ++x) broken.sample(0, x, y) = 120;
    EXPECT_TRUE(same(TestedInpaint(execution(), size).run(broken, mask, with(9)).frame, frame));
  }
}

TEST_P(Inpaint, constant_picture_stays_constant) {
  const Size size{40, 30};
  for (const char *format : {"GRAY8", "BGRA", "I420"}) {
    HostFrame frame(format_of(format), size, 3);
    for (int c = 0; c < frame.component_count(); ++c)
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) frame.sample(c, x, y) = static_cast<std::uint8_t>(90 + 20 * c);
    HostFrame broken = frame;
    for (int c = 0; c < frame.component_count(); ++c)
      for (int y = 8; y < 20; ++y)
        for (int x = 12; x < 26; ++x) broken.sample(c, x, y) = static_cast<std::uint8_t>(x * y);
    const Filled filled =
        TestedInpaint(execution(), size).run(broken, mask_of(size, {12, 8, 14, 12}), with(7));
    EXPECT_TRUE(same(filled.frame, frame)) << format;
    EXPECT_EQ(filled.report.removed, 14 * 12);
  }
}

TEST_P(Inpaint, holes_at_borders_and_two_holes_equal_the_definition) {
  const Size size{44, 36};
  const HostFrame frame = textured("RGB", size, 80);
  TestedInpaint inpaint(execution(), size);
  std::vector<Picture> masks(4, no_mask(size));
  remove(&masks[0], {0, 0, 9, 8});                                        // a corner
  remove(&masks[1], {38, 10, 6, 11}), remove(&masks[1], {5, 30, 10, 6});  // two borders
  remove(&masks[2], {8, 8, 7, 6}), remove(&masks[2], {24, 18, 6, 8});     // two apart
  remove(&masks[3], {0, 14, 44, 5});                                      // from side to side
  for (const Picture &mask : masks)
    EXPECT_TRUE(same(inpaint.run(frame, mask, with(7)), definition(frame, mask, with(7))));
}

TEST_P(Inpaint, empty_mask_changes_no_byte) {
  const Size size{31, 22};
  for (const auto &format : pixel_formats()) {
    const HostFrame frame(format, size, 9);
    const Filled filled = TestedInpaint(execution(), size).run(frame, no_mask(size), with(9));
    EXPECT_TRUE(same(filled.frame, frame)) << format;
    EXPECT_EQ(filled.report, InpaintReport{});
  }
}

TEST_P(Inpaint, frame_without_a_source_patch_is_refused_and_unchanged) {
  const Size size{31, 22};
  const HostFrame frame(format_of("NV12"), size, 9);
  TestedInpaint inpaint(execution(), size);
  for (const Region hole : {Region{0, 0, 31, 22}, Region{4, 4, 22, 15}}) {
    const Filled filled = inpaint.run(frame, mask_of(size, hole), with(9));
    EXPECT_TRUE(filled.report.refused);
    EXPECT_GT(filled.report.removed, 0);
    EXPECT_EQ(filled.report.patches, 0);
    EXPECT_TRUE(same(filled.frame, frame));
  }
  // Alpha stays unchanged, too.
  const HostFrame transparent(format_of("BGRA"), size, 10);
  EXPECT_TRUE(
      same(inpaint.run(transparent, mask_of(size, {4, 4, 22, 15}), with(9), {}, true).frame, transparent));
  // The instance still works.
  const Picture mask = mask_of(size, {12, 8, 5, 5});
  EXPECT_TRUE(same(inpaint.run(frame, mask, with(9)), definition(frame, mask, with(9))));
  // The frame is smaller than a patch.
  const HostFrame small(format_of("RGB"), {8, 40}, 2);
  EXPECT_TRUE(TestedInpaint(execution(), small.size)
                  .run(small, mask_of(small.size, {2, 2, 2, 2}), with(9))
                  .report.refused);
}

TEST_P(Inpaint, filled_pixels_are_copies_of_pixels_outside_of_the_hole) {
  const Size size{50, 42};
  const Region hole{18, 14, 13, 12};
  for (const char *format : {"GRAY8", "RGB", "BGRA", "Y444"}) {
    const HostFrame frame = textured(format, size, 90);
    const Picture mask = mask_of(size, hole);
    const HostFrame filled = TestedInpaint(execution(), size).run(frame, mask, with(9)).frame;
    std::set<std::tuple<int, int, int>> rest;
    const auto pixel = [](const HostFrame &f, int x, int y) {
      return std::tuple{f.at(0, x, y), f.component_count() > 1 ? f.at(1, x, y) : 0,
                        f.component_count() > 1 ? f.at(2, x, y) : 0};
    };
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        if (mask.at(x, y) == 0) rest.insert(pixel(frame, x, y));
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        if (mask.at(x, y) == 0)
          EXPECT_EQ(pixel(filled, x, y), pixel(frame, x, y));
        else
          EXPECT_TRUE(rest.contains(pixel(filled, x, y))) << format << " " << x << " " << y;
      }
  }
}

TEST_P(Inpaint, filled_pixels_become_opaque_if_alpha_is_given) {
  const Size size{30, 26};
  const Picture mask = mask_of(size, {10, 9, 8, 7});
  for (const char *format : {"RGBA", "BGRA"}) {
    const HostFrame frame = textured(format, size, 95);
    Filled expected = definition(frame, mask, with(5));
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        if (mask.at(x, y) != 0) expected.frame.planes[0].at(4 * x + 3, y) = 255;
    EXPECT_TRUE(same(TestedInpaint(execution(), size).run(frame, mask, with(5), {}, true), expected))
        << format;
  }
}

TEST_P(Inpaint, results_do_not_depend_on_earlier_frames) {
  const Size size{46, 38};
  const HostFrame a = textured("RGB", size, 100), b = textured("RGB", size, 110);
  const Picture mask_a = mask_of(size, {10, 10, 12, 9}), mask_b = mask_of(size, {20, 4, 9, 14});
  TestedInpaint inpaint(execution(), size);
  const Filled first = inpaint.run(a, mask_a, with(9));
  EXPECT_TRUE(same(inpaint.run(b, mask_b, with(5, 9, true, 6)), definition(b, mask_b, with(5, 9, true, 6))));
  EXPECT_TRUE(same(inpaint.run(a, mask_a, with(9)), first));
  EXPECT_TRUE(same(TestedInpaint(execution(), size).run(a, mask_a, with(9)), first));
}

// --- limits ---

TEST_P(Inpaint, wrong_arguments_are_refused) {
  std::unique_ptr<cudavision::Inpaint> inpaint;
  for (const Size size : {Size{0, 5}, Size{5, 0}, Size{16385, 5}})
    EXPECT_TRUE(refused(make_inpaint(execution(), size, &inpaint)));
  const Size size{30, 20};
  ASSERT_TRUE(succeeds(make_inpaint(execution(), size, &inpaint)));
  const TestFrame frame(execution(), HostFrame(format_of("RGB"), size, 1), kAligned);
  const TestImage<std::uint8_t> mask(execution(), no_mask(size), kAligned);
  InpaintReport report;
  const auto run = [&](InpaintParams params, Size mask_size = {30, 20}) {
    cudavision::InpaintFrame job{frame.frame(), {}, mask.view(), {}};
    job.mask.width = mask_size.width, job.mask.height = mask_size.height;
    return inpaint->run(job, params, &report, {}, {});
  };
  for (const int patch : {-1, 0, 1, 2, 4, 8, 16, 17, std::numeric_limits<int>::max()}) {
    EXPECT_TRUE(refused(run(with(patch)))) << patch;
    EXPECT_NE(validate(with(patch)).text().find("patch-size"), std::string::npos);
  }
  EXPECT_TRUE(refused(run(with(9, -1))));
  EXPECT_TRUE(refused(run(with(9, 0, false, -1))));
  InpaintParams params;
  params.history = -1;
  EXPECT_TRUE(refused(run(params)));
  for (const int frames : {0, 65536}) {
    params = {}, params.learn_frames = frames;
    EXPECT_NE(validate(params).text().find("learn-frames"), std::string::npos) << frames;
  }
  EXPECT_TRUE(refused(run(with(9), {29, 20})));
  EXPECT_TRUE(refused(run(with(9), {30, 19})));
  for (const int patch : {3, 15}) EXPECT_TRUE(succeeds(run(with(patch, std::numeric_limits<int>::max()))));
  finish(execution());
}

TEST_P(Inpaint, progress_is_reported_after_each_patch) {
  if (execution().backend == cudavision::Backend::cuda) GTEST_SKIP() << "CUDA reports no progress";
  const Size size{40, 33};
  const HostFrame pixels = textured("RGB", size, 120);
  const Picture mask = mask_of(size, {14, 11, 10, 9});
  std::unique_ptr<cudavision::Inpaint> inpaint;
  ASSERT_TRUE(succeeds(make_inpaint(execution(), size, &inpaint)));
  const TestFrame frame(execution(), pixels, kAligned);
  const TestImage<std::uint8_t> masked(execution(), mask, kAligned);
  std::vector<int> reported;
  InpaintReport report;
  ASSERT_TRUE(succeeds(inpaint->run({frame.frame(), {}, masked.view(), {}}, with(5), &report, {},
                                    [&](int filled, int removed) {
                                      EXPECT_EQ(removed, 90);
                                      reported.push_back(filled);
                                      return true;
                                    })));
  EXPECT_EQ(static_cast<int>(reported.size()), report.patches);
  EXPECT_TRUE(std::is_sorted(reported.begin(), reported.end()));
  EXPECT_EQ(reported.back(), 90);
}

// A fill that is stopped changes nothing, and the next one gives the right result.
TEST_P(Inpaint, stopped_fill_changes_no_byte) {
  if (execution().backend == cudavision::Backend::cuda) GTEST_SKIP() << "CUDA reports no progress";
  const Size size{40, 33};
  const HostFrame pixels = textured("NV12", size, 122);
  const Picture mask = mask_of(size, {14, 11, 10, 10});
  for (const int patches : {1, 3}) {
    const TestFrame frame(execution(), pixels, kAligned);
    const TestImage<std::uint8_t> masked(execution(), mask, kAligned);
    TestedInpaint inpaint(execution(), size);
    InpaintReport report;
    int reported = 0;
    ASSERT_TRUE(
        succeeds(inpaint.algorithm().run({frame.frame(), {}, masked.view(), {}}, with(5, 0, false, 10),
                                         &report, {}, [&](int, int) { return ++reported < patches; })));
    EXPECT_TRUE(report.stopped);
    EXPECT_EQ(report.patches, patches);
    EXPECT_EQ(reported, patches);
    EXPECT_EQ(report.diffused, 0);
    EXPECT_TRUE(same(frame.download(), pixels));
    EXPECT_TRUE(same(inpaint.run(pixels, mask, with(5)), definition(pixels, mask, with(5))));
  }
}

// A kernel reads the flag before each patch, so that a request during a fill ends it after at most one patch.
TEST_P(Inpaint, request_to_stop_changes_no_byte_and_the_next_fill_is_right) {
  if (execution().backend == cudavision::Backend::cpu) GTEST_SKIP() << "on the CPU, Workers stop the fill";
  constexpr Size kWide = {260, 180};
  const HostFrame pixels = textured("NV12", {40, 33}, 122), wide = textured("RGB", kWide, 70);
  Picture mask = mask_of({40, 33}, {14, 11, 10, 10}), far_apart = no_mask(kWide);
  remove(&far_apart, {3, 3, 5, 5}),
      remove(&far_apart, {kWide.width - 9, kWide.height - 8, 5, 5});  // the state lies in global memory
  for (const auto &[picture, hole] : {std::pair{&pixels, &mask}, {&wide, &far_apart}}) {
    cudavision::StopFlag stop;
    cudavision::Execution stoppable = execution();
    stoppable.stop = &stop;
    TestedInpaint inpaint(stoppable, picture->size);
    stop.request(cudavision::StopReason::flush);
    const Filled stopped = inpaint.run(*picture, *hole, with(5, 0, false, 10));
    EXPECT_TRUE(stopped.report.stopped);
    EXPECT_EQ(stopped.report.patches, 0);
    EXPECT_EQ(stopped.report.diffused, 0);
    EXPECT_TRUE(same(stopped.frame, *picture));
    stop.withdraw(cudavision::StopReason::flush);
    EXPECT_TRUE(same(inpaint.run(*picture, *hole, with(5)), definition(*picture, *hole, with(5))));
  }
}

TEST_P(Inpaint, request_to_stop_ends_a_fill_that_runs) {
  if (kEmulated || execution().backend == cudavision::Backend::cpu)
    GTEST_SKIP() << "only a card fills while the test goes on";
  const Size size{1920, 1080};
  const Picture mask = mask_of(size, {300, 200, 900, 600});  // takes seconds
  const TestFrame frame(execution(), textured("RGB", size, 76), kAligned);
  const TestImage<std::uint8_t> masked(execution(), mask, kAligned);
  cudavision::StopFlag stop;
  cudavision::Execution stoppable = execution();
  stoppable.stop = &stop;
  std::unique_ptr<cudavision::Inpaint> inpaint;
  ASSERT_TRUE(succeeds(make_inpaint(stoppable, size, &inpaint)));
  InpaintReport report;
  for (int milliseconds = 0; report.patches == 0; milliseconds = 2 * milliseconds + 10) {
    ASSERT_LT(milliseconds, 20000) << "no patch was put before any request";
    std::chrono::steady_clock::time_point requested;
    std::thread asks([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      requested = std::chrono::steady_clock::now();
      stop.request(cudavision::StopReason::stop);
    });
    const cudavision::Status status =
        inpaint->run({frame.frame(), {}, masked.view(), {}}, with(9), &report, {}, {});
    finish(execution());
    const auto ended = std::chrono::steady_clock::now();
    asks.join();
    ASSERT_TRUE(succeeds(status));
    ASSERT_TRUE(report.stopped);
    std::printf("stopped after %d patches, %.1f ms behind the request\n", report.patches,
                std::chrono::duration<double, std::milli>(ended - requested).count());
    stop.withdraw(cudavision::StopReason::stop);
  }
}

// Cooperative launches fail as where a process is given a part of the card: the fill takes fewer blocks until they fit,
// and keeps to that number.
TEST_P(Inpaint, fill_takes_as_many_blocks_as_fit) {
  CUDAVISION_NEEDS_EMULATION();
  if (execution().backend == cudavision::Backend::cpu) GTEST_SKIP() << "launches are CUDA's";
  const HostFrame pixels = textured("RGB", {40, 33}, 122);
  const Picture mask = mask_of({40, 33}, {14, 11, 10, 10});
  const Filled expected = definition(pixels, mask, with(5));
  TestedInpaint inpaint(execution(), {40, 33});
  for (int i = 0; i < 2; ++i) {  // the emulated card has few multiprocessors
    simt::fail_after(simt::Call::launch, 2, cudaErrorCooperativeLaunchTooLarge);
    EXPECT_TRUE(same(inpaint.run(pixels, mask, with(5)), expected));
    EXPECT_EQ(simt::take_report(), simt::Report());
  }
}

TEST_P(Inpaint, out_of_memory_during_a_fill_is_reported) {
  if (execution().backend == cudavision::Backend::cuda)
    GTEST_SKIP() << "CUDA allocates nothing during a fill";
  const Size size{40, 33};
  const HostFrame pixels = textured("RGB", size, 124);
  const Picture mask = mask_of(size, {14, 11, 10, 9});
  const TestFrame frame(execution(), pixels, kAligned);
  const TestImage<std::uint8_t> masked(execution(), mask, kAligned);
  TestedInpaint inpaint(execution(), size);
  InpaintReport report;
  const cudavision::Status status =
      inpaint.algorithm().run({frame.frame(), {}, masked.view(), {}}, with(5), &report, {},
                              [](int, int) -> bool { throw std::bad_alloc(); });
  EXPECT_EQ(status.code(), cudavision::Status::Code::out_of_memory) << status.text();
  EXPECT_TRUE(same(frame.download(), pixels));
  EXPECT_TRUE(same(inpaint.run(pixels, mask, with(5)), definition(pixels, mask, with(5))));
}

TEST_P(Inpaint, failed_launch_is_reported_and_the_next_frame_is_right) {
  CUDAVISION_NEEDS_EMULATION();
  const Size size{40, 33};
  const HostFrame pixels = textured("RGB", size, 123);
  const Picture mask = mask_of(size, {14, 11, 10, 9});
  InpaintParams params = with(5, 0, false, 4);
  for (const bool temporal : {false, true}) {
    params.temporal = temporal;
    const unsigned launches = temporal ? 5 : 4;
    const Filled expected = definition(pixels, mask, params);
    TestedInpaint inpaint(execution(), size);
    for (unsigned successes = 0; successes < launches; ++successes) {
      SCOPED_TRACE(::testing::Message() << temporal << " " << successes);
      inpaint.algorithm().drop_history();
      EXPECT_TRUE(same(inpaint.run(pixels, mask, params), expected));
      const TestFrame frame(execution(), pixels, kAligned);
      const TestImage<std::uint8_t> masked(execution(), mask, kAligned);
      InpaintReport report;
      simt::fail_after(simt::Call::launch, successes, cudaErrorLaunchFailure);
      const cudavision::Status status =
          inpaint.algorithm().run({frame.frame(), {}, masked.view(), {}}, params, &report, {}, {});
      finish(execution());
      EXPECT_EQ(status.code(), cudavision::Status::Code::device_failed);
      EXPECT_NE(status.text().find("kernel"), std::string::npos) << status.text();
      EXPECT_TRUE(same(inpaint.run(pixels, mask, params), expected));
      EXPECT_TRUE(same(inpaint.run(pixels, no_mask(size), params).frame, pixels));
    }
  }
}

TEST_P(Inpaint, failed_device_queries_are_reported) {
  CUDAVISION_NEEDS_EMULATION();
  std::unique_ptr<cudavision::Inpaint> inpaint;
  unsigned failures = 0;
  for (bool made = false; !made; ++failures) {
    ASSERT_LT(failures, 20u);
    simt::fail_after(simt::Call::query, failures, cudaErrorUnknown);
    const cudavision::Status status = make_inpaint(execution(), {30, 20}, &inpaint);
    made = status.ok();
    EXPECT_TRUE(made || status.code() == cudavision::Status::Code::device_failed) << status.text();
  }
  EXPECT_GE(failures, 6u)
      << "the device, its multiprocessors, shared memory twice, cooperative launches, occupancy";
  simt::reset();
}

TEST_P(Inpaint, two_instances_work_side_by_side) {
  const Size size{40, 33};
  const HostFrame a = textured("RGB", size, 120), b = textured("I420", size, 121);
  const Picture mask = mask_of(size, {14, 11, 10, 9});
  const ExecutionOwner other(GetParam());
  Filled in_b{b, {}, {}};
  TestedInpaint inpaint_a(execution(), size);
  std::thread thread([&] { in_b = TestedInpaint(other.execution(), size).run(b, mask, with(7)); });
  const Filled in_a = inpaint_a.run(a, mask, with(9));
  thread.join();
  EXPECT_TRUE(same(in_a, definition(a, mask, with(9))));
  EXPECT_TRUE(same(in_b, definition(b, mask, with(7))));
}

}  // namespace
