// SPDX-License-Identifier: LGPL-2.1-or-later
// The Gaussian filter on both backends and cv::GaussianBlur.
#include "cuda/gaussian/gaussian.h"

#include <opencv2/imgproc.hpp>

#include "tests/bench/harness/picture_benchmark.h"

namespace {

using namespace cudavision;

bench::PictureAlgorithm algorithm_of(double sigma) {
  const auto make = [sigma](const Execution &execution, Size size,
                            bench::PictureAlgorithm::Run *run) -> Status {
    std::unique_ptr<Gaussian> made;
    CUDAVISION_TRY(make_gaussian(execution, size, &made));
    *run = [sigma, algorithm = std::shared_ptr<Gaussian>(std::move(made))](auto src, auto dst) {
      return algorithm->run(src, dst, sigma);
    };
    return {};
  };
  return {"gaussian",
          "cv::GaussianBlur",
          "sigma:" + std::to_string(sigma).substr(0, 3),
          1,
          1,
          make,
          [sigma](const cv::Mat &src, cv::Mat &dst) { cv::GaussianBlur(src, dst, {}, sigma); }};
}

}  // namespace

int main(int argc, char **argv) {
  return bench::run_picture_benchmarks({algorithm_of(1), algorithm_of(1.4), algorithm_of(3)}, argc, argv);
}
