// SPDX-License-Identifier: LGPL-2.1-or-later
// Optical flow on real pictures, compared with cv::calcOpticalFlowPyrLK and with known motion.
#include <gtest/gtest.h>

#include <cstdio>
#include <numeric>
#include <opencv2/video/tracking.hpp>
#include <string>
#include <vector>

#include "tests/kernels/opticalflow_definition.h"
#include "tests/support/decode.h"
#include "tests/support/motion.h"

namespace {

using namespace cudavision::test;
using cudavision::FlowVector;
using cudavision::OpticalFlowParams;
using cudavision::Size;

class RealFlow : public BackendTest {
 protected:
  // The picture, or a small part of it that begins at (x, y) where the test would otherwise take too long.
  static Picture part(const Picture &picture, int x, int y) {
    return kSlow ? picture.crop({x, y, 128, 96}) : picture;
  }
};
CUDAVISION_TEST_ON_EVERY_BACKEND(RealFlow);

struct Frames {
  std::string name;
  const Photo *first, *second;
  int x, y;  // the top left pixel of the part that slow tests use
};
std::vector<Frames> real_frames() {
  return {{"rubberwhale", &gray_photo("rubberwhale1.png"), &gray_photo("rubberwhale2.png"), 200, 150},
          {"vtest 50, 51", &gray_photo("vtest.avi", 50), &gray_photo("vtest.avi", 51), 330, 210},
          {"vtest 200, 203", &gray_photo("vtest.avi", 200), &gray_photo("vtest.avi", 203), 330, 210}};
}

// The flow of OpenCV at every third pixel.
struct Peer {
  std::vector<cv::Point2f> from, to;
  std::vector<std::uint8_t> status;
};
Peer opencv(const Picture &first, const Picture &second, const OpticalFlowParams &p) {
  Peer peer;
  for (int y = 1; y < first.height(); y += 3)
    for (int x = 1; x < first.width(); x += 3)
      peer.from.emplace_back(static_cast<float>(x), static_cast<float>(y));
  const auto mat = [](const Picture &picture) {
    return cv::Mat(picture.height(), picture.width(), CV_8U, const_cast<std::uint8_t *>(picture.row(0)));
  };
  cv::calcOpticalFlowPyrLK(mat(first), mat(second), peer.from, peer.to, peer.status, cv::noArray(),
                           {p.window_size, p.window_size}, p.levels,
                           {cv::TermCriteria::COUNT + cv::TermCriteria::EPS, p.iterations, p.epsilon}, 0,
                           p.min_eigenvalue);
  return peer;
}

double mean(const std::vector<double> &values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

TEST_P(RealFlow, vectors_are_those_of_opencv) {
  for (const Frames &frames : real_frames()) {
    if (!frames.first->ok() || !frames.second->ok())
      GTEST_SKIP() << frames.first->why_not << frames.second->why_not;
    const Picture first = part(frames.first->pixels, frames.x, frames.y),
                  second = part(frames.second->pixels, frames.x, frames.y);
    for (const int window : {21, 13}) {
      if (kSlow && window == 13) continue;
      OpticalFlowParams params;
      params.window_size = window;
      const Flow flow = flow_between(execution(), first, second, params);
      const Peer peer = opencv(first, second, params);
      std::vector<double> errors;
      int disagree = 0;
      for (std::size_t i = 0; i < peer.from.size(); ++i) {
        const int x = static_cast<int>(peer.from[i].x), y = static_cast<int>(peer.from[i].y);
        const bool valid = flow.valid.at(x, y) != 0;
        disagree += valid != (peer.status[i] != 0);
        if (valid && peer.status[i] != 0)
          errors.push_back(
              distance(flow.at(x, y), {peer.to[i].x - peer.from[i].x, peer.to[i].y - peer.from[i].y}));
      }
      std::sort(errors.begin(), errors.end());
      std::printf("%s, window %d: %zu points, median %.5f px, 95 %% %.4f px, %d disagree on validity\n",
                  frames.name.c_str(), window, errors.size(), quantile(errors, 0.5), quantile(errors, 0.95),
                  disagree);
      EXPECT_GT(errors.size(), peer.from.size() / 2) << frames.name;
      EXPECT_LE(quantile(errors, 0.5), 0.001) << frames.name;
      EXPECT_LE(quantile(errors, 0.95), 0.05) << frames.name;
      EXPECT_LE(disagree, static_cast<int>(peer.from.size() / 200)) << frames.name;
    }
  }
}

TEST_P(RealFlow, tiles_and_single_windows_give_the_same_bits) {
  for (const Frames &frames : real_frames()) {
    if (!frames.first->ok() || !frames.second->ok())
      GTEST_SKIP() << frames.first->why_not << frames.second->why_not;
    const Picture first = part(frames.first->pixels, frames.x, frames.y),
                  second = part(frames.second->pixels, frames.x, frames.y);
    OpticalFlowParams params;
    const Flow dense = flow_between(execution(), first, second, params);
    params.stride = 2;
    EXPECT_TRUE(same(flow_between(execution(), first, second, params), every(2, dense))) << frames.name;
    if (kSlow) break;
  }
}

TEST_P(RealFlow, known_motion_of_textures_is_found) {
  for (const char *file : {"rubberwhale1.png", "graf1.png", "fruits.jpg"}) {
    const Photo &photo = gray_photo(file);
    if (!photo.ok()) GTEST_SKIP() << photo.why_not;
    const Picture next = part(photo.pixels, 150, 100);
    for (const Motion &motion : motions(next.size())) {
      const Picture before = frame_before(next, motion);
      const Flow flow = flow_between(execution(), before, next);
      const Peer peer = opencv(before, next, {});
      const int border = 20;
      std::vector<double> errors, peer_errors;
      int count = 0;
      for (std::size_t i = 0; i < peer.from.size(); ++i) {
        const int x = static_cast<int>(peer.from[i].x), y = static_cast<int>(peer.from[i].y);
        if (x < border || y < border || x >= next.width() - border || y >= next.height() - border) continue;
        ++count;
        const FlowVector exact = motion.at(peer.from[i].x, peer.from[i].y);
        if (flow.valid.at(x, y) != 0) errors.push_back(distance(flow.at(x, y), exact));
        if (peer.status[i] != 0)
          peer_errors.push_back(
              distance({peer.to[i].x - peer.from[i].x, peer.to[i].y - peer.from[i].y}, exact));
      }
      std::sort(errors.begin(), errors.end());
      const double error = mean(errors), peer_error = mean(peer_errors);
      std::printf("%s, %s: average endpoint error %.4f px of %zu points, OpenCV %.4f px; median %.4f px\n",
                  file, motion.name.c_str(), error, errors.size(), peer_error, quantile(errors, 0.5));
      EXPECT_GT(static_cast<int>(errors.size()), count * 9 / 10) << file << " " << motion.name;
      EXPECT_LE(error, 1.15 * peer_error + 0.01) << file << " " << motion.name;
      EXPECT_LE(error, 0.25) << file << " " << motion.name;
      EXPECT_LE(quantile(errors, 0.5), 0.2) << file << " " << motion.name;
    }
  }
}

// A pixel whose surroundings are the same in both frames, as far as its window on the coarsest level reaches,
// does not move.
TEST_P(RealFlow, still_background_stays_zero) {
  const Photo &first = gray_photo("vtest.avi", 50), &second = gray_photo("vtest.avi", 51);
  if (!first.ok() || !second.ok()) GTEST_SKIP() << first.why_not << second.why_not;
  const Picture a = part(first.pixels, 330, 210), b = part(second.pixels, 330, 210);
  OpticalFlowParams params;
  params.window_size = 9, params.levels = 1;
  const Flow flow = flow_between(execution(), a, b, params);
  // The reach of the window and derivatives of level 1, of the interpolation between levels, and of pyrDown,
  // in pixels of the frame.
  const int reach = 2 * (params.window_size / 2 + 2) + 4;
  // An integral image: the number of differing pixels above and to the left.
  HostImage<int> differ({a.width() + 1, a.height() + 1});
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x)
      differ.at(x + 1, y + 1) =
          differ.at(x, y + 1) + differ.at(x + 1, y) - differ.at(x, y) + (a.at(x, y) != b.at(x, y));
  int still = 0, moves = 0;
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x) {
      const int x0 = std::max(0, x - reach), y0 = std::max(0, y - reach),
                x1 = std::min(a.width(), x + reach + 1), y1 = std::min(a.height(), y + reach + 1);
      const FlowVector d = flow.at(x, y);
      moves += std::hypot(d.x, d.y) > 0.5f && flow.valid.at(x, y) != 0;
      if (differ.at(x1, y1) - differ.at(x0, y1) - differ.at(x1, y0) + differ.at(x0, y0) != 0) continue;
      ++still;
      EXPECT_EQ(d, FlowVector{}) << x << ", " << y;
    }
  std::printf("%d of %d pixels are still, %d move\n", still, a.width() * a.height(), moves);
  EXPECT_GT(still, 0);
  EXPECT_GT(moves, a.width() * a.height() / 200) << "people walk";
}

}  // namespace
