// SPDX-License-Identifier: LGPL-2.1-or-later
// Writing a mask into packed RGB on both backends, and cv::cvtColor from grey to RGB.
#include "cuda/draw/draw.h"

#include <opencv2/imgproc.hpp>

#include "tests/bench/harness/picture_benchmark.h"

namespace {

using namespace cudavision;

Status make(const Execution &execution, Size size, bench::PictureAlgorithm::Run *run) {
  *run = [=](ImageView<const std::uint8_t> src, ImageView<std::uint8_t> dst) {
    Frame frame{ColorModel::rgb, size.width, size.height, {}};
    for (int i = 0; i < 3; ++i) frame.component[i] = {dst.data + i, dst.pitch_bytes, 3, 0, 0};
    return replace_with_mask(execution, frame, {0, 0, size.width, size.height}, src);
  };
  return {};
}

}  // namespace

int main(int argc, char **argv) {
  return bench::run_picture_benchmarks(
      {{"draw", "cv::cvtColor", "replace RGB", 1, 3, make,
        [](const cv::Mat &src, cv::Mat &dst) { cv::cvtColor(src, dst, cv::COLOR_GRAY2RGB); }}},
      argc, argv);
}
