// SPDX-License-Identifier: LGPL-2.1-or-later
// Support for the tests of cudahog: the blocks and boxes that OpenCV computes for a frame, and model files
// that OpenCV writes.
#pragma once

#include <gst/cudavision/cudavision.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cuda/draw/text.h"
#include "tests/elements/drawn_frame.h"
#include "tests/elements/tensor.h"
#include "tests/support/opencv_hog.h"
#include "tests/support/pictures.h"

namespace cudavision::test {

// The input of OpenCV: an RGB frame in the order B, G, R, or the luma of any other frame.
inline cv::Mat mat_of(const VideoFrame &frame) {
  const Size size = frame.size();
  if (!frame.is_rgb()) return luma_of(frame);
  cv::Mat mat(size.height, size.width, CV_8UC3);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      for (int c = 0; c < 3; ++c) mat.ptr(y)[3 * x + c] = frame.sample(2 - c, x, y);
  return mat;
}

// The descriptors of all blocks in row-major order. The window and the weights of `hog` are ignored.
inline std::vector<float> opencv_blocks(const cv::Mat &picture, cv::HOGDescriptor hog) {
  const int cols = (picture.cols - hog.blockSize.width) / hog.blockStride.width + 1,
            rows = (picture.rows - hog.blockSize.height) / hog.blockStride.height + 1;
  hog.svmDetector.clear();
  hog.winSize = {(cols - 1) * hog.blockStride.width + hog.blockSize.width,
                 (rows - 1) * hog.blockStride.height + hog.blockSize.height};
  std::vector<float> by_column;
  hog.compute(picture, by_column, hog.blockStride, {}, {cv::Point(0, 0)});
  std::vector<float> blocks(by_column.size());
  const std::ptrdiff_t length = static_cast<std::ptrdiff_t>(blocks.size()) / (rows * cols);
  for (int row = 0; row < rows; ++row)
    for (int col = 0; col < cols; ++col)
      std::copy_n(by_column.begin() + length * (col * rows + row), length,
                  blocks.begin() + length * (row * cols + col));
  return blocks;
}

inline testing::AssertionResult near(const std::vector<float> &actual, const std::vector<float> &expected) {
  if (actual.size() != expected.size())
    return testing::AssertionFailure() << actual.size() << " numbers instead of " << expected.size();
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (!(std::abs(actual[i] - expected[i]) <= 1e-5f))
      return testing::AssertionFailure()
             << "number " << i << ": " << actual[i] << " instead of " << expected[i];
  return testing::AssertionSuccess();
}

struct Box {
  cv::Rect rectangle;
  double score;
};
using Boxes = std::vector<Box>;

// OpenCV runs in one thread: with more threads the order of the scales is not defined.
inline Boxes opencv_boxes(const cv::Mat &picture, const cv::HOGDescriptor &hog, int win_stride, int group,
                          double threshold = 0, double scale_step = 1.05) {
  Boxes boxes;
  // OpenCV would search pictures that hold no window, too.
  if (picture.cols < hog.winSize.width || picture.rows < hog.winSize.height) return boxes;
  const int threads = cv::getNumThreads();
  cv::setNumThreads(1);
  std::vector<cv::Rect> rectangles;
  std::vector<double> scores;
  hog.detectMultiScale(picture, rectangles, scores, threshold, {win_stride, win_stride}, {}, scale_step,
                       group, false);
  cv::setNumThreads(threads);
  for (std::size_t i = 0; i < rectangles.size(); ++i) boxes.push_back({rectangles[i], scores[i]});
  return boxes;
}

// The regions of interest of that type, or of all types if it is null.
inline Boxes boxes_of(GstBuffer *buffer, const char *type = nullptr) {
  Boxes boxes;
  gpointer state = nullptr;
  while (GstMeta *meta =
             gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto *region = reinterpret_cast<GstVideoRegionOfInterestMeta *>(meta);
    if (type != nullptr && region->roi_type != g_quark_from_string(type)) continue;
    const GstStructure *detection = gst_video_region_of_interest_meta_get_param(region, "detection");
    EXPECT_NE(detection, nullptr);
    double score = NAN;
    if (detection != nullptr) gst_structure_get_double(detection, "confidence", &score);
    boxes.push_back({cv::Rect(static_cast<int>(region->x), static_cast<int>(region->y),
                              static_cast<int>(region->w), static_cast<int>(region->h)),
                     score});
  }
  return boxes;
}

// Pushes one frame and returns its regions of interest. Stores the bytes of the output frame in *out unless it is null.
inline Boxes boxes_from(Harness *hog, const VideoFrame &frame, VideoFrame *out = nullptr) {
  const Owned<GstBuffer> buffer = buffer_from(hog, frame);
  if (!buffer) return {};
  if (out != nullptr) out->bytes() = bytes_of(buffer.get());
  return boxes_of(buffer.get());
}

inline testing::AssertionResult same_boxes(const Boxes &actual, const Boxes &expected) {
  if (actual.size() != expected.size())
    return testing::AssertionFailure() << actual.size() << " boxes instead of " << expected.size();
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (actual[i].rectangle != expected[i].rectangle ||
        !(std::abs(actual[i].score - expected[i].score) <= 1e-4))
      return testing::AssertionFailure()
             << "box " << i << ": " << actual[i].rectangle << " " << actual[i].score << " instead of "
             << expected[i].rectangle << " " << expected[i].score;
  return testing::AssertionSuccess();
}

// label: the text that is written with the score above the upper left corner of each box, or in the box if the region
// has no room above. It is black on the colour of the box, or white on a dark one. Empty: no labels.
inline VideoFrame with_boxes(const VideoFrame &frame, const Boxes &boxes, std::uint32_t argb, int line_width,
                             Part part = {}, const std::string &label = "person") {
  std::vector<Primitive> primitives;
  for (const auto &[r, score] : boxes)
    primitives.push_back(make_primitive(Primitive::Kind::rectangle, line_width, color_in(frame, argb), r.x,
                                        r.y, r.x + r.width - 1, r.y + r.height - 1));
  const Size size = frame.size();
  const int scale = std::max(1, (std::min(size.width, size.height) + 150) / 300), height = 9 * scale;
  const Region region = region_of(frame, part);
  const bool bright = (argb >> 8 & 255) > 200;  // lime, not blue
  for (const auto &[r, score] : boxes) {
    if (label.empty()) break;
    char number[32];
    std::snprintf(number, sizeof number, " %.2f", static_cast<double>(static_cast<float>(score)));
    const std::string text = label + number;
    const int width = text_width(text, scale) + 2 * scale, right = region.x + region.width - width;
    const int x = std::max(region.x, std::min(r.x - (line_width - 1) / 2, right));
    int y = r.y - (line_width - 1) / 2 - height;
    if (y < region.y) y = r.y + line_width / 2 + 1;
    append_text(&primitives, text, x + scale, y + scale,
                {.scale = scale,
                 .color = color_in(frame, bright ? 0xff000000 : 0xffffffff),
                 .background = color_in(frame, argb)});
  }
  return with_primitives(frame, primitives, part);
}

// A file with a model of small windows, small parameters and random weights, in a temporary folder that the
// destructor removes. `change` can change the parameters. A file whose name ends in .txt is not written.
class ModelFile {
 public:
  explicit ModelFile(const std::string &name, const std::function<void(cv::HOGDescriptor &)> &change = {}) {
    char folder[] = "/tmp/cudahog-XXXXXX";
    EXPECT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
    hog_.winSize = {16, 24}, hog_.cellSize = {4, 4}, hog_.blockSize = {8, 8}, hog_.blockStride = {4, 4};
    hog_.winSigma = -1;
    if (change) change(hog_);
    std::vector<float> weights;
    Random random(5);
    for (std::size_t i = 0; i < hog_.getDescriptorSize(); ++i)
      weights.push_back(static_cast<float>(random.byte() - 127.5) / 400);
    weights.push_back(0.1f);
    hog_.setSVMDetector(weights);
    location_ = folder_ + "/" + name;
    if (!name.ends_with(".txt")) hog_.save(location_);
  }
  ModelFile(const ModelFile &) = delete;
  ModelFile &operator=(const ModelFile &) = delete;
  ~ModelFile() { std::filesystem::remove_all(folder_); }

  const std::string &location() const { return location_; }
  const cv::HOGDescriptor &opencv() const { return hog_; }

 private:
  std::string folder_, location_;
  cv::HOGDescriptor hog_;
};

}  // namespace cudavision::test
