// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds objects with histograms of oriented gradients and a linear model, at all scales of a picture.
//
// Source: N. Dalal and B. Triggs, "Histograms of Oriented Gradients for Human Detection", CVPR 2005; with
// parameters of variant opencv what cv::HOGDescriptor::detectMultiScale finds (OpenCV 4.6): the same scales,
// pictures shrunk to the same bytes, scores to 1e-4, and with equal hits the same boxes, in their order when
// OpenCV runs in one thread.
#pragma once

#include <memory>
#include <vector>

#include "cuda/hog/hog.h"

namespace cudavision {

constexpr int kMaxHogWindowSide = 2048;                       // pixels
constexpr std::size_t kMaxHogWeights = std::size_t{1} << 25;  // of a window
constexpr int kMaxHogLevels = 256;                            // scales
constexpr int kMaxHogHits = 4096;  // windows that are looked at once their score reaches the threshold

// A window's score is the sum of its blocks' numbers times the weights, plus the bias. The blocks come column
// after column.
struct HogModel {
  HogParams params;
  Size window{64, 128};  // pixels: a block, and whole strides more; each at most kMaxHogWindowSide
  int levels = 64;       // scales at most, 1 to kMaxHogLevels
  std::vector<float> weights;
  float bias = 0;
};
// How many weights windows of this size have; refuses sizes that are not a block and whole strides, and more
// than kMaxHogWeights.
Status hog_weight_count(const HogParams &params, Size window, std::size_t *count);
// Refuses what is out of range, weights of another number, and numbers that are not finite.
Status validate(const HogModel &model);

struct HogSearch {
  double scale_step = 1.05;  // from scale to scale, 1 to 10; with 1 there is one scale
  // Pictures are shrunk by scale_step^i, i = 0, 1, ..., as long as they hold a window; of these the scales
  // from min_scale (1 or more) to max_scale count (0: no limit; otherwise at least min_scale).
  double min_scale = 1, max_scale = 0;
  int win_stride = 8;  // from window to window in pixels of the shrunk picture, 1 to 512

  friend bool operator==(const HogSearch &, const HogSearch &) = default;
};
Status validate(const HogSearch &search);

// What may differ from frame to frame.
struct HogThresholds {
  double hit = 0;  // a window is a hit when its score is at least this
  int group = 2;   // more hits than this make a box; 0: every hit is one

  friend bool operator==(const HogThresholds &, const HogThresholds &) = default;
};

// Pixels of the picture, within it. The score of a group is that of its best window.
struct HogBox {
  int x, y, width, height;
  float score;

  friend bool operator==(const HogBox &, const HogBox &) = default;
};
struct HogBoxCount {
  int listed;  // boxes
  int hits;    // windows; of more than kMaxHogHits the first ones count, from scale 1 on, row by row
};
// What run() writes, in the backend's memory: boxes, room for kMaxHogHits, of which the first count->listed
// are written.
struct HogBoxList {
  HogBox *boxes;
  HogBoxCount *count;
};

// For pictures of one size and number of channels. Not thread-safe: one per stream.
class HogDetector {
 public:
  virtual ~HogDetector() = default;
  // CUDA: enqueues four kernels for all scales together.
  virtual Status run(const HogPicture &picture, const HogThresholds &thresholds, const HogBoxList &list) = 0;
};

// Pictures that hold no window are accepted: nothing is found in them. Scratch: CUDA, for all scales, 4 bytes
// a pixel and the numbers of all blocks; CPU, of the largest scale alone.
Status make_hog_detector(const Execution &execution, Size size, int channels, const HogModel &model,
                         const HogSearch &search, std::unique_ptr<HogDetector> *detector);

}  // namespace cudavision
