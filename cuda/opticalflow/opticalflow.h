// SPDX-License-Identifier: LGPL-2.1-or-later
// Dense optical flow by pyramidal Lucas-Kanade: for each pixel of one frame, its displacement to the next frame.
//
// The method is that of J.-Y. Bouguet, "Pyramidal Implementation of the Lucas Kanade Feature Tracker", Intel,
// 2000; the dense estimator is that of N. J. Pazos Mendez and D. R. Reyes Mesarra, "Procesamiento de imagenes
// en GPU". Every rule (Scharr derivatives, pyramid, window, stopping, rejection) is the rule of
// cv::calcOpticalFlowPyrLK, applied at every pixel and computed in float instead of fixed point:
//
// - The pyramid is built by cv::pyrDown, with 8 bits per pixel. It ends before the first level that is not
//   larger than the window in both directions.
// - I is a level of the previous frame and J the same level of the current frame. Ix and Iy are the Scharr
//   derivatives (weights 3 10 3) of I; they are zero outside the picture. S is the structure tensor: the sum
//   of (Ix, Iy)^T (Ix, Iy) over the window around the pixel, scaled by 2^-20.
// - The displacement d starts at 0 on the coarsest level, and on every other level at twice the vector of the next
//   coarser level, interpolated between its pixels. Each iteration adds the step S^-1 b: b is the sum of (Ix, Iy)^T
//   (I(q) - J(q + d)) over the pixels q of the window, scaled by 2^-15; J is interpolated bilinearly and mirrored
//   outside the picture. The iteration stops when a step is at most epsilon long, when two consecutive steps cancel to
//   within 0.01 pixels in x and in y (half of the last step is then taken back), or after `iterations` steps.
// - A level does not iterate if the smaller eigenvalue of S is less than min_eigenvalue times the number of
//   pixels of the window, or if the determinant of S is less than 2^-23. A level stops iterating as soon as d
//   moves the window completely out of the picture.
// - The vector of a pixel is valid if level 0 ended for neither of these two reasons.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/host_device.h"
#include "cuda/common/image.h"
#include "cuda/common/places.h"
#include "cuda/common/range.h"

namespace cudavision {

// A displacement in pixels per frame; x points right and y points down.
struct FlowVector {
  float x = 0, y = 0;

  friend bool operator==(const FlowVector &, const FlowVector &) = default;
};

// The ranges of OpticalFlowParams; both ends are allowed.
struct OpticalFlowRanges {
  static constexpr Range<int> window_size{5, 31};
  static constexpr Range<int> levels{0, 8};
  static constexpr Range<int> iterations{1, 100};
  static constexpr Range<double> epsilon{0, 10};
  static constexpr Range<double> min_eigenvalue{0, 16};
  static constexpr Range<double> forward_backward{0, 100};
};

struct OpticalFlowParams {
  int window_size = 21;          // side of the window in pixels; must be odd
  int levels = 3;                // levels of the pyramid above the frame itself (OpenCV's maxLevel)
  int iterations = 30;           // maximum number of steps on each level
  double epsilon = 0.01;         // pixels
  double min_eigenvalue = 1e-4;  // OpenCV's minEigThreshold
  int stride = 1;                // pixels from one vector to the next in x and y: 1, 2, 4 or 8
  // The forward-backward check: the flow from the current frame back to the previous one is computed too, and
  // read at the pixel that is nearest to the end of the vector. The vector is invalid if its sum with that
  // backward vector is longer than this many pixels. 0: no check.
  double forward_backward = 0;

  friend bool operator==(const OpticalFlowParams &, const OpticalFlowParams &) = default;
};

// The error names the parameter that is out of range.
Status validate(const OpticalFlowParams &params);

// Sets of parameters: `fast` for real time on a CPU, `quality` for the most accurate flow.
enum class OpticalFlowPreset { none, fast, medium, quality };
// `none` changes nothing. The others set all parameters except min_eigenvalue.
void apply_preset(OpticalFlowPreset preset, OpticalFlowParams *params);

// The size of the field of vectors of a frame: one vector for every stride-th column and row, starting with the first.
constexpr Size flow_size(Size frame, int stride) {
  return {divide_up(frame.width, stride), divide_up(frame.height, stride)};
}

// Computes the flow between consecutive frames of one size. Not thread-safe: use one instance per stream.
class OpticalFlow {
 public:
  virtual ~OpticalFlow() = default;

  // luma: the current frame, h x w, uint8; it is copied, and not read after the call. flow and valid have the
  // size flow_size(h x w, stride): element (i, j) of flow is the vector of pixel (stride i, stride j) of the
  // previous frame, and the element of valid is 1 if that vector is valid and 0 otherwise. All vectors are
  // finite. If there is no previous frame (at the first call, and after drop_previous()), flow and valid are
  // not written and may be empty. All images are in the backend's memory and must not overlap.
  //
  // places: the regions of the frame whose vectors are wanted. In them, the vectors are those of the whole frame;
  // elsewhere they are 0 and invalid.
  //
  // Both backends give the same bits. The flow of stride s is every s-th vector of the flow of stride 1. CUDA:
  // enqueues at most three kernels per level; after a frame of fewer levels, one more for each level from its last one
  // on; the forward-backward check enqueues at most two more per level and one at the end, and `places` one. Memory is
  // allocated only by the first call with that check. Errors: invalid parameters or sizes, and errors of the device;
  // after an error of the device there is no previous frame.
  virtual Status run(ImageView<const std::uint8_t> luma, const OpticalFlowParams &params,
                     ImageView<FlowVector> flow, ImageView<std::uint8_t> valid,
                     const Places &places = {}) = 0;
  virtual bool has_previous() const = 0;
  // The caller must call this if the next frame does not follow the last one.
  virtual void drop_previous() = 0;
};

// Scratch memory: about 11 bytes per pixel on the CPU and 30 on CUDA; the forward-backward check takes 8 more.
Status make_opticalflow(const Execution &execution, Size size, std::unique_ptr<OpticalFlow> *flow);

}  // namespace cudavision
