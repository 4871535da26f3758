// SPDX-License-Identifier: LGPL-2.1-or-later
// Exemplar-based inpainting: fills a hole in a frame with patches that are copied from the rest of the frame.
//
// The method is that of A. Criminisi, P. Perez and K. Toyama, "Region Filling and Object Removal by Exemplar-Based
// Image Inpainting", IEEE Transactions on Image Processing 13(9), 2004. Everything that the paper leaves open is fixed
// here, so that both backends fill the same targets in the same order from the same sources:
//
// - The hole is the set of pixels whose mask is not 0, extended to whole samples of subsampled chroma.
// - Patches are compared by the 8-bit components R, G and B (YUV frames are converted with
//   InpaintFrame::matrix), by L*, a* and b*, or, in gray frames, by gray alone. The luma of a pixel is that
//   of cuda/luma/luma.h. Samples are copied unconverted, as they are stored in the frame.
// - The confidence C of a pixel is 65536 outside of the hole and 0 in it. The fill front is the set of
//   unfilled pixels with a filled neighbour to the left, right, above or below. On the front, C(p) is the sum
//   of C over the patch around p (cut at the border of the picture), divided by the number of pixels of that
//   patch, rounded down, and at least 1: the paper's confidence term.
// - The paper's data term is D(p) = |gx ny - gy nx| / (2 * 255 |n|). n is the Sobel gradient at p of the indicator of
//   unfilled pixels, with the picture's border pixels replicated outwards. (gx, gy) are the central differences of
//   luma, right minus left and lower minus upper. They are taken at the filled pixel of the patch, with all eight
//   neighbours filled, where gx^2 + gy^2 is largest; of equal ones at the first in row-major order.
// - The next target is the pixel of the front with the largest priority C(p) / 65536 (D(p) + 0.001), and of
//   equal ones the first in row-major order. The 0.001 keeps the priority above 0 in flat areas.
// - The target is filled from the patch with the smallest sum of squared differences over the target's filled
//   pixels, and of equal ones the first in row-major order. Candidates are the patches that lie completely in
//   the picture and outside of the hole; with a search_radius r above 0, only those at most r columns and r
//   rows away from the target, unless there are none. The filled pixels get the confidence of the target.
// - After max_patches patches, diffusion fills the remaining pixels. It works in layers from the outside
//   inwards: each pixel becomes the mean of those of its four neighbours that were filled before or belong to an
//   earlier layer. Then kSmoothingRounds times, all these pixels at once are replaced by the mean of their four
//   neighbours. Means are rounded half up.
//
// N. J. Pazos Mendez and D. R. Reyes Mesarra, "Procesamiento de imagenes en GPU" (a report of the course
// Organizacion del Computador II), describe the method on a GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"
#include "cuda/common/image.h"
#include "cuda/common/range.h"

namespace cudavision {

constexpr int kSmoothingRounds = 32;

struct InpaintRanges {
  static constexpr int kMaxInt = std::numeric_limits<int>::max();

  static constexpr Range<int> patch_size{3, 15};  // odd values only
  static constexpr Range<int> search_radius{0, kMaxInt};
  static constexpr Range<int> max_patches{0, kMaxInt};
  static constexpr Range<int> history{0, kMaxInt};
  static constexpr Range<int> learn_frames{1, 65535};
};

struct InpaintParams {
  // Width and height of a patch in pixels. Odd.
  int patch_size = 9;
  // How far away a source may be from its target, in columns and in rows. 0: anywhere in the picture.
  int search_radius = 0;
  // Compares patches in CIE L*a*b* instead of RGB.
  bool lab = false;
  // The largest number of patches per frame. 0 means unlimited.
  int max_patches = 0;
  // For a still camera: the pixels of the hole whose background earlier frames have shown are restored first, adapted
  // to the light of this frame (background_rules.h), and only the rest is filled.
  bool temporal = false;
  // The number of frames in the hole after which the background of a pixel is forgotten. 0 means never.
  int history = 0;
  // The background of a pixel is the value that it has shown in most frames in which it was not in the hole. Another
  // value becomes the background when the pixel has shown it in learn_frames successive frames, or in more frames than
  // the background. With 1, the first value that a pixel shows is its background.
  int learn_frames = 100;

