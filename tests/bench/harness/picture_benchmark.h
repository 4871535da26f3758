// SPDX-License-Identifier: LGPL-2.1-or-later
// Benchmarks of algorithms that turn one picture of bytes into another, on both backends and compared with a peer.
#pragma once

#include <functional>
#include <opencv2/core.hpp>
#include <string>

#include "cuda/common/execution.h"
#include "cuda/common/image.h"
#include "tests/bench/harness/comparison.h"

namespace cudavision::bench {

struct PictureAlgorithm {
  using Run = std::function<Status(ImageView<const std::uint8_t> src, ImageView<std::uint8_t> dst)>;

  std::string name, peer;                  // "gaussian", "cv::GaussianBlur"
  std::string variant;                     // of the parameters: "sigma:2"
  int src_channels = 1, dst_channels = 1;  // bytes per pixel; an ImageView is so many times as wide
  std::function<Status(const Execution &, Size, Run *)> make;
  std::function<void(const cv::Mat &src, cv::Mat &dst)> run_peer;  // both are allocated
  bool of_masks = false;  // the source is 255 where the frame is bright, and otherwise 0
};

// Runs the benchmarks of these algorithms at 720p, 1080p and 2160p on a video frame; returns the exit status.
// A benchmark fails if the result differs from the peer's in any byte.
int run_picture_benchmarks(const std::vector<PictureAlgorithm> &algorithms, int argc, char **argv);

}  // namespace cudavision::bench
