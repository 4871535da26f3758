// SPDX-License-Identifier: LGPL-2.1-or-later
// cudavisiontrack method=buffered: the identities are those of its definition in plain loops, and scenes with people
// who meet, are lost, or have weak boxes.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/elements/json_lines.h"
#include "tests/elements/track_harness.h"
#include "tests/support/pictures.h"

namespace {

using namespace cudavision::test;

class CudaVisionTrackBuffered : public ElementTest {};

struct Scored {
  Box box;
  std::optional<double> score = {};
};
struct Frame {
  double seconds;
  std::vector<Scored> boxes;
};

// --- the definition ---

// A number and its velocity, with their covariance matrix.
struct DefinedNumber {
  std::array<double, 2> x{};
  std::array<std::array<double, 2>, 2> p{};

  DefinedNumber(double value, double deviation, double velocity_deviation) {
    x[0] = value, p[0][0] = deviation * deviation, p[1][1] = velocity_deviation * velocity_deviation;
  }
  // P becomes F P F' + Q.
  void predict(double time, const std::array<std::array<double, 2>, 2> &q) {
    const double f[2][2] = {{1, time}, {0, 1}};
    std::array<double, 2> moved{};
    auto grown = q;
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) {
        moved[i] += f[i][j] * x[j];
        for (int k = 0; k < 2; ++k)
          for (int l = 0; l < 2; ++l) grown[i][j] += f[i][k] * p[k][l] * f[j][l];
      }
    x = moved, p = grown;
  }
  void measure(double value, double deviation) {
    const double total = p[0][0] + deviation * deviation, off = value - x[0];
    const std::array<double, 2> gain{p[0][0] / total, p[1][0] / total}, row = p[0];
    for (int i = 0; i < 2; ++i) {
      x[i] += gain[i] * off;
      for (int j = 0; j < 2; ++j) p[i][j] -= gain[i] * row[j];
    }
  }
};

struct DefinedTrack {
  std::array<DefinedNumber, 4> numbers;
  guint64 id = 0;
  double hits = 0, without = 0;

  static double unit(const Box &b) { return std::max(b.width, b.height); }
  explicit DefinedTrack(const Box &b)
      : numbers{DefinedNumber(b.x + b.width / 2, 0.06 * unit(b), 0.5 * unit(b)),
                DefinedNumber(b.y + b.height / 2, 0.06 * unit(b), 0.5 * unit(b)),
                DefinedNumber(b.width, 0.1 * unit(b), 0), DefinedNumber(b.height, 0.1 * unit(b), 0)} {}
  Box box() const {
    const auto &[x, y, w, h] = numbers;
    return {x.x[0] - w.x[0] / 2, y.x[0] - h.x[0] / 2, w.x[0], h.x[0]};
  }
  void predict(double t) {
    const double square = unit(box()) * unit(box()), drift = 0.1 * square;
    for (int i = 0; i < 2; ++i)
      numbers[i].predict(t,
                         {{{drift * std::pow(t, 3) / 3, drift * t * t / 2}, {drift * t * t / 2, drift * t}}});
    for (int i = 2; i < 4; ++i) numbers[i].predict(t, {{{0.00225 * square * t, 0}, {0, 0}}});
    without += t;
  }
  void take(const Box &b, double hit) {
    const double measured[] = {b.x + b.width / 2, b.y + b.height / 2, b.width, b.height}, side = unit(box());
    for (int i = 0; i < 4; ++i) numbers[i].measure(measured[i], (i < 2 ? 0.06 : 0.1) * side);
    without = 0, hits += hit;
  }
};

double iou(const Box &a, const Box &b) {
  const double w = std::max(0.0, std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x)),
               h = std::max(0.0, std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y));
  return w * h / (a.width * a.height + b.width * b.height - w * h);
}
Box with_buffer(const Box &b) {
  return {b.x - 0.3 * b.width, b.y - 0.3 * b.height, 1.6 * b.width, 1.6 * b.height};
}

class DefinedTracker {
 public:
  explicit DefinedTracker(int min_hits) : min_hits_(min_hits) {}

