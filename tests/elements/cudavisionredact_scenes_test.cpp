// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests cudavisionredact on random scenes: people with ids walk straight on, and a detector misses them, finds two as
// one, or swaps their ids. Whoever was found less than half a second ago must not be seen; with `look-back`, nor must
// anybody who is found within half a second.
#include <gst/cudavision/cudavision.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/elements/harness.h"
#include "tests/elements/track_harness.h"
#include "tests/support/emulated.h"

namespace {

using namespace cudavision::test;
using namespace cudavision;

constexpr Size kSize{400, 140};
constexpr int kFrames = 100, kFramesASecond = 25, kCarried = kFramesASecond / 2, kScenes = 10;

struct Walker {
  Box start;
  double speed;  // pixels a frame
  Box at(int frame) const { return {start.x + speed * frame, start.y, start.width, start.height}; }
};

struct Detector {
  double missed;           // the probability that a box is missed, for up to five frames each time
  double most_overlap;     // if two boxes overlap by more, one of them is left out
  bool merges = false;     // or both become one box around them
  bool swaps_ids = false;  // two boxes that overlap swap their ids in every fourth frame
  double in_clear = 0;     // the share of owed people who may be seen, because nobody can know better
};

bool is_in(const Box &box, int x, int y) {
  return x >= box.x && y >= box.y && x < box.x + box.width && y < box.y + box.height;
}
Box both(const Box &a, const Box &b) {
  const double x = std::min(a.x, b.x), y = std::min(a.y, b.y);
  return {x, y, std::max(a.x + a.width, b.x + b.width) - x, std::max(a.y + a.height, b.y + b.height) - y};
}
double overlap(const Box &a, const Box &b) {
  const double width = a.width + b.width - both(a, b).width, height = a.height + b.height - both(a, b).height;
  if (width <= 0 || height <= 0) return 0;
  return width * height / (a.width * a.height + b.width * b.height - width * height);
}

struct Found {
  Box box;
  std::size_t walker;
  guint64 id;
};

class Scene {
 public:
  Scene(unsigned seed, const Detector &detector, int people_in_a_row) : random_(seed), detector_(detector) {
    if (people_in_a_row == 0)  // in lanes, where nobody touches anybody
      for (const double y : {4., 50., 96.})
        walkers_.push_back({{20. + below(300), y, 24, 40}, below(9) - 4.});
    for (int i = 0; i < people_in_a_row; ++i)
      walkers_.push_back(
          {{20. + below(300), 20. + below(20), 30. + below(10), 70. + below(20)}, below(9) - 4.});
    frames_to_miss_.resize(walkers_.size());
  }

