// SPDX-License-Identifier: LGPL-2.1-or-later
// Background subtraction with an adaptive mixture of Gaussians for each pixel: finds the pixels of a frame that differ
// from what a still camera has seen there for some time. Masks and backgrounds equal those of OpenCV's CPU class,
// cv::createBackgroundSubtractorMOG2, byte for byte.
//
// The method is that of Z. Zivkovic, "Improved adaptive Gaussian mixture model for background subtraction", ICPR 2004,
// and of Z. Zivkovic and F. van der Heijden, "Efficient adaptive density estimation per image pixel for the task of
// background subtraction", Pattern Recognition Letters 27, 2006. A pixel has up to `mixtures` Gaussians, called modes,
// each with a weight, a variance and a mean of each channel. What the papers leave open is fixed as OpenCV does:
//
// - All numbers are floats, and every operation is rounded. Sums over modes and channels run in their order.
// - The first mode whose squared distance to the pixel is less than var_threshold_gen variances learns the pixel. It
//   then moves before the modes that do not have a larger weight. If no mode learns the pixel, the pixel becomes a new
//   mode, in place of the last one if there are `mixtures` modes.
// - The pixel is background if its distance to one of the modes up to the one that learns is less than var_threshold
//   variances, and the weights of the modes before that one add up to less than background_ratio.
// - Another pixel is a shadow if it is a mode of the background, dimmed by a factor between shadow_threshold and 1
//   (A. Prati, I. Mikic, M. Trivedi and R. Cucchiara, "Detecting moving shadows: algorithms and evaluation", IEEE
//   Transactions on Pattern Analysis and Machine Intelligence 25(7), 2003). In the first frame every pixel but black
//   ones counts as a shadow.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"
#include "cuda/common/image.h"
#include "cuda/common/memory_budget.h"
#include "cuda/common/range.h"

namespace cudavision {

constexpr int kMaxMixtures = 8;
// The value of foreground in a mask. Background is 0, and a shadow is BgsubParams::shadow_value.
constexpr std::uint8_t kForeground = 255;

struct BgsubRanges {
  static constexpr Range<int> mixtures{1, kMaxMixtures};
  static constexpr Range<int> history{1, 1000000};
  static constexpr Range<double> learning_rate{-1, 1};
  // var_threshold and var_threshold_gen are squared distances divided by the variance.
  static constexpr Range<double> var_threshold{0, 1e6}, var_threshold_gen{0, 1e6};
  static constexpr Range<double> background_ratio{0, 1};
  static constexpr Range<double> variance{0.01, 65025};  // var_init, var_min, var_max
  static constexpr Range<double> complexity_reduction{0, 1};
  static constexpr Range<int> shadow_value{0, 255};
  static constexpr Range<double> shadow_threshold{0, 1};
};

// The defaults are those of OpenCV.
struct BgsubParams {
  // The number of frames that the background is made of, if learning_rate is negative.
  int history = 500;
  // The part of a mode's weight that comes from this frame. Negative: 1 / min(2 n, history) in the n-th frame of the
  // model. 1: the model starts anew with this frame.
  double learning_rate = -1;
  double var_threshold = 16, var_threshold_gen = 9;
  double background_ratio = 0.9;
  // The variance of a new mode, and the limits of what it can become; the lesser one of var_min and var_max is the
  // lower limit.
  double var_init = 15, var_min = 4, var_max = 75;
  // The part of the learning rate that a weight loses in each frame. A mode without weight is removed.
  double complexity_reduction = 0.05;
  bool detect_shadows = true;
  int shadow_value = 127;
  double shadow_threshold = 0.5;

  friend bool operator==(const BgsubParams &, const BgsubParams &) = default;
};

// Returns an error that names the parameter that is out of its range.
Status validate(const BgsubParams &params);
// The learning rate of the next frame of a model that has learnt so many frames.
double bgsub_rate(const BgsubParams &params, std::int64_t frames);

// A view of pixels: channel c of pixel (x, y) is the byte data[y * pitch_bytes + x * step_bytes + c].
template <typename Byte>
struct BgsubPixels {
  Byte *data = nullptr;
  std::ptrdiff_t pitch_bytes = 0;
  int step_bytes = 1;
  int channels = 1;  // 1 or 3
  int width = 0, height = 0;

