// SPDX-License-Identifier: LGPL-2.1-or-later
// Histograms of oriented gradients (HOG): the descriptors of all blocks of a picture.
//
// N. Dalal and B. Triggs, "Histograms of Oriented Gradients for Human Detection", CVPR 2005; and, for the
// variant ghog, M. T. Lopes, "Histograma de gradientes orientados utilizando processamento paralelo em GPU",
// thesis, Universidade Tecnológica Federal do Paraná, 2015 (the library GHoGLib), equations 3.1 to 3.13.
//
// The blocks lie on one regular grid over the whole picture, not in separate detection windows. The descriptor of a
// block is the concatenation of the histograms of its cells in column-major order: the cells of the first column from
// top to bottom, then those of the next column.
//
// Both backends give the same bytes, because they add floats in the same order (hog_rules.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"
#include "cuda/common/image.h"
#include "cuda/common/range.h"

namespace cudavision {

constexpr int kMaxHogBlockSide = 64;  // pixels
constexpr int kMaxHogBlockCells = 8;  // cells along one side of a block
constexpr int kMaxHogBins = 36;

enum class HogVariant {
  // Agrees with cv::HOGDescriptor::compute to 1e-5. With gamma, colours are the square roots of 0 to 255. If
  // the gradients of several channels have the same length, the first channel of B, G, R counts; in the last
  // (width modulo 4) pixels of a row it is the first of R, G, B. Angles come from the polynomial of
  // cv::fastAtan2. Each vote is interpolated between the cells of the block and weighted by a Gaussian.
  opencv,
  // As in the thesis. With gamma, colours are the square roots of 0 to 255/256. Angles are exact to 6e-7 radians. Each
  // vote goes only to the cell of its pixel.
  ghog,
};

// How the descriptor v of a block is normalised. e is 1e-5, or for the variant opencv 0.1 times the length of v.
enum class HogNorm {
  variant,  // l2_hys for the variant opencv, l1_sqrt for ghog
  l2_hys,   // w = min(v / (|v|_2 + e), clip), then w / (|w|_2 + f); f is 1e-5, or 1e-3 for the variant opencv
  l2,       // v / (|v|_2 + e)
  l1_sqrt,  // sqrt(v / (|v|_1 + e)): equation 3.13 of the thesis
  l1,       // v / (|v|_1 + e)
};

struct HogParams {
  HogVariant variant = HogVariant::opencv;
  Size cell{8, 8};               // pixels
  Size block{16, 16};            // pixels; a whole number of cells in each direction
  Size stride{8, 8};             // distance between neighbouring blocks in pixels
  int bins = 9;                  // orientations of a cell
  bool signed_gradient = false;  // orientations cover 2 pi instead of pi
  bool gamma = true;             // replaces each colour by its square root
  HogNorm norm = HogNorm::variant;
  // Standard deviation of the Gaussian of the variant opencv, in pixels. 0: (block width + block height) / 8.
  double sigma = 0;
  double clip = 0.2;  // the threshold of l2_hys: more than 0 and at most 1

  friend bool operator==(const HogParams &, const HogParams &) = default;
};

// Each range holds for the width and for the height.
struct HogRanges {
  static constexpr Range<int> cell_side{1, kMaxHogBlockSide}, block_side{1, kMaxHogBlockSide},
      stride{1, kMaxHogBlockSide};                                // pixels
  static constexpr Range<int> block_cells{1, kMaxHogBlockCells};  // cells along one side of a block
  static constexpr Range<int> bins{1, kMaxHogBins};
  static constexpr Range<double> sigma{0.01, 1000};  // pixels; 0 is also valid
};

// The error names the parameter that is out of its range.
Status validate(const HogParams &params);

// The number of blocks that lie wholly inside a picture, and the length of a block's descriptor.
struct HogShape {
  int rows = 0, cols = 0, length = 0;

  std::size_t count() const {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) * static_cast<std::size_t>(length);
  }
  friend bool operator==(const HogShape &, const HogShape &) = default;
};
// Fails for invalid parameters and for pictures that are smaller than a block.
Status hog_shape(Size picture, const HogParams &params, HogShape *shape);

// The input: height x width pixels with one channel, or with three channels in the order R, G, B, in the backend's
// memory. All channels have the same pitch and the same step from pixel to pixel, and none is subsampled.
struct HogPicture {
  int channels = 1;
  int width = 0, height = 0;
  Component component[3];

  Size size() const { return {width, height}; }
};
HogPicture hog_picture(ImageView<const std::uint8_t> luma);
// The region of a frame: in colour if the frame is RGB, otherwise its luma.
HogPicture hog_picture(const Frame &frame, Region region);

// Computes blocks of pictures of one size and number of channels. Not thread-safe: one instance per stream.
class Hog {
 public:
  virtual ~Hog() = default;
  // Writes the descriptors to blocks: [rows][cols][length] of float in the backend's memory, without padding (see
  // hog_shape()). input: when the picture is complete in device memory (execution.h). CUDA: enqueues one kernel.
  // Errors: a picture of another size or number of channels than given to make_hog, channels of different pitch or
  // step, and the device's own errors.
  virtual Status run(const HogPicture &picture, float *blocks, Input input = Input::in_stream_order) = 0;
};

// channels: 1 or 3.
Status make_hog(const Execution &execution, Size size, int channels, const HogParams &params,
                std::unique_ptr<Hog> *hog);

}  // namespace cudavision