  std::vector<std::optional<Estimate>> next(const Frame &frame) {
    const double step = frames_ == 0 ? 0.04 : frame.seconds - last_;
    last_ = frame.seconds, ++frames_;
    for (DefinedTrack &track : tracks_) track.predict(step);
    learn(frame.boxes);
    std::vector<int> own(frame.boxes.size(), -1);
    const std::vector<DefinedTrack> before = tracks_;
    pair_round(frame.boxes, false, &own);
    pair_round(frame.boxes, true, &own);
    std::vector<std::optional<Estimate>> result(frame.boxes.size());
    for (std::size_t i = 0; i < own.size(); ++i)
      if (own[i] != -1)
        tracks_[static_cast<std::size_t>(own[i])].take(frame.boxes[i].box,
                                                       is_weak(frame.boxes[i]) ? 0.75 : 1);
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (own[i] != -1 || (is_weak(frame.boxes[i]) && is_near(before, frame.boxes[i].box))) continue;
      own[i] = static_cast<int>(tracks_.size());
      tracks_.emplace_back(frame.boxes[i].box);
    }
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (own[i] == -1) continue;
      DefinedTrack &track = tracks_[static_cast<std::size_t>(own[i])];
      if (track.id == 0 && (track.hits >= min_hits_ || frames_ <= min_hits_)) track.id = ++ids_;
      if (track.id != 0) result[i] = {track.id, track.box()};
    }
    std::erase_if(tracks_, [](const DefinedTrack &t) { return t.without > (t.id != 0 ? 3.0 : 0.2) + 0.02; });
    return result;
  }

 private:
  void learn(const std::vector<Scored> &boxes) {
    for (const Scored &one : boxes)
      if (one.score) scores_.push_back(*one.score);
    while (scores_.size() > 256) scores_.erase(scores_.begin());
  }
  bool is_weak(const Scored &one) const {
    std::size_t higher = 0;
    for (const double score : scores_) higher += one.score && score > *one.score;
    return static_cast<double>(higher) > 0.8 * static_cast<double>(scores_.size());
  }
  static bool is_near(const std::vector<DefinedTrack> &tracks, const Box &box) {
    return std::any_of(tracks.begin(), tracks.end(), [&](const DefinedTrack &track) {
      return iou(with_buffer(box), with_buffer(track.box())) >= 0.1;
    });
  }
  double similarity(const Scored &one, bool weak, const DefinedTrack &track) const {
    if (is_weak(one) != weak) return 0;
    const double common =
        weak ? iou(one.box, track.box()) : iou(with_buffer(one.box), with_buffer(track.box()));
    return common >= (weak ? 0.2 : 0.1) ? common : 0;
  }
  // most[set]: the largest sum for the boxes so far if exactly the tracks of the set have one of these boxes.
  void pair_round(const std::vector<Scored> &boxes, bool weak, std::vector<int> *own) const {
    const std::size_t sets = std::size_t{1} << tracks_.size();
    std::size_t taken = 0;
    for (const int track : *own) taken |= track == -1 ? 0 : std::size_t{1} << track;
    std::vector<double> most(sets, -1);
    most[taken] = 0;
    std::vector<std::vector<int>> chosen(boxes.size(), std::vector<int>(sets, -1));
    for (std::size_t i = 0; i < boxes.size(); ++i)
      for (std::size_t set = sets; set-- > 0;)
        for (std::size_t k = 0; k < tracks_.size(); ++k) {
          const std::size_t bit = std::size_t{1} << k;
          if ((set & bit) == 0 || most[set ^ bit] < 0) continue;
          const double common = similarity(boxes[i], weak, tracks_[k]), total = most[set ^ bit] + common;
          if (common > 0 && total > most[set]) most[set] = total, chosen[i][set] = static_cast<int>(k);
        }
    auto set = static_cast<std::size_t>(std::max_element(most.begin(), most.end()) - most.begin());
    for (std::size_t i = boxes.size(); i-- > 0;)
      if (const int track = chosen[i][set]; track != -1) (*own)[i] = track, set ^= std::size_t{1} << track;
  }

  int min_hits_, frames_ = 0;
  double last_ = 0;
  guint64 ids_ = 0;
  std::vector<DefinedTrack> tracks_;
  std::vector<double> scores_;
};

// --- frames ---

std::vector<std::optional<Estimate>> track(TrackHarness *harness, const Frame &frame,
                                           const char *type = "person") {
  Owned<GstBuffer> buffer = track_picture().buffer();
  for (const Scored &one : frame.boxes) {
    GstVideoRegionOfInterestMeta *region = add_region(buffer.get(), one.box, type);
    if (one.score) add_score(region, *one.score);
  }
  const auto pts = static_cast<GstClockTime>(std::llround(frame.seconds * 1000)) * GST_MSECOND;
  const Owned<GstBuffer> out = harness->exchange_at(pts, std::move(buffer));
  std::vector<std::optional<Estimate>> estimates;
  for (GstVideoRegionOfInterestMeta *region : regions_of(out)) estimates.push_back(estimate_of(region));
  return estimates;
}

