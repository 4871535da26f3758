// SPDX-License-Identifier: LGPL-2.1-or-later
// Temporal inpainting for a still camera on every backend: the background is restored exactly, under noise
// and after changes of light.
#include <algorithm>
#include <cmath>

#include "cuda/inpaint/background_rules.h"
#include "tests/kernels/inpaint_definition.h"

namespace {

using namespace cudavision::test;
using cudavision::InpaintParams;
using cudavision::InpaintReport;
using cudavision::Region;
using cudavision::Size;

class InpaintTemporal : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(InpaintTemporal);

InpaintParams temporal(int history = 0, int patch_size = 7) {
  InpaintParams params;
  params.patch_size = patch_size, params.temporal = true, params.history = history;
  return params;
}

constexpr Size kSize{64, 48};

// The background with an object of noise in front of it.
HostFrame with_object(const HostFrame &background, Region object, unsigned seed) {
  HostFrame frame = background;
  Random random(seed);
  for (int y = object.y; y < object.y + object.height; ++y)
    for (int x = object.x; x < object.x + object.width; ++x)
      for (int c = 0; c < frame.component_count(); ++c) frame.sample(c, x, y) = random.byte();
  return frame;
}

Region object_at(int i) { return {4 + 6 * i, 16, 12, 14}; }

// The frame with `change` applied to every component of every pixel.
template <typename Change>
HostFrame changed(const HostFrame &frame, const Change &change) {
  HostFrame result = frame;
  for (auto &plane : result.planes)
    for (auto &sample : plane.pixels())
      sample = static_cast<std::uint8_t>(std::clamp(change(int{sample}), 0, 255));
  return result;
}

// The largest difference of a component in the mask.
int largest_error(const HostFrame &a, const HostFrame &b, const Picture &mask) {
  int largest = 0;
  for (int y = 0; y < a.size.height; ++y)
    for (int x = 0; x < a.size.width; ++x)
      if (mask.at(x, y) != 0)
        for (int c = 0; c < a.component_count(); ++c)
          largest = std::max(largest, std::abs(a.at(c, x, y) - b.at(c, x, y)));
  return largest;
}
double mean_error(const HostFrame &a, const HostFrame &b, const Picture &mask) {
  double sum = 0;
  int count = 0;
  for (int y = 0; y < a.size.height; ++y)
    for (int x = 0; x < a.size.width; ++x)
      if (mask.at(x, y) != 0)
        for (int c = 0; c < a.component_count(); ++c) sum += a.at(c, x, y) - b.at(c, x, y), ++count;
  return sum / count;
}

TEST_P(InpaintTemporal, background_that_was_seen_comes_back_exactly) {
  for (const char *format : {"RGB", "NV12", "GRAY8", "YUY2"}) {
    SCOPED_TRACE(format);
    const HostFrame background = textured(format, kSize, 1);
    TestedInpaint inpaint(execution(), kSize);
    // Nothing is known of the background yet, so the first frame is filled like a single one.
    const Region first = object_at(0);
    const HostFrame frame = with_object(background, first, 50);
    EXPECT_TRUE(same(inpaint.run(frame, mask_of(kSize, first), temporal()),
                     definition(frame, mask_of(kSize, first), temporal())));
    for (int i = 3; i < 7; ++i) {
      const Region object = object_at(i);
      const Picture mask = mask_of(kSize, object);
      const Filled filled =
          inpaint.run(with_object(background, object, 50 + static_cast<unsigned>(i)), mask, temporal());
      EXPECT_TRUE(same(filled.frame, background));
      EXPECT_EQ(filled.report, (InpaintReport{.removed = 12 * 14, .remembered = 12 * 14}));
    }
  }
}

// An object that is not removed passes in front of the background, such as a person whom the detector has missed.
TEST_P(InpaintTemporal, what_passes_is_not_learned) {
  for (const char *format : {"RGB", "NV12", "GRAY8"}) {
    SCOPED_TRACE(format);
    const HostFrame background = textured(format, kSize, 21);
    TestedInpaint inpaint(execution(), kSize);
    const Region object = object_at(3);
    HostFrame missed = background;  // in the object it differs from the background by 128
    for (int y = object.y; y < object.y + object.height; ++y)
      for (int x = object.x; x < object.x + object.width; ++x)
        missed.sample(0, x, y) = static_cast<std::uint8_t>(background.at(0, x, y) ^ 128);
    for (int i = 0; i < 4; ++i) inpaint.run(background, no_mask(kSize), temporal());
    for (int i = 0; i < 4; ++i) inpaint.run(missed, no_mask(kSize), temporal());
    EXPECT_TRUE(
        same(inpaint.run(with_object(background, object, 141), mask_of(kSize, object), temporal()).frame,
             background));
  }
}

// The object stands still from the first frame on, or after `before` frames of the background. It becomes background in
// the frame in which it has been shown more often than the background, or learn_frames times.
TEST_P(InpaintTemporal, what_stands_still_is_learned_late) {
  const HostFrame background = changed(textured("GRAY8", kSize, 22), [](int v) { return v / 3; });
  const Region object = object_at(3);
  HostFrame standing = background;
  for (int y = object.y; y < object.y + object.height; ++y)
    for (int x = object.x; x < object.x + object.width; ++x) standing.sample(0, x, y) = 200;
  for (const int learn_frames : {1, 2, 5, 100})
    for (const int before : {1, 3, 6}) {
      SCOPED_TRACE(std::to_string(learn_frames) + " " + std::to_string(before));
      InpaintParams params = temporal();
      params.learn_frames = learn_frames;
      const int needed = std::min(before + 1, learn_frames);
      for (int stands = 1; stands <= 8; ++stands) {
        TestedInpaint inpaint(execution(), kSize);
        for (int i = 0; i < before; ++i) inpaint.run(background, no_mask(kSize), params);
        for (int i = 0; i < stands; ++i) inpaint.run(standing, no_mask(kSize), params);
        const Filled filled =
            inpaint.run(with_object(background, object, 150), mask_of(kSize, object), params);
        EXPECT_TRUE(same(filled.frame, stands >= needed ? standing : background)) << stands;
      }
    }
}

// A pixel that differs from the background by kAlike levels still counts as background; with one more it does not.
TEST_P(InpaintTemporal, difference_from_which_on_something_is_new) {
  const HostFrame background = changed(textured("GRAY8", kSize, 23), [](int v) { return v / 4; });
  const Region object = object_at(3);
  for (const int more : {cudavision::inpaint::kAlike, cudavision::inpaint::kAlike + 1}) {
    HostFrame other = background;
    for (int y = object.y; y < object.y + object.height; ++y)
      for (int x = object.x; x < object.x + object.width; ++x)
        other.sample(0, x, y) = static_cast<std::uint8_t>(background.at(0, x, y) + more);
    TestedInpaint inpaint(execution(), kSize);
    for (int i = 0; i < 2; ++i) inpaint.run(background, no_mask(kSize), temporal());
    inpaint.run(other, no_mask(kSize), temporal());
    const Filled filled =
        inpaint.run(with_object(background, object, 160), mask_of(kSize, object), temporal());
    // If the pixels count as background, three frames have shown them, and the mean moves by a third of the difference.
    const int follows = more > cudavision::inpaint::kAlike ? 0 : (2 * more + 3) / 6;
    for (int y = object.y; y < object.y + object.height; ++y)
      for (int x = object.x; x < object.x + object.width; ++x)
        ASSERT_EQ(filled.frame.at(0, x, y), background.at(0, x, y) + follows) << more;
  }
}

// The camera moves: the first frame of the new scene differs, and the next one forgets the old background.
TEST_P(InpaintTemporal, background_is_forgotten_when_most_pixels_differ) {
  const HostFrame before = textured("RGB", kSize, 24), after = textured("RGB", kSize, 25);
  TestedInpaint inpaint(execution(), kSize);
  const Region object = object_at(3);
  const Picture mask = mask_of(kSize, object);
  for (int i = 0; i < 6; ++i) inpaint.run(before, no_mask(kSize), temporal());
  EXPECT_EQ(inpaint.run(after, mask, temporal()).report.remembered, 12 * 14);
  EXPECT_EQ(inpaint.run(after, mask, temporal()).report.remembered, 0);
  inpaint.run(after, no_mask(kSize), temporal());
  EXPECT_TRUE(same(inpaint.run(with_object(after, object, 170), mask, temporal()).frame, after));
}

// Half of the hole was seen before: it is restored, and the rest is filled from the restored frame.
TEST_P(InpaintTemporal, unknown_pixels_are_filled_from_the_restored_frame) {
  const HostFrame background = textured("RGB", kSize, 2);
  TestedInpaint inpaint(execution(), kSize);
  const Region a = object_at(2), b = object_at(3);  // they overlap by half
  inpaint.run(with_object(background, a, 60), mask_of(kSize, a), temporal());
  const HostFrame frame = with_object(background, b, 61);
  Picture never = mask_of(kSize, b);
  remove(&never, {a.x + a.width, b.y, b.width, b.height}, 0);
  HostFrame known = frame;
  for (int y = 0; y < kSize.height; ++y)
    for (int x = 0; x < kSize.width; ++x)
      if (never.at(x, y) == 0)
        for (int c = 0; c < 3; ++c) known.sample(c, x, y) = static_cast<std::uint8_t>(background.at(c, x, y));
  Filled expected = definition(known, never, temporal());
  expected.report.removed = 12 * 14;
  expected.report.remembered = 6 * 14;
  EXPECT_TRUE(same(inpaint.run(frame, mask_of(kSize, b), temporal()), expected));
}

TEST_P(InpaintTemporal, background_is_forgotten_after_history_frames) {
  const HostFrame background = textured("GRAY8", kSize, 3);
  const Region object = object_at(3);
  const Picture mask = mask_of(kSize, object), none = no_mask(kSize);
  for (const int history : {0, 1, 3}) {
    TestedInpaint inpaint(execution(), kSize);
    inpaint.run(background, none, temporal(history));
    for (int later = 1; later <= 5; ++later) {
      const HostFrame frame = with_object(background, object, 70);
      const int remembered = inpaint.run(frame, mask, temporal(history)).report.remembered;
      EXPECT_EQ(remembered, history == 0 || later <= history ? 12 * 14 : 0) << history << " " << later;
    }
  }
}

TEST_P(InpaintTemporal, drop_history_forgets_the_background) {
  const HostFrame background = textured("I420", kSize, 4);
  const Region object = object_at(3);
  const Picture mask = mask_of(kSize, object);
  TestedInpaint inpaint(execution(), kSize);
  const HostFrame frame = with_object(background, object, 80);
  inpaint.algorithm().drop_history();
  inpaint.run(background, no_mask(kSize), temporal());
  EXPECT_EQ(inpaint.run(frame, mask, temporal()).report.remembered, 12 * 14);
  inpaint.algorithm().drop_history();
  EXPECT_TRUE(same(inpaint.run(frame, mask, temporal()), definition(frame, mask, temporal())));
  // Without params.temporal, no background is learned.
  InpaintParams alone = temporal();
  alone.temporal = false;
  TestedInpaint other(execution(), kSize);
  other.run(background, no_mask(kSize), alone);
  EXPECT_EQ(other.run(frame, mask, temporal()).report.remembered, 0);
}

// The remembered pixels are restored only if all of the hole can be filled.
TEST_P(InpaintTemporal, frame_without_a_source_patch_stays_even_if_some_pixels_are_remembered) {
  const HostFrame background = textured("RGB", kSize, 12);
  TestedInpaint inpaint(execution(), kSize);
  const Region seen{20, 10, 6, 6}, all{0, 0, kSize.width, kSize.height};
  Picture mask = mask_of(kSize, all);
  remove(&mask, seen, 0);
  EXPECT_TRUE(inpaint.run(background, mask, temporal()).report.refused);
  const HostFrame frame = with_object(background, all, 13);
  const Filled filled = inpaint.run(frame, mask_of(kSize, all), temporal());
  EXPECT_TRUE(same(filled.frame, frame));
  EXPECT_EQ(filled.report, (InpaintReport{.removed = 64 * 48, .refused = true}));
}

int step_of_light(int v) { return v + 23; }
int more_light(int v) { return v * 5 / 4; }
int less_light(int v) { return v * 3 / 4; }

// A background with components from 60 to 187, so that changes of light do not clip it.
HostFrame mild(const char *format, unsigned seed) {
  return changed(textured(format, kSize, seed), [](int v) { return 60 + v / 2; });
}

// Approximately normal noise with a standard deviation of 3.
int noise_of_sensor(Random *random) {
  int sum = 0;
  for (int i = 0; i < 12; ++i) sum += random->below(101) - 50;
  return static_cast<int>(std::lround(sum / 33.0));
}

TEST_P(InpaintTemporal, step_of_light_is_followed) {
  for (const auto light : {step_of_light, more_light, less_light}) {
    const HostFrame background = mild("RGB", 5), lit = changed(background, light);
    TestedInpaint inpaint(execution(), kSize);
    const Region a = object_at(0), b = object_at(4);
    inpaint.run(with_object(background, a, 90), mask_of(kSize, a), temporal());
    // Between the first frame and these the object moves and the light changes; then both stay as they are.
    for (int i = 0; i < 3; ++i) {
      const Filled filled = inpaint.run(with_object(lit, b, 91), mask_of(kSize, b), temporal());
      EXPECT_EQ(filled.report.remembered, 12 * 14);
      // An offset is estimated exactly. A factor has errors of the interpolation between brightness bins and
      // of rounding.
      EXPECT_LE(largest_error(filled.frame, lit, mask_of(kSize, b)), light == step_of_light ? 0 : 3);
    }
  }
}

// The light changes by a fifth of a level per frame, while part of the background stays behind the object.
TEST_P(InpaintTemporal, slow_change_of_light_is_followed) {
  const HostFrame background = mild("GRAY8", 6);
  const Picture mask = mask_of(kSize, object_at(3));
  TestedInpaint inpaint(execution(), kSize);
  inpaint.run(background, no_mask(kSize), temporal());
  Random random(3);
  for (int i = 1; i <= 50; ++i) {
    // Changes of less than one level are visible only because of noise of that size (dithering).
    const HostFrame lit = changed(background, [&](int v) { return v + (2 * i + random.below(10)) / 10; });
    const Filled filled = inpaint.run(with_object(lit, object_at(3), 95), mask, temporal());
    EXPECT_NEAR(
        mean_error(filled.frame, changed(background, [&](int v) { return v + (2 * i + 5) / 10; }), mask), 0,
        1.2)
        << i;
  }
}

TEST_P(InpaintTemporal, sensor_noise_does_not_accumulate) {
  const HostFrame background = mild("RGB", 7);
  Random random(5);
  const auto noisy = [&](int v) { return v + noise_of_sensor(&random); };
  TestedInpaint inpaint(execution(), kSize);
  const Picture mask = mask_of(kSize, object_at(4));
  inpaint.run(changed(background, noisy), no_mask(kSize), temporal());
  for (int i = 0; i < (kEmulated ? 8 : 60); ++i) {
    const Filled filled =
        inpaint.run(with_object(changed(background, noisy), object_at(4), 99), mask, temporal());
    // The background has the noise of one frame, at most 12 * 50 / 33 levels. Following the light adds almost nothing.
    EXPECT_LE(largest_error(filled.frame, background, mask), 19) << i;
    EXPECT_NEAR(mean_error(filled.frame, background, mask), 0, 1) << i;
  }
}

// The change of light (LightLine) is estimated although the noise of both frames hides it at each single pixel.
TEST_P(InpaintTemporal, step_of_light_is_followed_under_noise) {
  for (const auto light : {step_of_light, more_light, less_light}) {
    const HostFrame background = mild("RGB", 14), lit = changed(background, light);
    Random random(15);
    const auto noisy = [&](int v) { return v + noise_of_sensor(&random); };
    TestedInpaint inpaint(execution(), kSize);
    const Picture mask = mask_of(kSize, object_at(4));
    inpaint.run(changed(background, noisy), no_mask(kSize), temporal());
    for (int i = 0; i < 4; ++i) {
      const Filled filled =
          inpaint.run(with_object(changed(lit, noisy), object_at(4), 130), mask, temporal());
      EXPECT_EQ(filled.report.remembered, 12 * 14);
      // At most 18 levels of noise in the first frame, times 5/4 for the light, plus the 3 levels of the test
      // without noise.
      EXPECT_LE(largest_error(filled.frame, lit, mask), 27) << i;
      EXPECT_NEAR(mean_error(filled.frame, lit, mask), 0, 1.5) << i;
    }
  }
}

// If the light changes by a factor alone, now = factor * before, the change over the mean of before and now
// is a line through 0.
TEST(InpaintLight, lines_are_followed_exactly) {
  using namespace cudavision::inpaint;
  for (const double factor : {1 / 3.0, 0.5, 0.8, 1.0, 1.25, 2.0, 3.0})
    for (const int base : {0, -2000, 3100}) {
      const LightLine line{base, static_cast<int>(std::lround(65536 * 2 * (factor - 1) / (factor + 1)))};
      for (int before = 0; before <= 255 * 256; before += 97) {
        const int now = in_this_light(line, before);
        const double slope = line.slope / 65536.0, change = (base + slope * before) / (1 - slope / 2);
        ASSERT_NEAR(now, std::clamp(before + change, 0.0, 255.0 * 256), 0.51) << factor << " " << before;
        if (base == 0) {
          ASSERT_NEAR(now, std::min(factor * before, 255.0 * 256), 2) << factor << " " << before;
        }
      }
    }
}

TEST(InpaintLight, slopes_are_bounded) {
  using namespace cudavision::inpaint;
  for (const int sign : {-1, 1}) {
    // Two brightness bins, 32 levels apart, whose changes are 100 levels apart.
    BinChange bins[kBrightnessBins] = {};
    bins[2] = {1000, 1000, 80 * 256, -sign * 50 * 256}, bins[3] = {1000, 1000, 112 * 256, sign * 50 * 256};
    const LightLine line = line_through(bins);
    EXPECT_EQ(line.slope, sign * kMaxSlope);
    for (const int before : {0, 100 * 256, 255 * 256}) {
      EXPECT_GE(in_this_light(line, before), 0);
      EXPECT_LE(in_this_light(line, before), 255 * 256);
    }
  }
}

// A second object, which is not removed, moves through the frame.
TEST_P(InpaintTemporal, other_motion_does_not_count_as_light) {
  const HostFrame background = textured("RGB", kSize, 8);
  TestedInpaint inpaint(execution(), kSize);
  const Picture mask = mask_of(kSize, object_at(6));
  inpaint.run(background, no_mask(kSize), temporal());
  for (int i = 0; i < 5; ++i) {
    HostFrame frame = with_object(background, object_at(6), 110);
    for (int y = 34; y < 46; ++y)
      for (int x = 5 * i; x < 5 * i + 10; ++x)
        for (int c = 0; c < 3; ++c) frame.sample(c, x, y) = 255;
    EXPECT_LE(largest_error(inpaint.run(frame, mask, temporal()).frame, background, mask), 1);
  }
}

TEST_P(InpaintTemporal, both_backends_agree_in_every_light) {
  // Both backends share the arithmetic of background_rules.h. This test compares the rest with the CPU backend.
  const HostFrame background = textured("UYVY", kSize, 9);
  const ExecutionOwner host({"cpu", cudavision::Backend::cpu, 1});
  TestedInpaint inpaint(execution(), kSize), reference(host.execution(), kSize);
  for (int i = 0; i < 5; ++i) {
    const HostFrame frame =
        with_object(changed(background, [&](int v) { return v + i * i; }), object_at(i), 120);
    Picture mask = mask_of(kSize, object_at(i));
    mask.at(63, 47) = 1;
    EXPECT_TRUE(same(inpaint.run(frame, mask, temporal(2)), reference.run(frame, mask, temporal(2)))) << i;
  }
}

}  // namespace
