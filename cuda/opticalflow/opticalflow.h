// SPDX-License-Identifier: LGPL-2.1-or-later
// Optical flow: where every pixel of one frame went in the next, by pyramidal Lucas-Kanade.
//
// Source: "Canny, Hough, Lucas-Kanade and Criminisi on a GPU" for the dense estimator; J.-Y. Bouguet,
// "Pyramidal Implementation of the Lucas Kanade Feature Tracker", Intel 2000, for the method. Every rule
// (Scharr derivatives, pyramid, window, stopping, rejection) is that of cv::calcOpticalFlowPyrLK, applied at
// every pixel, in float instead of fixed point:
//
// - The pyramid is cv::pyrDown's, 8 bits a pixel. It ends before the level that would not be larger than the
//   window.
// - I is the previous frame's level and J this one's. Over the window around p, S = sum of (Ix, Iy)^T (Ix,
//   Iy), where Ix, Iy are Scharr's derivatives (weights 3 10 3) of I, zero outside the picture.
// - d starts as twice the coarser level's vector, interpolated between its pixels, and with 0 on the
//   coarsest. Then d += S^-1 sum of (Ix, Iy)^T (I(q) - J(q + d)), J bilinear and mirrored outside the
//   picture, until the step is at most epsilon long, or two steps cancel but for 0.01 px in x and y (then d
//   goes half a step back), or `iterations` steps are done.
// - A level leaves d as it is where S, scaled by 2^-20, has a smaller eigenvalue below min_eigenvalue times
//   the window's pixels or a determinant below 2^-23, and as soon as d takes the window out of the picture by
//   its whole width.
// - The flow of a pixel is valid when level 0 leaves it for neither reason.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/host_device.h"
#include "cuda/common/image.h"

namespace cudavision {

// Pixels per frame: x right, y down.
struct FlowVector {
  float x = 0, y = 0;

  friend bool operator==(const FlowVector &, const FlowVector &) = default;
};

// How the sums over the window are found; the flow is the same but for rounding.
enum class FlowMethod {
  plain,  // from every pixel of the window in every iteration
  // Sums of the four whole displacements around d, in integers, once for each cell of the grid of whole
  // displacements that d enters: within a cell they say what bilinear interpolation would (algebra in
  // flow_rules.h).
  cells,
  // The same integers, but where many neighbours need those of one displacement, from box filters over the
  // picture of the products: a pixel costs the same for every window. For stride 1 alone; other strides are
  // as cells.
  boxes,
};

constexpr int kMinFlowWindow = 5, kMaxFlowWindow = 31, kMaxFlowLevels = 8, kMaxFlowIterations = 100;

struct OpticalFlowParams {
  int window_size = 21;          // pixels a side: odd, kMinFlowWindow to kMaxFlowWindow
  int levels = 3;                // above the frame itself (OpenCV's maxLevel): 0 to kMaxFlowLevels
  int iterations = 30;           // on each level at most: 1 to kMaxFlowIterations
  double epsilon = 0.01;         // pixels: 0 to 10
  double min_eigenvalue = 1e-4;  // 0 to 16
  int stride = 1;                // pixels from one vector to the next: 1, 2, 4 or 8
  // Pixels whose flow, followed by the flow from this frame back to the previous one at the nearest pixel,
  // ends farther than this from where it began are invalid: 0 (no check) to 100 pixels.
  double forward_backward = 0;
  FlowMethod method = FlowMethod::boxes;

  friend bool operator==(const OpticalFlowParams &, const OpticalFlowParams &) = default;
};

// Says which value is out of its range.
Status validate(const OpticalFlowParams &params);

// Sets of parameters for those who want none: fast is for real time on a CPU, quality leaves little out.
enum class FlowPreset { none, fast, medium, quality };
// none: params stay as they are. Others set all but min_eigenvalue and method.
void apply_preset(FlowPreset preset, OpticalFlowParams *params);

// Of the field: one vector for each stride-th column and row, the first included.
constexpr Size flow_size(Size frame, int stride) {
  return {divide_up(frame.width, stride), divide_up(frame.height, stride)};
}

// Takes the frames of one size one after the other. Not thread-safe: one per stream.
class OpticalFlow {
 public:
  virtual ~OpticalFlow() = default;

  // luma: h x w, uint8, the next frame; it is copied, and never looked at again. flow, valid: flow_size(h x
  // w, stride): element (i, j) is the vector of pixel (stride i, stride j) of the previous frame, and 1 where
  // that is valid, 0 elsewhere. Vectors are finite everywhere. Without a previous frame (the first one, or
  // after drop_previous()) both stay as they are and may be empty. All in the backend's memory, not
  // overlapping.
  //
  // With FlowMethod::cells and boxes both backends give the same bits; with plain the order of sums differs.
  // The flow of stride s is every s-th vector of that of stride 1. CUDA: enqueues three kernels for each
  // level at most, and for the forward-backward check two more for each and another one. Allocates in the
  // first call with that check alone. Errors: invalid parameters or sizes, and the device's own; after those
  // of the device there is no previous frame.
  virtual Status run(ImageView<const std::uint8_t> luma, const OpticalFlowParams &params,
                     ImageView<FlowVector> flow, ImageView<std::uint8_t> valid) = 0;
  virtual bool has_previous() const = 0;
  // The next frame does not follow the last one.
  virtual void drop_previous() = 0;
};

// Scratch: about 11 bytes a pixel on the CPU, 19 on CUDA; the forward-backward check 8 more.
Status make_optical_flow(const Execution &execution, Size size, std::unique_ptr<OpticalFlow> *flow);

}  // namespace cudavision
