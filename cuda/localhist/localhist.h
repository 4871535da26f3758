// SPDX-License-Identifier: LGPL-2.1-or-later
// Local histograms: the histogram of brightness, or of oriented gradients, of every window of a picture.
//
// The algorithm is that of Trotski and Zalesky, "Algorithm of fast computation of local image histograms on
// video card", Informatics 16-1, 2019; equations 1 and 2 define the histograms. A window is named by its top
// left pixel, and only windows that lie completely inside the picture are computed. Brightness v belongs to
// bin floor(v L / 256), where L is the number of bins; a gradient belongs to the bin of its angle, computed
// exactly (cuda/gradient/orientation_rules.h). A zero gradient has no angle and is not counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/image.h"
#include "cuda/common/range.h"
#include "cuda/gradient/gradient.h"

namespace cudavision {

enum class LocalHistFeature { brightness, gradient };

// The order of the numbers of all histograms in memory.
enum class LocalHistLayout {
  interleaved,  // [rows][cols][bins]
  planar,       // [bins][rows][cols]
};

// The reduction of each window's histogram h, with the sum T of all bins and the shares p_i = h_i / T.
enum class LocalHistReduction {
  none,      // the histogram itself
  argmax,    // the bin with the largest sum (the first one of a tie) and its share; 0 and 0 if T = 0
  entropy,   // - sum p_i log2 p_i, in bits; 0 if T = 0
  distance,  // L1 distance to the shares of a model, sum |p_i - m_i|, 0 to 2; if T = 0, all p_i are 0
};

// The ranges of LocalHistParams; both ends are allowed.
struct LocalHistRanges {
  static constexpr Range<int> bins{1, 360};             // of gradients
  static constexpr Range<int> brightness_bins{1, 256};  // of brightness
  static constexpr Range<int> window_side{1, 1024};     // pixels; width and height
  static constexpr Range<int> stride{1, 1024};          // pixels; in x and y
};

struct LocalHistParams {
  LocalHistFeature feature = LocalHistFeature::gradient;
  GradientOperator op = GradientOperator::sobel;  // only for gradients
  // Only for gradients. count is equation 1 of the paper; magnitude is the left form of its equation 2, and
  // sqrt_magnitude the right form.
  GradientWeight weight = GradientWeight::count;
  int bins = 9;
  Size window{16, 16};             // pixels
  int stride_x = 1, stride_y = 1;  // pixels from one window to the next
  LocalHistLayout layout = LocalHistLayout::interleaved;
  LocalHistReduction reduction = LocalHistReduction::none;

  friend bool operator==(const LocalHistParams &, const LocalHistParams &) = default;
};

// Returns an error that names the parameter that is out of range.
Status validate(const LocalHistParams &params);

// The type of the numbers of a histogram: u16 for counts if the area of a window fits it, otherwise u32; f32
// for weighted sums.
enum class LocalHistElementType { u16, u32, f32 };

struct LocalHistShape {
  int rows = 0, cols = 0;  // of windows
  LocalHistElementType element = LocalHistElementType::u16;
  std::size_t histogram_bytes = 0;  // the size of all histograms, which LocalHistReduction::none writes
};
// Computes the shape for pictures of this size. Returns an error if a parameter is out of range, or if the
// window is larger than the picture.
Status shape_of(Size picture, const LocalHistParams &params, LocalHistShape *shape);

// Output arrays in the backend's memory, aligned for their element types. Each comment names the reductions that write
// the array. The caller must set the pointers that the chosen reduction needs; the others are null.
struct LocalHistOutput {
  void *histograms = nullptr;       // none: numbers of the shape's element type, in the layout's order
  std::uint16_t *argmax = nullptr;  // argmax: [rows][cols]
  float *value = nullptr;           // [rows][cols]; argmax: its share; entropy, distance: the result
};

// Computes the local histograms of pictures of one size, with one set of parameters. The parameters belong to the
// object because its scratch memory and its tiles are chosen for them. Not thread-safe: use one instance per stream.
class LocalHist {
 public:
  virtual ~LocalHist() = default;
  // luma: a picture of the size given to make_localhist. model: for the reduction `distance` [bins] f32,
  // written by take_model; null for the other reductions.
  //
  // Precision: histograms (counts, and weighted sums in fixed point), argmax and its share come from exact
  // integer sums. Entropy and distance are sums of rounded f32 terms in the order of the bins. Both backends write
  // the same bytes, for every order of threads.
  //
  // input: when luma is complete; ignored for brightness, which reads luma in stream order. Returns an error if luma
  // has another size, or if a pointer that the reduction needs is null. CUDA: enqueues one kernel for brightness and
  // two for gradients. For windows of 64 rows or more it enqueues one more if the bins (and their sum, if the reduction
  // needs it) take at most 16 words of two counts or one weight each.
  virtual Status run(ImageView<const std::uint8_t> luma, const LocalHistOutput &output, const float *model,
                     Input input = Input::in_stream_order) = 0;
  // model: [bins] f32 in the backend's memory; receives the shares of the histogram of a region of luma, all
  // 0 if nothing is counted in it. region: at least one pixel, within luma. CUDA: enqueues as many kernels as
  // run(), without the one for high windows.
  virtual Status take_model(ImageView<const std::uint8_t> luma, Region region, float *model) = 0;
};

Status make_localhist(const Execution &execution, Size size, const LocalHistParams &params,
                      std::unique_ptr<LocalHist> *localhist);

}  // namespace cudavision