// Boxes that wander, come close to one another, vanish and come back, with false ones beside them; at 25 frames a
// second, of which some are missing. Some boxes have no score.
std::vector<Frame> wandering(unsigned seed, int count) {
  Random random(seed);
  std::vector<Box> objects;
  for (int i = 0; i < 5; ++i)
    objects.push_back({60.0 + random.below(160), 60.0 + random.below(100), 25.0 + random.below(30),
                       50.0 + random.below(40)});
  std::vector<Frame> frames;
  int lost = -1, lost_until = 0;
  for (int n = 0; n < count; n += random.below(5) == 0 ? 1 + random.below(4) : 1) {
    Frame frame{n * 0.04, {}};
    if (n >= lost_until) lost = random.below(8), lost_until = n + 10 + random.below(100);
    for (int i = 0; i < 5; ++i) {
      Box &object = objects[static_cast<std::size_t>(i)];
      object.x = std::max(0.0, object.x + random.below(9) - 4);
      object.y = std::max(0.0, object.y + random.below(7) - 3);
      if (i == lost || random.below(6) == 0) continue;
      const double score = random.below(1000) / 300.0 + i;
      frame.boxes.push_back({object, random.below(9) == 0 ? std::nullopt : std::optional(score)});
    }
    if (random.below(4) == 0) {
      Box beside = objects[static_cast<std::size_t>(random.below(5))];
      beside.x += random.below(60), beside.y += random.below(40);
      frame.boxes.push_back({beside, random.below(1000) / 1000.0});
    }
    frames.push_back(frame);
  }
  return frames;
}

TEST_F(CudaVisionTrackBuffered, identities_equal_the_definition) {
  std::size_t named = 0;
  guint64 most = 0;
  for (unsigned seed = 1; seed <= 6; ++seed) {
    const int min_hits = static_cast<int>(seed) % 4;
    TrackHarness harness("method=buffered min-hits=" + std::to_string(min_hits), 25);
    DefinedTracker definition(min_hits);
    int number = 0;
    for (const Frame &frame : wandering(seed, 250)) {
      const auto actual = track(&harness, frame), expected = definition.next(frame);
      ASSERT_EQ(actual.size(), expected.size());
      for (std::size_t i = 0; i < actual.size(); ++i) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", frame " + std::to_string(number) + ", box " +
                     std::to_string(i));
        ASSERT_EQ(actual[i].has_value(), expected[i].has_value());
        if (!actual[i]) continue;
        ASSERT_EQ(actual[i]->id, expected[i]->id);
        for (const auto side : {&Box::x, &Box::y, &Box::width, &Box::height})
          ASSERT_NEAR(actual[i]->box.*side, expected[i]->box.*side, 1e-6);
        ++named, most = std::max(most, actual[i]->id);
      }
      ++number;
    }
  }
  EXPECT_GT(named, 3000u);
  EXPECT_GT(most, 6u) << "new people come now and then";
}

// Ids and estimates, in the order of the boxes.
std::vector<Estimate> all_of(const std::vector<Frame> &frames) {
  TrackHarness harness("", 25);
  std::vector<Estimate> all;
  for (const Frame &frame : frames)
    for (const auto &one : track(&harness, frame))
      if (one) all.push_back(*one);
  return all;
}

TEST_F(CudaVisionTrackBuffered, the_size_of_the_picture_changes_nothing) {
  std::vector<Frame> frames = wandering(9, 200);
  const std::vector<Estimate> small = all_of(frames);
  for (Frame &frame : frames)
    for (Scored &one : frame.boxes)
      for (const auto side : {&Box::x, &Box::y, &Box::width, &Box::height}) one.box.*side *= 4;
  const std::vector<Estimate> large = all_of(frames);
  ASSERT_GT(small.size(), 300u);
  ASSERT_EQ(small.size(), large.size());
  for (std::size_t i = 0; i < small.size(); ++i) {
    ASSERT_EQ(small[i].id, large[i].id);
    ASSERT_NEAR(4 * small[i].box.x, large[i].box.x, 1e-6);
  }
}

// Detectors give scores of any range: only their order matters.
TEST_F(CudaVisionTrackBuffered, the_scale_of_scores_changes_nothing) {
  std::vector<Frame> frames = wandering(10, 200);
  const std::vector<Estimate> expected = all_of(frames);
  for (Frame &frame : frames)
    for (Scored &one : frame.boxes)
      if (one.score) one.score = 1 / (1 + std::exp(-*one.score));
  const std::vector<Estimate> actual = all_of(frames);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    ASSERT_EQ(actual[i].id, expected[i].id);
    ASSERT_EQ(actual[i].box.x, expected[i].box.x);
  }
}

