// SPDX-License-Identifier: LGPL-2.1-or-later
// Inpainting: what is removed from a picture is filled with patches of the rest.
//
// Source: A. Criminisi, P. Perez and K. Toyama, "Region Filling and Object Removal by Exemplar-Based Image
// Inpainting", IEEE Transactions on Image Processing 13(9), 2004, as in "Canny, Hough, Lucas-Kanade and
// Criminisi on a GPU". Every choice that the paper leaves open is fixed here, so that both backends fill in
// the same order from the same places:
//
// - The hole: the pixels where the mask is not 0, grown to whole samples of subsampled chroma.
// - A pixel is compared by its R, G and B (of YUV frames by the matrix that is given), or L, a and b, 8 bits
//   each; by its gray alone in gray frames. Its luma is that of luma/luma.h. Samples are copied as they are
//   in the frame.
// - Confidence C: 65536 outside of the hole, 0 within. The front: unfilled pixels with a filled one to the
//   left, right, above or below. There, C(p) = the sum of C over the patch around p (cut at the picture's
//   border), divided by the patch's pixels, rounded down, at least 1 (the paper's confidence term).
// - D(p) = |gx ny - gy nx| / (2 * 255 |n|): n is Sobel's gradient of the unfilled pixels around p, continued
//   over the picture's border by its last pixel; (gx, gy) the differences of luma from the left to the right
//   and from above to below, of the filled pixel in the patch with all eight neighbours filled where gx^2 +
//   gy^2 is largest, first in raster order (the paper's data term).
// - The next target is the front's pixel with the largest C(p) / 65536 (D(p) + 0.001), first in raster order.
//   The 0.001 lets flat areas go on.
// - It is filled from the patch with the least sum of squared differences over the target's filled pixels,
//   first in raster order, among those that lie in the picture and outside of the hole; with search_radius r,
//   among those at most r columns and r rows away, if there are any. The filled pixels get the confidence of
//   the target.
// - After max_patches patches the rest is filled by diffusion: layer after layer from outside, each pixel
//   with the mean of its neighbours of earlier layers, then kSmoothingRounds times every such pixel at once
//   with the mean of its four neighbours.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"
#include "cuda/common/image.h"

namespace cudavision {

constexpr int kMinPatchSize = 3, kMaxPatchSize = 15;
constexpr int kSmoothingRounds = 32;

struct InpaintParams {
  int patch_size = 9;     // pixels a side: odd, kMinPatchSize to kMaxPatchSize
  int search_radius = 0;  // pixels; 0: the whole picture
  bool lab = false;       // patches are compared in CIE L*a*b* instead of RGB
  int max_patches = 0;    // 0: no bound
  // A still camera: what was seen of the background in earlier frames is put back first, brought to this
  // frame's light; the rest is filled.
  bool temporal = false;
  int history = 0;  // frames after which what was seen is forgotten; 0: never

  friend bool operator==(const InpaintParams &, const InpaintParams &) = default;
};

// Says which value is out of its range.
Status validate(const InpaintParams &params);

// R = (luma (Y - offset) + red_v (V - 128) + 2^13) >> 14, and so on, clipped: for YUV frames alone. BT.601 in
// video range.
struct RgbMatrix {
  int offset = 16, luma = 19077, red_v = 26149, green_u = -6419, green_v = -13320, blue_u = 33050;
};

struct InpaintFrame {
  Frame frame;                         // pixels of the hole, and chroma samples that they share, are written
  Component alpha;                     // pixels of the hole become opaque; without data there is none
  ImageView<const std::uint8_t> mask;  // h x w: 0 stays
  RgbMatrix matrix;
};

// What was done, in pixels of the hole.
struct InpaintReport {
  int removed = 0;     // all of the hole
  int remembered = 0;  // taken from earlier frames
  int patches = 0;
  int diffused = 0;
  bool refused =
      false;  // there is no patch outside of the hole, and more than earlier frames know: the frame stays
  bool stopped = false;  // Progress wished so: the frame stays

  friend bool operator==(const InpaintReport &, const InpaintReport &) = default;
};

// A patch: the pixels y * width + x at the middle of the target and of its source.
struct FillStep {
  int target, source;

  friend bool operator==(const FillStep &, const FillStep &) = default;
};

// Where the first steps of a frame are written down, in the backend's memory; the report says how many there
// were.
struct FillLog {
  FillStep *steps = nullptr;
  int capacity = 0;
};

// Works on frames of one size. Not thread-safe: one per stream.
class Inpaint {
 public:
  // Called after each patch from the thread that runs: pixels that are filled, and those of the hole. False
  // ends the fill.
  using Progress = std::function<bool(int filled, int removed)>;

  virtual ~Inpaint() = default;

  // Fills the hole of the frame. Frame, mask and log lie in the backend's memory and do not overlap; report
  // in the host's, it is there when the stream has been synchronised. Bytes outside of the hole, and alpha
  // without InpaintFrame::alpha, stay. Both backends give the same bytes, steps and report. progress may be
  // null; CUDA never calls it: there a fill runs to its end. CUDA: enqueues kernels and a copy of the report,
  // for which the call waits where report is not page-locked; allocates in the first temporal call alone.
  // After a failure the next call begins anew, without history. Errors: invalid parameters, a mask of another
  // size, and the device's own.
  virtual Status run(const InpaintFrame &frame, const InpaintParams &params, InpaintReport *report,
                     const FillLog &log, const Progress &progress) = 0;
  // The next frame does not follow the last one: forgets what was seen.
  virtual void drop_history() = 0;
};

// Scratch: about 28 bytes a pixel, and 10 more from the first temporal frame on. On CUDA 16 of the 28 are for
// holes that are too wide for a block's shared memory: they may come with any frame. CUDA: an error where the
// device cannot run all blocks of the filling at once.
Status make_inpaint(const Execution &execution, Size size, std::unique_ptr<Inpaint> *inpaint);

}  // namespace cudavision
