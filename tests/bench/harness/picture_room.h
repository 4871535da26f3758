// SPDX-License-Identifier: LGPL-2.1-or-later
// Benchmarks of rooms that turn one picture of bytes into another, on both backends beside one peer.
#pragma once

#include <functional>
#include <opencv2/core.hpp>
#include <string>

#include "tests/bench/harness/comparison.h"
#include "cuda/common/execution.h"
#include "cuda/common/image.h"

namespace cudavision::bench {

struct PictureRoom {
  using Run = std::function<Status(ImageView<const std::uint8_t> src, ImageView<std::uint8_t> dst)>;

  std::string name, peer;                  // as "gaussian", "cv::GaussianBlur"
  std::string variant;                     // of the parameters, as "sigma:2"
  int src_channels = 1, dst_channels = 1;  // bytes a pixel; rows of several are so many times as wide
  std::function<Status(const Execution &, Size, Run *)> make;
  std::function<void(const cv::Mat &src, cv::Mat &dst)> run_peer;  // both have their size
};

// Runs the benchmarks of these rooms at 720p, 1080p and 2160p on a real frame; returns the exit status. Each row first
// compares the room's result with the peer's, byte for byte, and fails where they differ.
int run_picture_rooms(const std::vector<PictureRoom> &rooms, int argc, char **argv);

}  // namespace cudavision::bench