  const std::vector<Walker> &walkers() const { return walkers_; }
  std::vector<Found> look(int frame) {
    std::vector<Found> found;
    for (std::size_t w = 0; w < walkers_.size(); ++w)
      if (!misses(w)) found.push_back({trembling(walkers_[w].at(frame)), w, w + 1});
    for (std::size_t a = 0; a < found.size(); ++a)
      for (std::size_t b = a + 1; b < found.size(); ++b) {
        const double common = overlap(found[a].box, found[b].box);
        if (detector_.swaps_ids && common > 0 && happens(0.25)) std::swap(found[a].id, found[b].id);
        if (common <= detector_.most_overlap) continue;
        if (happens(0.5)) std::swap(found[a], found[b]);
        if (detector_.merges) found[a].box = both(found[a].box, found[b].box);
        found.erase(found.begin() + static_cast<std::ptrdiff_t>(b--));
      }
    return found;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool happens(double part) { return static_cast<double>(random_()) < part * 4294967296.; }
  bool misses(std::size_t walker) {
    if (frames_to_miss_[walker] > 0) return frames_to_miss_[walker]--;
    if (!happens(detector_.missed)) return false;
    frames_to_miss_[walker] = below(5);
    return true;
  }
  Box trembling(Box box) {
    for (double *side : {&box.x, &box.y, &box.width, &box.height}) *side += below(3) - 1;
    return box;
  }

  std::mt19937 random_;
  Detector detector_;
  std::vector<Walker> walkers_;
  std::vector<int> frames_to_miss_;
};

struct Counts {
  int owed = 0;      // people in frames that must hide them, although the detector has not found them there
  int in_clear = 0;  // those of them of whom a quarter or more of the uncovered part can be seen
  int hidden = 0;    // hidden pixels of all frames; only every fourth pixel of every fourth row is counted
  int people = 0;    // the pixels of people, counted in the same way
};

// Whether somebody who was found in these frames must be hidden in frame n, although not found in it. Frame n leaves
// when look_back more frames have come.
bool is_owed(const std::vector<int> &found, int n, int look_back) {
  const auto known = std::upper_bound(found.begin(), found.end(), n);
  if (known != found.begin() && known[-1] == n) return false;
  if (known != found.begin() && n - known[-1] <= kCarried) return true;
  return known != found.end() && *known - n <= std::min(look_back, kCarried);
}

// The part of the visible body that can be seen, or nothing if most of it is covered.
std::optional<double> part_seen(const VideoFrame &frame, const std::vector<Walker> &walkers,
                                std::size_t walker, int n) {
  const Box body = walkers[walker].at(n);
  int seen = 0, visible = 0;
  for (int y = static_cast<int>(body.y) + 4; y < body.y + body.height - 4; y += 2)
    for (int x = std::max(0, static_cast<int>(body.x) + 5);
         x < std::min<double>(kSize.width, body.x + body.width - 5); x += 2) {
      bool is_covered = false;
      for (std::size_t w = 0; w < walkers.size(); ++w)
        is_covered |= w != walker && is_in(walkers[w].at(n), x, y);
      if (!is_covered) ++visible, seen += frame.sample(0, x, y) == kBrightByte;
    }
  if (visible < 20) return {};
  return static_cast<double>(seen) / visible;
}

GstFlowReturn push(Harness *harness, Owned<GstBuffer> buffer, int n) {
  GST_BUFFER_PTS(buffer.get()) = static_cast<GstClockTime>(n) * GST_SECOND / kFramesASecond;
  EXPECT_TRUE(gst_cuda_vision_buffer_mark_analysed(buffer.get(), "person", 0, nullptr));
  return harness->push(std::move(buffer));
}

void play(Scene scene, int look_back, Counts *counts) {
  VideoFrame frame = bright("GRAY8", kSize);
  Harness harness("cudavisionredact look-back=" + std::to_string(look_back));
  gst_harness_set_src_caps(harness.get(), frame.caps().release());
  const std::vector<Walker> &walkers = scene.walkers();
  std::vector<std::vector<int>> found_in(walkers.size());
  for (int n = 0; n < kFrames; ++n) {
    Owned<GstBuffer> buffer = frame.buffer();
    for (const Found &found : scene.look(n)) {
      found_in[found.walker].push_back(n);
      gst_video_region_of_interest_meta_add_param(
          add_region(buffer.get(), found.box, "person"),
          tracking(found.box, found.id, {walkers[found.id - 1].speed * kFramesASecond, 0}));
    }
    EXPECT_EQ(push(&harness, std::move(buffer), n), GST_FLOW_OK);
  }
  for (int n = 0; n < kFrames - look_back; ++n) {
    const Owned<GstBuffer> out(gst_harness_try_pull(harness.get()));
    ASSERT_NE(out, nullptr);
    frame.bytes() = bytes_of(out.get());
    for (int y = 0; y < kSize.height; y += 4)
      for (int x = 0; x < kSize.width; x += 4) {
        counts->hidden += frame.sample(0, x, y) != kBrightByte;
        counts->people += std::any_of(walkers.begin(), walkers.end(),
                                      [&](const Walker &w) { return is_in(w.at(n), x, y); });
      }
    for (std::size_t w = 0; w < walkers.size(); ++w) {
      if (!is_owed(found_in[w], n, look_back)) continue;
      if (const std::optional<double> seen = part_seen(frame, walkers, w, n))
        ++counts->owed, counts->in_clear += *seen >= 0.25;
    }
  }
}

class CudaVisionRedactScenes : public ElementTest {
  void SetUp() override {
    if (kEmulated || backend() != "cpu")
      GTEST_SKIP() << "which boxes are hidden does not depend on the backend";
  }
};

TEST_F(CudaVisionRedactScenes, whoever_was_found_is_hidden) {
  if (kSanitized) GTEST_SKIP() << "takes a minute, and runs no line that other tests do not";
  const Detector detectors[] = {
      {.missed = 0.1, .most_overlap = 1},
      {.missed = 0.3, .most_overlap = 0.3},
      {.missed = 0.1, .most_overlap = 0.3, .swaps_ids = true, .in_clear = 0.04},
      {.missed = 0.1, .most_overlap = 0.5, .merges = true},
  };
  for (std::size_t d = 0; d < std::size(detectors); ++d)
    for (const int people_in_a_row : {0, 2, 4})
      for (const int look_back : {0, 15}) {
        Counts counts;
        for (unsigned seed = 0; seed < kScenes; ++seed)
          play(Scene(seed, detectors[d], people_in_a_row), look_back, &counts);
        SCOPED_TRACE(testing::Message() << "detector " << d << ", people in a row " << people_in_a_row
                                        << ", look-back " << look_back);
        EXPECT_GT(counts.owed, 250);
        EXPECT_LE(counts.in_clear, people_in_a_row == 0 ? 0 : detectors[d].in_clear * counts.owed);
        EXPECT_LE(counts.hidden, (look_back == 0 ? 2 : 3) * counts.people);
      }
}

// Boxes tremble, so that now and then one is nearer to where an object was before than to where it was found last.
TEST_F(CudaVisionRedactScenes, what_is_held_for_people_who_stand_does_not_grow) {
  constexpr int kPeople = 20, kTremble = 5, kSettled = 100, kLast = 400;
  const VideoFrame frame = bright("GRAY8", {1280, 720});
  Harness harness("cudavisionredact");
  gst_harness_set_src_caps(harness.get(), frame.caps().release());
  std::mt19937 random(7);
  const auto tremble = [&random] { return static_cast<double>(random() % (2 * kTremble + 1)) - kTremble; };
  double hidden = 0;
  for (int n = 0; n < kLast; ++n) {
    Owned<GstBuffer> buffer = frame.buffer();
    for (int i = 0; i < kPeople; ++i)
      if (random() % 20 != 0)
        add_region(buffer.get(),
                   {40. + 125 * (i % 10) + tremble(), 100. + 300 * (i / 10) + tremble(), 40 + tremble(),
                    80 + tremble()},
                   "person");
    EXPECT_EQ(push(&harness, std::move(buffer), n), GST_FLOW_OK);
    const std::vector<std::uint8_t> bytes =
        bytes_of(Owned<GstBuffer>(gst_harness_try_pull(harness.get())).get());
    if (n >= kSettled)
      hidden += static_cast<double>(bytes.size()) -
                static_cast<double>(std::count(bytes.begin(), bytes.end(), kBrightByte));
  }
  EXPECT_LT(hidden / (kLast - kSettled), 3 * kPeople * 40 * 80);
}

}  // namespace
