// SPDX-License-Identifier: LGPL-2.1-or-later
// Histograms of oriented gradients of a picture's blocks.
//
// Source: N. Dalal and B. Triggs, "Histograms of Oriented Gradients for Human Detection", CVPR 2005;
// "GHoGLib: a descriptor of oriented gradients on a GPU" (equations 3.1 to 3.13). The blocks of a picture lie
// on a grid; windows are never cut out of it. A block's histograms are the cells', one column of cells after
// the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"
#include "cuda/common/image.h"

namespace cudavision {

constexpr int kMaxHogBlockSide = 64;  // pixels
constexpr int kMaxHogBlockCells = 8;  // a side
constexpr int kMaxHogBins = 36;

enum class HogVariant {
  // cv::HOGDescriptor::compute to 1e-5: colours are the square roots of 0 to 255 with gamma; where channels
  // have gradients of one length the first of B, G, R counts, and in a row's last width modulo 4 pixels the
  // first of R, G, B; angles by fastAtan2's polynomial; votes are shared out between the cells of a block,
  // and weighted by a Gaussian.
  opencv,
  // The thesis: colours are the square roots of 0 to 255/256; exact angles; a vote goes to its own cell
  // alone.
  ghog,
};

// With e = 1e-5, of variant opencv 0.1 times the length of a block's histograms v:
enum class HogNorm {
  variant,  // l2_hys of opencv, l1_sqrt of ghog
  l2_hys,   // w = min(v / (|v|_2 + e), clip), then w / (|w|_2 + f), f = 1e-5, of variant opencv 1e-3
  l2,       // v / (|v|_2 + e)
  l1_sqrt,  // sqrt(v / (|v|_1 + e)): equation 3.13
  l1,       // v / (|v|_1 + e)
};

struct HogParams {
  HogVariant variant = HogVariant::opencv;
  Size cell{8, 8};               // pixels, each 1 to 64
  Size block{16, 16};            // pixels, 1 to 8 cells each way and at most 64 pixels
  Size stride{8, 8};             // from block to block, pixels, each 1 to 64
  int bins = 9;                  // 1 to 36
  bool signed_gradient = false;  // orientations over 2 pi instead of pi
  bool gamma = true;             // square roots of colours
  HogNorm norm = HogNorm::variant;
  // Of the Gaussian in pixels, 0.01 to 1000; 0: (block width + block height) / 8. Of variant opencv.
  double sigma = 0;
  double clip = 0.2;  // of l2_hys, more than 0 and at most 1

  friend bool operator==(const HogParams &, const HogParams &) = default;
};

// Says which value is out of its range.
Status validate(const HogParams &params);

// How many blocks lie wholly inside a picture, and how many numbers each has.
struct HogShape {
  int rows = 0, cols = 0, length = 0;

  std::size_t count() const {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) * static_cast<std::size_t>(length);
  }
  friend bool operator==(const HogShape &, const HogShape &) = default;
};
// Refuses pictures that hold no block.
Status hog_shape(Size picture, const HogParams &params, HogShape *shape);

// What is looked at: h x w pixels of one channel, or of three in the order R, G, B, in the backend's memory;
// those lie in rows of one pitch, from pixel to pixel one step, and none is subsampled.
struct HogPicture {
  int channels = 1;
  int width = 0, height = 0;
  Component component[3];

  Size size() const { return {width, height}; }
};
HogPicture hog_picture(ImageView<const std::uint8_t> luma);
// A region of a frame in RGB; of every other frame its luma.
HogPicture hog_picture(const Frame &frame, Region region);

// For pictures of one size and number of channels. Not thread-safe: one per stream.
class Hog {
 public:
  virtual ~Hog() = default;
  // blocks: [rows][cols][length] f32 in the backend's memory. Both backends agree to 1e-5. CUDA: enqueues one
  // kernel.
  virtual Status run(const HogPicture &picture, float *blocks) = 0;
};

Status make_hog(const Execution &execution, Size size, int channels, const HogParams &params,
                std::unique_ptr<Hog> *hog);

}  // namespace cudavision
