// SPDX-License-Identifier: LGPL-2.1-or-later
// The most significant bytes of 16-bit samples on both backends and cv::extractChannel.
#include "cuda/repack/repack.h"

#include <opencv2/core.hpp>

#include "tests/bench/harness/picture_benchmark.h"

namespace {

using namespace cudavision;

Status make(const Execution &execution, Size size, bench::PictureAlgorithm::Run *run) {
  *run = [=](ImageView<const std::uint8_t> src, ImageView<std::uint8_t> dst) {
    RepackedFrame frame;
    frame.width = size.width, frame.height = size.height, frame.count = 1;
    // only read
    frame.component[0].wide = {const_cast<std::uint8_t *>(src.data) + 1, src.pitch_bytes, 2, 0, 0};
    frame.component[0].eight = {dst.data, dst.pitch_bytes, 1, 0, 0};
    return repack_frame(execution, frame, 1);
  };
  return {};
}

}  // namespace

int main(int argc, char **argv) {
  return bench::run_picture_benchmarks(
      {{"repack", "cv::extractChannel", "16 bits", 2, 1, make,
        [](const cv::Mat &src, cv::Mat &dst) { cv::extractChannel(src, dst, 1); }}},
      argc, argv);
}
