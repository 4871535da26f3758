// SPDX-License-Identifier: LGPL-2.1-or-later
// Local histograms: one of every window of a picture, of its brightness or of its oriented gradients.
//
// Source: "Algorithm of fast computation of local image histograms on video card" (Trotski and Zalesky,
// Informatics 16-1, 2019), equations 1 and 2. A window is named by its top left pixel; those that lie wholly
// inside the picture are computed. Bins: brightness v belongs to floor(v L / 256); a gradient to the bin of
// its angle, exactly (gradient/orientation.h). A zero gradient has no angle and is not counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/image.h"
#include "cuda/gradient/samples.h"

namespace cudavision {

constexpr int kMaxWindowSide = 1024, kMaxBrightnessBins = 256, kMaxGradientBins = 360;

enum class LocalFeature { brightness, gradient };

// How the histograms lie in memory.
enum class HistogramLayout {
  interleaved,  // [rows][cols][bins]
  planar,       // [bins][rows][cols]
};

// What becomes of each window's histogram h, with sum T and shares p_i = h_i / T.
enum class LocalReduction {
  none,      // it is written
  argmax,    // the bin that holds most, the first of equals, and its share; 0 and 0 where T = 0
  entropy,   // - sum p_i log2 p_i, in bits; 0 where T = 0
  distance,  // L1 distance to a model's shares, sum |p_i - m_i|, 0 to 2; where T = 0 all p_i are 0
};

struct LocalHistogramParams {
  LocalFeature feature = LocalFeature::gradient;
  GradientOperator op = GradientOperator::sobel;  // of gradients
  GradientWeight weight = GradientWeight::count;  // of gradients: equation 1, or 2 left and right
  int bins = 9;                                   // 1 to 256 of brightness, 1 to 360 of gradients
  Size window{16, 16};                            // pixels, each 1 to 1024
  int stride_x = 1, stride_y = 1;                 // pixels, each 1 to 1024
  HistogramLayout layout = HistogramLayout::interleaved;
  LocalReduction reduction = LocalReduction::none;

  friend bool operator==(const LocalHistogramParams &, const LocalHistogramParams &) = default;
};

Status validate(const LocalHistogramParams &params);

// The numbers of histograms that are written: counts where a window's area fits them, weighted sums as f32.
enum class HistogramElement { u16, u32, f32 };

struct LocalHistogramShape {
  int rows = 0, cols = 0;  // of windows
  HistogramElement element = HistogramElement::u16;
  std::size_t histogram_bytes = 0;  // of all histograms: what reduction none writes
};
// For pictures of this size, which must hold a window at least.
Status shape_of(Size picture, const LocalHistogramParams &params, LocalHistogramShape *shape);

// Bytes of scratch that a room holds; nothing is allocated.
std::size_t scratch_bytes(const Execution &execution, Size picture, const LocalHistogramParams &params);

// Where a room writes: what its reduction has, in the backend's memory; all else is null. Aligned for its
// type.
struct LocalHistogramOutput {
  void *histograms = nullptr;       // none: as the layout says, of the shape's element type
  std::uint16_t *argmax = nullptr;  // argmax: [rows][cols]
  float *value = nullptr;           // [rows][cols]: argmax: the share; entropy; distance
};

// For pictures of one size and one set of parameters. Not thread-safe: one per stream.
class LocalHistogram {
 public:
  virtual ~LocalHistogram() = default;
  // luma: of the size given to make_local_histogram. model: for distance, [bins] f32, what take_model wrote;
  // otherwise null. Counts, sums in fixed point, argmax and shares are exact: equal on both backends and for
  // every order of threads; entropy and distance agree to 1e-4. CUDA: enqueues one kernel for brightness, two
  // for gradients.
  virtual Status run(ImageView<const std::uint8_t> luma, const LocalHistogramOutput &output,
                     const float *model) = 0;
  // model: [bins] f32 in the backend's memory, becomes the shares of the histogram of a region of luma, all 0
  // where nothing is counted in it. region: at least one pixel, within luma. CUDA: enqueues as many kernels
  // as run.
  virtual Status take_model(ImageView<const std::uint8_t> luma, Region region, float *model) = 0;
};

Status make_local_histogram(const Execution &execution, Size size, const LocalHistogramParams &params,
                            std::unique_ptr<LocalHistogram> *room);

}  // namespace cudavision