// Two predictions over 40 ms are one over 80 ms.
TEST_F(CudaVisionTrackBuffered, missing_frames_are_frames_without_boxes) {
  TrackHarness all("min-hits=0", 25), some("min-hits=0", 25);
  for (int n = 0; n < 60; ++n) {
    const bool is_lost = n % 7 > 4;
    Frame frame{n * 0.04, {}};
    if (!is_lost) frame.boxes.push_back({{20.0 + 3 * n, 10.0 + n % 3, 40, 100}});
    const auto expected = track(&all, frame);
    if (is_lost) continue;
    const auto actual = track(&some, frame);
    ASSERT_TRUE(actual[0] && expected[0]);
    EXPECT_EQ(actual[0]->id, 1u);
    EXPECT_EQ(expected[0]->id, 1u);
    EXPECT_NEAR(actual[0]->box.x, expected[0]->box.x, 1e-9) << n;
  }
}

// --- scenes ---

// The ids of the boxes of a frame at 25 frames a second; 0 where there is none.
std::vector<guint64> ids_at(TrackHarness *harness, int n, const std::vector<Scored> &boxes) {
  std::vector<guint64> ids;
  for (const auto &one : track(harness, {n * 0.04, boxes})) ids.push_back(one ? one->id : 0);
  return ids;
}

// Two people walk through one another, and four frames have one box for both.
TEST_F(CudaVisionTrackBuffered, people_who_meet_keep_their_ids) {
  TrackHarness harness("", 25);
  for (int n = 0; n < 100; ++n) {
    const Box right{20.0 + 3 * n, 50, 40, 100}, left{320.0 - 3 * n, 56, 40, 100};
    if (n >= 48 && n < 52)
      ids_at(&harness, n, {{right}});
    else
      ASSERT_EQ(ids_at(&harness, n, {{right}, {left}}), (std::vector<guint64>{1, 2})) << n;
  }
}

TEST_F(CudaVisionTrackBuffered, who_is_lost_for_two_seconds_keeps_the_id) {
  for (const int lost : {50, 74, 75}) {
    TrackHarness harness("", 25);
    const auto walker = [](int n) { return std::vector<Scored>{{Box{20.0 + 2 * n, 50, 40, 100}}}; };
    for (int n = 0; n < 60; ++n) EXPECT_EQ(ids_at(&harness, n, walker(n))[0], 1u);
    for (int n = 60; n < 60 + lost; ++n) ids_at(&harness, n, {});
    int n = 60 + lost;
    if (lost == 75) ids_at(&harness, n++, {});
    EXPECT_EQ(ids_at(&harness, n, walker(n))[0], lost <= 74 ? 1u : 0u) << lost;
  }
}

// A step aside of more than the width: the boxes do not overlap, but their buffers do.
TEST_F(CudaVisionTrackBuffered, who_jumps_by_a_width_keeps_the_id) {
  TrackHarness harness("", 25);
  for (int n = 0; n < 20; ++n) ids_at(&harness, n, {{{100, 50, 40, 100}}});
  EXPECT_EQ(ids_at(&harness, 20, {{{145, 50, 40, 100}}})[0], 1u);
}

TEST_F(CudaVisionTrackBuffered, hits_need_not_be_in_succession_and_the_id_stays) {
  TrackHarness harness("", 25);
  for (int n = 0; n < 10; ++n) ids_at(&harness, n, {});
  std::vector<guint64> ids;
  for (int n = 10; n < 30; n += 2) {
    ids.push_back(ids_at(&harness, n, {{{100, 50, 40, 100}}})[0]);
    ids_at(&harness, n + 1, {});
  }
  EXPECT_EQ(ids, (std::vector<guint64>{0, 0, 0, 1, 1, 1, 1, 1, 1, 1}));
}

// A box that comes once in a quarter of a second is no object.
TEST_F(CudaVisionTrackBuffered, who_is_not_confirmed_is_forgotten_soon) {
  TrackHarness harness("", 25);
  for (int n = 0; n < 4; ++n) ids_at(&harness, n, {});
  for (int n = 4; n < 100; ++n) {
    std::vector<Scored> boxes;
    if (n % 7 == 0) boxes.push_back({{100, 50, 40, 100}});
    for (const guint64 id : ids_at(&harness, n, boxes)) EXPECT_EQ(id, 0u) << n;
  }
}