  friend bool operator==(const InpaintParams &, const InpaintParams &) = default;
};

// The error names the parameter that is out of its range.
Status validate(const InpaintParams &params);

// Converts YUV to RGB in fixed point: R = (luma (Y - offset) + red_v (V - 128) + 2^13) >> 14, clipped to
// 0..255, and likewise G and B. The default is BT.601 in video range. Used for YUV frames only.
struct RgbMatrix {
  int offset = 16, luma = 19077, red_v = 26149, green_u = -6419, green_v = -13320, blue_u = 33050;
};

struct InpaintFrame {
  // Pixels of the hole are written, and the chroma samples that they share.
  Frame frame;
  // The alpha channel, which is set to opaque in the hole. Null data: alpha is not written.
  Component alpha;
  // height x width. Pixels whose mask is not 0 are filled.
  ImageView<const std::uint8_t> mask;
  RgbMatrix matrix;
};

// The result of a fill. All counts but `patches` are pixels of the hole.
struct InpaintReport {
  // The size of the hole.
  int removed = 0;
  // Pixels restored from earlier frames.
  int remembered = 0;
  int patches = 0;
  // Pixels filled by diffusion.
  int diffused = 0;
  // No patch lies outside of the hole, and earlier frames do not cover all of the hole. The frame is unchanged.
  bool refused = false;
  // The fill was stopped: the progress callback returned false, or Execution::stop asked for it. The frame is
  // unchanged.
  bool stopped = false;

  friend bool operator==(const InpaintReport &, const InpaintReport &) = default;
};

// One patch: the indices (y * width + x) of the centre pixels of the target and of its source.
struct FillStep {
  int target, source;

  friend bool operator==(const FillStep &, const FillStep &) = default;
};

// Receives the first `capacity` steps of a frame, in the backend's memory. InpaintReport::patches says how
// many there were.
struct FillLog {
  FillStep *steps = nullptr;
  int capacity = 0;
};

// Works on frames of one size. Not thread-safe: use one instance per stream.
class Inpaint {
 public:
  // Called after each patch, on the thread that called run(), with the number of filled pixels and the size
  // of the hole. Returning false stops the fill.
  using Progress = std::function<bool(int filled, int removed)>;

  virtual ~Inpaint() = default;

  // Fills the hole of the frame. Both backends give the same bytes, steps and report. Bytes outside of the
  // hole stay unchanged, and so does alpha unless InpaintFrame::alpha is given.
  //
  // The frame, the mask and the log lie in the backend's memory and must not overlap. The report lies in host
  // memory and is valid once the stream has been synchronised. progress may be null.
  //
  // CUDA: enqueues four kernels (five with params.temporal) and a copy of the report; the call waits for that
  // copy unless the report is in pinned memory. It allocates device memory only in the first temporal call.
  // It never calls progress: a fill on the GPU is stopped by Execution::stop.
  //
  // Errors: invalid parameters, a frame or mask of another size, and errors of the device. After an error the
  // next call starts without history.
  virtual Status run(const InpaintFrame &frame, const InpaintParams &params, InpaintReport *report,
                     const FillLog &log, const Progress &progress) = 0;
  // Forgets the background of earlier frames. The caller must call it if the next frame does not follow the last.
  virtual void drop_history() = 0;
};

// Scratch memory: about 18 bytes per pixel on CUDA and 28 on the CPU, and 18 more from the first temporal frame on. On
// CUDA, 7.5 of the 18 bytes are for holes whose state does not fit into the shared memory of a block; any frame may
// have such a hole. CUDA: returns an error if the device cannot run all blocks of the fill kernel at once.
Status make_inpaint(const Execution &execution, Size size, std::unique_ptr<Inpaint> *inpaint);

}  // namespace cudavision