  Size size() const { return {width, height}; }
  template <typename Other>
  requires std::is_same_v<Other, const Byte>
  operator BgsubPixels<Other>() const { return {data, pitch_bytes, step_bytes, channels, width, height}; }
};
using BgsubPicture = BgsubPixels<const std::uint8_t>;
BgsubPicture bgsub_picture(ImageView<const std::uint8_t> luma);
// A view of a region of a frame: R, G and B in their order in memory. frame.model must be rgb.
BgsubPixels<std::uint8_t> bgsub_picture(const Frame &frame, Region region);

// The layout of a model in memory, which is the same on both backends. Each row of the picture has `mixtures` modes;
// each mode has the fields weight, variance and mean of each channel; each field has pitch() floats, one for each pixel
// of the row.
struct BgsubShape {
  static constexpr int kRowMultiple = 32;  // pitch() is a multiple of this many pixels

  Size size;
  int channels = 1, mixtures = 1;

  constexpr int fields() const { return 2 + channels; }
  constexpr std::size_t pitch() const {
    return static_cast<std::size_t>(divide_up(size.width, kRowMultiple) * kRowMultiple);
  }
  constexpr std::size_t pixel_count() const { return pitch() * static_cast<std::size_t>(size.height); }
  constexpr std::size_t mode_count() const {  // floats of all modes
    return pixel_count() * static_cast<std::size_t>(mixtures * fields());
  }
  constexpr std::size_t count_at(int x, int y) const {
    return static_cast<std::size_t>(y) * pitch() + static_cast<std::size_t>(x);
  }
  // The index of a pixel's weight in its first mode; its other fields and modes follow at distances of pitch().
  constexpr std::size_t field_at(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(mixtures * fields()) * pitch() +
           static_cast<std::size_t>(x);
  }
};

// The state of a model, in host memory. Entries of modes that a pixel does not have, and of pixels beyond the width,
// are undefined.
struct BgsubState {
  std::int64_t frames = 0;     // the number of frames that were learnt
  Array<std::uint8_t> counts;  // how many modes each pixel has: BgsubShape::pixel_count() entries
  Array<float> modes;          // BgsubShape::mode_count() floats
};

// The model of pictures of one size and number of channels. Not thread-safe: use one instance per stream.
class BackgroundSubtractor {
 public:
  virtual ~BackgroundSubtractor() = default;

  // Sets the mask, height x width, to 0, shadow_value or kForeground for each pixel, and learns the picture. Where
  // `kept` is not 0, the model stays as it is; pixels without a model are background there. If kept.data is null, every
  // pixel is learnt. All images lie in the backend's memory and must not overlap. input: when the picture is complete;
  // `kept` must be complete in stream order. CUDA: enqueues one kernel. Errors: invalid parameters, images of another
  // size or number of channels than given to make_bgsub, and errors of the device.
  virtual Status run(const BgsubPicture &picture, ImageView<const std::uint8_t> kept,
                     const BgsubParams &params, ImageView<std::uint8_t> mask,
                     Input input = Input::in_stream_order) = 0;

  // Writes the background that the model has learnt. A channel is the weighted mean of a pixel's first modes, up to the
  // one with which their weights exceed background_ratio, rounded to nearest, halves to even; before the first picture
  // it is 0. Other bytes of the pixels stay as they are. CUDA: enqueues one kernel. Errors: an image of another size or
  // number of channels, invalid parameters, and errors of the device.
  virtual Status background(const BgsubParams &params, const BgsubPixels<std::uint8_t> &background) = 0;

  // Forgets what was learnt: the next picture is the first one of a new model.
  virtual void restart() = 0;
  // How many pictures were learnt since the model began.
  virtual std::int64_t frames() const = 0;
  // Whether the next picture is the first one of a new model.
  bool is_empty() const { return frames() == 0; }

  // Copies what was learnt to *state, which must stay valid until the stream is synchronised. CUDA: enqueues two
  // copies.
  virtual Status fetch(BgsubState *state) const = 0;
  // Goes on from a state that fetch() has stored, which must stay valid until the stream is synchronised. Fails if it
  // is not the state of a model of this size, with these channels and mixtures.
  virtual Status resume(const BgsubState &state) = 0;
};

// channels: 1 or 3. mixtures: the most modes of a pixel. Memory of the backend: 4 * mixtures * (2 + channels) + 1 bytes
// per pixel, rows rounded up to 32 pixels; the CPU backend touches only the modes that pixels have had.
Status make_bgsub(const Execution &execution, Size size, int channels, int mixtures,
                  std::unique_ptr<BackgroundSubtractor> *subtractor);

}  // namespace cudavision
