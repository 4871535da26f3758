// SPDX-License-Identifier: LGPL-2.1-or-later
// Luma of packed RGB on both backends and cv::cvtColor.
#include "cuda/luma/luma.h"

#include <opencv2/imgproc.hpp>

#include "tests/bench/harness/picture_benchmark.h"

namespace {

using namespace cudavision;

Status make(const Execution &execution, Size size, bench::PictureAlgorithm::Run *run) {
  *run = [=](ImageView<const std::uint8_t> src, ImageView<std::uint8_t> dst) {
    Frame frame{ColorModel::rgb, size.width, size.height, {}};
    for (int i = 0; i < 3; ++i)  // only read
      frame.component[i] = {const_cast<std::uint8_t *>(src.data) + i, src.pitch_bytes, 3, 0, 0};
    return extract_luma(execution, frame, dst);
  };
  return {};
}

}  // namespace

int main(int argc, char **argv) {
  return bench::run_picture_benchmarks(
      {{"luma", "cv::cvtColor", "RGB", 3, 1, make,
        [](const cv::Mat &src, cv::Mat &dst) { cv::cvtColor(src, dst, cv::COLOR_RGB2GRAY); }}},
      argc, argv);
}