// Somebody with high scores, whose boxes then become weak; and a weak false box beside, which is found all the time.
TEST_F(CudaVisionTrackBuffered, weak_boxes_go_on_with_tracks_and_begin_none_beside_them) {
  TrackHarness harness("", 25);
  for (int n = 0; n < 90; ++n) {
    const bool is_weak = n >= 60 && n < 75;
    const std::vector<Scored> boxes{{{100, 50, 40, 100}, is_weak ? 0.5 : 3 + n % 5 * 0.1},
                                    {{300, 50, 40, 100}, 3 + n % 4 * 0.1},
                                    {{500, 50, 40, 100}, 2.5 + n % 3 * 0.1},
                                    {{700, 50, 40, 100}, 2.5 + n % 7 * 0.1},
                                    {{900, 50, 40, 100}, 2.7 + n % 4 * 0.1},
                                    {{140, 55, 38, 95}, 0.1}};
    const std::vector<guint64> ids =
        ids_at(&harness, n, n < 3 ? std::vector(boxes.begin(), boxes.end() - 1) : boxes);
    EXPECT_EQ(ids[0], 1u) << n;
    if (n >= 3) {
      EXPECT_EQ(ids[5], 0u) << n;
    }
  }
}

// Somebody far away has the lowest scores of all, and is found alone.
TEST_F(CudaVisionTrackBuffered, weak_boxes_far_from_others_begin_tracks) {
  TrackHarness harness("", 25);
  for (int n = 0; n < 60; ++n) ids_at(&harness, n, {{{100, 50, 40, 100}, 3 + n % 5 * 0.1}});
  for (int n = 60; n < 65; ++n) {
    const guint64 id =
        ids_at(&harness, n, {{{100, 50, 40, 100}, 3}, {{400, 20, 20, 50}, 0.1 + n * 0.001}})[1];
    EXPECT_EQ(id, n < 64 ? 0u : 2u) << "four weak boxes count as three";
  }
}

// A weak box beside a person begins no track, but one without a score does.
TEST_F(CudaVisionTrackBuffered, boxes_without_a_score_are_not_weak) {
  for (const std::optional<double> score : {std::optional<double>(0.1), std::optional<double>()}) {
    TrackHarness harness("", 25);
    guint64 id = 0;
    for (int n = 0; n < 60; ++n)
      ids_at(&harness, n, {{{100, 50, 40, 100}, 3 + n % 5 * 0.1}, {{300, 50, 40, 100}, 3}});
    for (int n = 60; n < 64; ++n)
      id = ids_at(&harness, n,
                  {{{100, 50, 40, 100}, 3}, {{300, 50, 40, 100}, 3}, {{132, 50, 40, 100}, score}})[2];
    EXPECT_EQ(id, score ? 0u : 3u);
  }
}

// The scores of each type are compared among themselves: the second car is not weak, and may begin a track beside the
// first.
TEST_F(CudaVisionTrackBuffered, scores_of_another_type_make_no_box_weak) {
  TrackHarness harness("min-hits=0", 25);
  for (int n = 0; n < 40; ++n) track(&harness, {n * 0.08, {{{100, 50, 40, 100}, 3}}}, "person");
  for (int n = 40; n < 44; ++n) {
    Frame cars{n * 0.08, {{{300, 50, 60, 40}, 0.4}}};
    if (n > 41) cars.boxes.push_back({{350, 50, 60, 40}, 0.4});
    for (const auto &car : track(&harness, cars, "car")) EXPECT_TRUE(car) << n;
  }
}

TEST_F(CudaVisionTrackBuffered, ids_are_never_used_again) {
  TrackHarness harness("", 25);
  std::set<guint64> seen;
  int n = 0;
  for (int round = 0; round < 6; ++round) {
    guint64 id = 0;
    for (int i = 0; i < 8; ++i) id = ids_at(&harness, n++, {{{100, 50, 40, 100}}})[0];
    EXPECT_NE(id, 0u);
    EXPECT_TRUE(seen.insert(id).second) << id;
    if (round % 3 == 0) {
      gst_harness_set(harness.get(), "cudavisiontrack", "method", round == 0 ? 1 : 0, nullptr);
    } else if (round % 3 == 1) {
      for (int i = 0; i < 80; ++i) ids_at(&harness, n++, {});
    } else {
      EXPECT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_stream_start("next")));
      gst_harness_set_src_caps(harness.get(), track_picture().caps().release());
    }
  }
}

}  // namespace
