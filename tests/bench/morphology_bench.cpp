// SPDX-License-Identifier: LGPL-2.1-or-later
// Morphology of a mask on both backends and cv::morphologyEx.
#include "cuda/morphology/morphology.h"

#include <opencv2/imgproc.hpp>

#include "tests/bench/harness/picture_benchmark.h"

namespace {

using namespace cudavision;

cv::MorphTypes peer_of(MorphologyKind kind) {
  switch (kind) {
    case MorphologyKind::erode:
      return cv::MORPH_ERODE;
    case MorphologyKind::dilate:
      return cv::MORPH_DILATE;
    case MorphologyKind::open:
      return cv::MORPH_OPEN;
    case MorphologyKind::close:
      return cv::MORPH_CLOSE;
  }
  return cv::MORPH_HITMISS;  // none of them
}

bench::PictureAlgorithm algorithm_of(MorphologyKind kind, MorphologyShape shape, int radius,
                                     const std::string &name) {
  const auto make = [=](const Execution &execution, Size size, bench::PictureAlgorithm::Run *run) -> Status {
    std::unique_ptr<MaskCleaner> made;
    CUDAVISION_TRY(make_mask_cleaner(execution, size, &made));
    const MorphologyParams params{shape, 1, {{kind, radius}, {}}, false};
    *run = [params, cleaner = std::shared_ptr<MaskCleaner>(std::move(made))](auto src, auto dst) {
      return cleaner->run(src, params, dst);
    };
    return {};
  };
  const cv::Mat element =
      cv::getStructuringElement(shape == MorphologyShape::ellipse ? cv::MORPH_ELLIPSE : cv::MORPH_RECT,
                                {2 * radius + 1, 2 * radius + 1});
  const auto run_peer = [kind, element](const cv::Mat &src, cv::Mat &dst) {
    cv::morphologyEx(src, dst, peer_of(kind), element);
  };
  return {"morphology", "cv::morphologyEx", name + " radius:" + std::to_string(radius), 1, 1, make, run_peer,
          true};
}

}  // namespace

int main(int argc, char **argv) {
  using Kind = MorphologyKind;
  using Shape = MorphologyShape;
  return bench::run_picture_benchmarks({algorithm_of(Kind::open, Shape::ellipse, 1, "open ellipse"),
                                        algorithm_of(Kind::close, Shape::ellipse, 8, "close ellipse"),
                                        algorithm_of(Kind::dilate, Shape::rectangle, 8, "dilate rectangle")},
                                       argc, argv);
}
