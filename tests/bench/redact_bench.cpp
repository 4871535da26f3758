// SPDX-License-Identifier: LGPL-2.1-or-later
// Hiding eight boxes of a frame on both backends, and what one writes with OpenCV for it. Both copy the frame first,
// because they change it in place.
#include "cuda/redact/redact.h"

#include <array>
#include <opencv2/imgproc.hpp>

#include "cuda/common/rectangle.h"
#include "tests/bench/harness/picture_benchmark.h"

namespace {

using namespace cudavision;

constexpr int kBoxes = 8, kCells = 6;
constexpr double kStrength = 16;  // the greatest for which the element smooths once, as OpenCV does

// The boxes of people who stand side by side: half as wide as high, and a whole number of square cells.
std::array<Region, kBoxes> boxes_in(Size frame) {
  const int cell = frame.height / 45;
  std::array<Region, kBoxes> boxes;
  for (int i = 0; i < kBoxes; ++i)
    boxes[i] = {(2 * i + 1) * frame.width / 18, frame.height / 4 + 5 * i, kCells / 2 * cell, kCells * cell};
  return boxes;
}

void hide_with_opencv(RedactMode mode, const cv::Mat &src, cv::Mat *dst) {
  cv::Mat hidden, cells;
  // The whole picture, because OpenCV filters a part of a picture by another function, which gives other bytes.
  if (mode == RedactMode::blur) cv::GaussianBlur(src, hidden, {}, kStrength);
  src.copyTo(*dst);
  for (const Region &box : boxes_in({src.cols, src.rows})) {
    const cv::Rect place(box.x, box.y, box.width, box.height);
    cv::Mat part = (*dst)(place);
    if (mode == RedactMode::fill) {
      part.setTo(0);
    } else if (mode == RedactMode::blur) {
      hidden(place).copyTo(part);
    } else {
      cv::resize(part, cells, {kCells / 2, kCells}, 0, 0, cv::INTER_AREA);
      cv::resize(cells, part, part.size(), 0, 0, cv::INTER_NEAREST);
    }
  }
}

Status make(RedactMode mode, const Execution &execution, Size size, bench::PictureAlgorithm::Run *run) {
  std::unique_ptr<Redact> made;
  CUDAVISION_TRY(make_redact(execution, size, &made));
  *run = [=, redact = std::shared_ptr<Redact>(std::move(made)), boxes = boxes_in(size)](
             ImageView<const std::uint8_t> src, ImageView<std::uint8_t> dst) -> Status {
    CUDAVISION_TRY(copy_rectangle(execution, src, dst));
    const Frame frame{
        ColorModel::gray, size.width, size.height, {{.data = dst.data, .pitch_bytes = dst.pitch_bytes}}};
    return redact->run(frame, {.boxes = boxes.data(), .box_count = kBoxes, .limit = {}},
                       {.mode = mode, .cells = kCells, .strength = kStrength});
  };
  return {};
}

bench::PictureAlgorithm algorithm_of(RedactMode mode, std::string name, std::string peer) {
  return {"redact",
          std::move(peer),
          std::move(name),
          1,
          1,
          [mode](const auto &execution, Size size, auto *run) { return make(mode, execution, size, run); },
          [mode](const cv::Mat &src, cv::Mat &dst) { hide_with_opencv(mode, src, &dst); }};
}

}  // namespace

int main(int argc, char **argv) {
  return bench::run_picture_benchmarks({algorithm_of(RedactMode::fill, "fill", "cv::Mat::setTo"),
                                        algorithm_of(RedactMode::pixelate, "pixelate", "cv::resize"),
                                        algorithm_of(RedactMode::blur, "blur", "cv::GaussianBlur")},
                                       argc, argv);
}
