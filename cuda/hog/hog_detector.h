// SPDX-License-Identifier: LGPL-2.1-or-later
// Object detection with histograms of oriented gradients and a linear model, at all scales of a picture.
//
// N. Dalal and B. Triggs, "Histograms of Oriented Gradients for Human Detection", CVPR 2005. With the variant
// opencv it finds what cv::HOGDescriptor::detectMultiScale of OpenCV 4.6 finds: the scales are the same, the
// scaled pictures are the same bytes (those of cv::resize with INTER_LINEAR_EXACT), scores agree to 1e-4, and if the
// hits are the same, so are the boxes and their order (that of OpenCV with one thread). OpenCV does not search enlarged
// pictures, and its boxes are whole windows.
//
// Both backends give the same boxes and the same bits of their scores.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/common/places.h"
#include "cuda/hog/hog.h"

namespace cudavision {

constexpr int kMaxHogWindowSide = 2048;                       // pixels
constexpr std::size_t kMaxHogWeights = std::size_t{1} << 25;  // weights of a model
constexpr int kMaxHogLevels = 256;                            // scales
constexpr int kMaxHogHits = 4096;                             // windows whose score reaches the threshold

// A part of a rectangle, in shares of its width and height.
struct HogPart {
  double x = 0, y = 0, width = 1, height = 1;

  friend bool operator==(const HogPart &, const HogPart &) = default;
};

// A linear model. The score of a window is the scalar product of its blocks' descriptors and the weights,
// plus the bias.
struct HogModel {
  HogParams params;
  Size window{64, 128};  // pixels; each side is the block's plus a whole number of strides
  int levels = 64;       // the maximum number of scales
  // In column-major order of the window's blocks: the blocks of the first column from top to bottom, then the next one.
  std::vector<float> weights;
  float bias = 0;
  HogPart object = {};   // the part of the window that an object fills
  double min_scale = 1;  // the scale from which on objects are usually searched
};
// The number of weights of a window of this size. Fails if the parameters are invalid, if the window is not a
// block plus whole strides, and if there would be more than kMaxHogWeights.
Status hog_weight_count(const HogParams &params, Size window, std::size_t *count);
// Fails if a parameter is out of its range, if the number of weights is not hog_weight_count(), or if a
// weight or the bias is not finite.
Status validate(const HogModel &model);

// The scales are first * scale_step^i, i = 0, 1, ..., where `first` is the smaller one of 1 and min_scale, as long as
// the picture that is scaled down by that holds a window, and i is less than HogModel::levels. At scales below 1 the
// picture is enlarged, by the same bilinear interpolation. Only those scales are searched that lie between min_scale
// and max_scale, and at which no side of the picture has more than kMaxSide pixels.
struct HogSearch {
  double scale_step = 1.05;             // ratio of neighbouring scales; 1: only the first one
  double min_scale = 1, max_scale = 0;  // max_scale is at least min_scale, or 0 for no limit
  int win_stride = 8;  // distance between neighbouring windows in pixels of the scaled picture

  friend bool operator==(const HogSearch &, const HogSearch &) = default;
};
Status validate(const HogSearch &search);

// The number of windows at all scales of pictures of that size. The model and the search are valid.
std::int64_t hog_window_count(Size size, const HogModel &model, const HogSearch &search);
// A score that no window exceeds, whatever the picture shows.
double hog_score_bound(const HogModel &model);

enum class HogGrouping {
  mean,  // similar hits form a group, as in cv::HOGDescriptor::groupRectangles; its box is their mean
  // Non-maximum suppression: the best hit and all hits that overlap it form a group, then the best of the remaining
  // hits does so, and so on. The box of a group is its best hit. Hits overlap if the objects in their windows do
  // (HogModel::object), with an intersection over union of at least 0.2: windows of neighbours overlap by much more.
  best
};
// The parameters that can differ from frame to frame.
struct HogThresholds {
  double hit = 0;  // a window is a hit if its score is at least this
  int group = 2;   // a group of more hits than this gives a box; 0 with mean: every hit is a box
  HogGrouping grouping = HogGrouping::mean;
  HogPart object = {};        // the part of a window that the object fills
  bool whole_windows = true;  // boxes are windows; otherwise that part of windows, or of their means

  CUDAVISION_HOST_DEVICE constexpr bool list_all_hits() const {
    return group == 0 && grouping == HogGrouping::mean;
  }
  CUDAVISION_HOST_DEVICE constexpr HogPart part_of_box() const { return whole_windows ? HogPart() : object; }
  friend bool operator==(const HogThresholds &, const HogThresholds &) = default;
};

struct HogDetectorRanges {
  static constexpr Range<int> window_side{1, kMaxHogWindowSide};  // pixels
  static constexpr Range<int> levels{1, kMaxHogLevels};
  static constexpr Range<double> scale_step{1, 10}, min_scale{0.25, 16384}, max_scale{0, 16384};
  static constexpr Range<int> win_stride{1, 512};  // pixels
  // The ranges of the element's properties; run() accepts every value.
  static constexpr Range<double> hit_threshold{-1000, 1000};
  static constexpr Range<int> group_threshold{0, kMaxHogHits};
};

// A box in pixels of the picture, clipped to the picture. The score of a group is that of its best hit.
struct HogBox {
  int x, y, width, height;
  float score;

  friend bool operator==(const HogBox &, const HogBox &) = default;
};
struct HogBoxCount {
  int listed;  // the number of boxes that were written
  int hits;    // the number of all hits, even if it exceeds kMaxHogHits
};
// The result, in the backend's memory. The caller must provide kMaxHogHits boxes, of which run() writes the
// first count->listed.
struct HogBoxList {
  HogBox *boxes;
  HogBoxCount *count;
};

// Detects objects in pictures of one size and number of channels. Not thread-safe: one instance per stream.
class HogDetector {
 public:
  virtual ~HogDetector() = default;
  // Lists the boxes of the objects in a picture. Hits are ordered by scale, from the smallest one on, and within a
  // scale in row-major order of the windows. If there are more than kMaxHogHits, the first kMaxHogHits are used. Boxes
  // are ordered by the first hits of their groups; with HogGrouping::best, by descending score and then by the order of
  // the hits.
  // places: a window is searched if its centre lies in a region. At scale s, along x, this means that x / s <= column +
  // window.width / 2 < (x + width) / s, where `column` is the window's first column in the scaled picture; the same
  // rule holds along y. The windows are those of the whole picture's grid, and have the same scores as in a search
  // everywhere. Only the blocks of these windows are computed (CUDA: the tiles that hold them).
  // CUDA: enqueues five kernels for all scales together, one fewer without grouping and one more for three channels, or
  // a memset if there is no window to search. Errors: a picture of another size or number of channels than given to
  // make_hog_detector, a region that is not within the picture, and the device's own errors.
  virtual Status run(const HogPicture &picture, const HogThresholds &thresholds, const HogBoxList &list,
                     const Places &places = {}) = 0;
};

// Pictures that hold no window are accepted; nothing is found in them. channels: 1 or 3. Scratch memory: CUDA, for all
// scales together, a byte per pixel (4 with three channels) and the descriptors of all blocks, and with three channels
// 4 bytes per pixel of the picture; CPU, a copy of the picture, at most three times the descriptors of the scale with
// the most blocks, and the scores of all windows.
Status make_hog_detector(const Execution &execution, Size size, int channels, const HogModel &model,
                         const HogSearch &search, std::unique_ptr<HogDetector> *detector);

}  // namespace cudavision
