// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of background subtraction: one kernel, one thread per pixel. The weights of a pixel's modes stay in
// registers. Means and variances are read from global memory only up to the mode that learns the pixel, and written
// only where they change.
#include <cuda_runtime.h>

#include "cuda/bgsub/bgsub_backends.h"
#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"

namespace cudavision::bgsub {
namespace {

// The mixture of one pixel: its modes (bgsub.h). Loops over weights are unrolled, which keeps the weights in registers.
template <int kChannels>
class Mixture {
 public:
  // modes: the pixel's weight in its first mode (Model, bgsub_rules.h). count: the number of the pixel's modes.
  __device__ Mixture(const Rules &rules, const Model &model, float *modes, int count)
      : rules_(rules), mixtures_(model.mixtures), pitch_(model.pitch), modes_(modes), count_(count) {}

  __device__ int count() const { return count_; }

  // Learns the pixel. Returns whether it is background.
  __device__ bool learn(const float (&pixel)[kChannels]) {
    const bool background = visit_modes(pixel);
    const float scale = fabsf(total_) > kNoWeight ? 1 / total_ : 0.0f;
    for_each_weight([&](int mode, float &weight) {
      if (mode < count_) weight *= scale;
    });
    if (!known_ && rules_.rate > 0) add_mode(pixel);
    for_each_weight([&](int mode, float &weight) {
      if (mode < count_) *field(mode, Model::kWeight) = weight;
    });
    return background;
  }

  // Returns whether the pixel is background, and learns nothing from it.
  __device__ bool is_background(const float (&pixel)[kChannels]) const {
    float total = 0;
    for (int mode = 0; mode < count_ && total < rules_.background_ratio; ++mode) {
      float difference[kChannels];
      const float distance = distance_to(mode, pixel, difference), variance = *field(mode, Model::kVariance);
      if (distance < rules_.background_distance * variance) return true;
      if (distance < rules_.learning_distance * variance) return false;
      total += *field(mode, Model::kWeight);
    }
    return count_ == 0;
  }

  // Returns whether the pixel shows the background in shadow.
  __device__ bool is_shadow(const float (&pixel)[kChannels]) const {
    float total = 0;
    for (int mode = 0; mode < count_; ++mode) {
      float mean[kChannels], product = 0, square = 0;
#pragma unroll
      for (int c = 0; c < kChannels; ++c) {
        mean[c] = *field(mode, Model::kMean + c);
        product += pixel[c] * mean[c];
        square += mean[c] * mean[c];
      }
      if (square == 0) return false;
      if (product <= square && product >= rules_.shadow_threshold * square) {
        const float dimming = product / square;
        float distance = 0;
#pragma unroll
        for (int c = 0; c < kChannels; ++c) {
          const float difference = dimming * mean[c] - pixel[c];
          distance += difference * difference;
        }
        if (distance < rules_.background_distance * *field(mode, Model::kVariance) * dimming * dimming)
          return true;
      }
      total += *field(mode, Model::kWeight);
      if (total > rules_.background_ratio) return false;
    }
    return false;
  }

 private:
  static constexpr int kFields = Model::kMean + kChannels;

  __device__ float *field(int mode, int index) const {
    return modes_ + static_cast<std::ptrdiff_t>(mode * kFields + index) * pitch_;
  }
  template <typename Visit>
  __device__ void for_each_weight(const Visit &visit) {
#pragma unroll
    for (int mode = 0; mode < kMaxMixtures; ++mode) visit(mode, weights_[mode]);
  }

  // Returns the squared distance of the pixel to the mean of a mode. difference: set to mean - pixel for each channel.
  __device__ float distance_to(int mode, const float (&pixel)[kChannels],
                               float (&difference)[kChannels]) const {
    float distance = 0;
#pragma unroll
    for (int c = 0; c < kChannels; ++c) {
      difference[c] = *field(mode, Model::kMean + c) - pixel[c];
      distance += difference[c] * difference[c];
    }
    return distance;
  }

  // Decays the weights of all modes, and updates the first mode within rules_.learning_distance of the pixel. Returns
  // whether the pixel is background.
  __device__ bool visit_modes(const float (&pixel)[kChannels]) {
    bool background = false;
    int learner = 0;
    float learnt_weight = 0;  // the learner's weight, before pruning may set it to 0
    total_ = 0, known_ = false;
#pragma unroll
    for (int mode = 0; mode < kMaxMixtures; ++mode) {
      if (mode >= count_) break;
      float weight = rules_.kept_part * *field(mode, Model::kWeight) + rules_.pruning;
      if (!known_) {
        float difference[kChannels];
        const float distance = distance_to(mode, pixel, difference),
                    variance = *field(mode, Model::kVariance);
        if (total_ < rules_.background_ratio && distance < rules_.background_distance * variance)
          background = true;
        if (distance < rules_.learning_distance * variance) {
          known_ = true, learner = mode;
          learnt_weight = weight += rules_.rate;
          learn_by(mode, difference, distance, variance, rules_.rate / weight);
        }
      }
      if (weight < -rules_.pruning) {
        weight = 0;
        --count_;
      }
      weights_[mode] = weight;
      total_ += weight;
    }
    if (known_) move_up(learner, learnt_weight);
    return background;
  }

  __device__ void learn_by(int mode, const float (&difference)[kChannels], float distance, float variance,
                           float step) {
#pragma unroll
    for (int c = 0; c < kChannels; ++c) *field(mode, Model::kMean + c) -= step * difference[c];
    float next = variance + step * (distance - variance);
    next = next < rules_.var_min ? rules_.var_min : next;
    next = next > rules_.var_max ? rules_.var_max : next;
    *field(mode, Model::kVariance) = next;
  }

  // Moves mode `from` before the modes whose weight is not larger than `weight`.
  __device__ void move_up(int from, float weight) {
    int place = from;
#pragma unroll
    for (int mode = kMaxMixtures - 1; mode > 0; --mode)
      if (mode == place && !(weight < weights_[mode - 1])) {
        const float moved = weights_[mode];
        weights_[mode] = weights_[mode - 1], weights_[mode - 1] = moved;
        --place;
      }
    if (place == from) return;
#pragma unroll
    for (int index = Model::kVariance; index < kFields; ++index) {
      const float moved = *field(from, index);
      for (int mode = from; mode > place; --mode) *field(mode, index) = *field(mode - 1, index);
      *field(place, index) = moved;
    }
  }

  // Makes the pixel the mean of a new mode, which replaces the last one if the pixel has all its modes.
  __device__ void add_mode(const float (&pixel)[kChannels]) {
    if (count_ < mixtures_) ++count_;
    const int place = count_ - 1;
    for_each_weight([&](int mode, float &weight) {
      if (mode < place) weight *= rules_.kept_part;
      if (mode == place) weight = place == 0 ? 1 : rules_.rate;
    });
#pragma unroll
    for (int c = 0; c < kChannels; ++c) *field(place, Model::kMean + c) = pixel[c];
    *field(place, Model::kVariance) = rules_.var_init;
    move_up(place, rules_.rate);
  }

  const Rules &rules_;
  const int mixtures_, pitch_;
  float *const modes_;
  int count_;
  float weights_[kMaxMixtures] = {};  // the modes' weights in this frame
  float total_ = 0;                   // the sum of the weights
  bool known_ = false;                // whether some mode has learnt the pixel
};

template <int kChannels>
static __global__ void __launch_bounds__(kBlockX *kBlockY)
    subtract_kernel(BgsubPicture picture, ImageView<const std::uint8_t> kept,
                    const __grid_constant__ Rules rules, Model model, ImageView<std::uint8_t> mask,
                    Input input) {
  let_next_kernel_start();
  wait_for_input(input);
  const int x = static_cast<int>(blockIdx.x) * kBlockX + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y) * kBlockY + static_cast<int>(threadIdx.y);
  const bool inside = x < picture.width && y < picture.height;
  float pixel[kChannels] = {};
  if (inside) {
    const std::uint8_t *bytes = picture.data + y * picture.pitch_bytes + x * picture.step_bytes;
#pragma unroll
    for (int c = 0; c < kChannels; ++c) pixel[c] = bytes[c];
  }
  wait_for_kernel_ahead();
  if (!inside) return;
  std::uint8_t &count = model.counts_of(y)[x];
  Mixture<kChannels> mixture(rules, model, model.row(y) + x, rules.is_first ? 0 : count);
  const bool is_kept = kept.data != nullptr && kept.row(y)[x] != 0;
  const bool background = is_kept ? mixture.is_background(pixel) : mixture.learn(pixel);
  count = static_cast<std::uint8_t>(mixture.count());
  mask.row(y)[x] = background                                         ? 0
                   : rules.detect_shadows && mixture.is_shadow(pixel) ? rules.shadow_value
                                                                      : kForeground;
}

static __global__ void __launch_bounds__(kBlockX *kBlockY)
    background_kernel(Model model, bool is_empty, float background_ratio,
                      BgsubPixels<std::uint8_t> background) {
  const int x = static_cast<int>(blockIdx.x) * kBlockX + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y) * kBlockY + static_cast<int>(threadIdx.y);
  if (x >= background.width || y >= background.height) return;
  write_background(model, model.row(y) + x, is_empty ? 0 : model.counts_of(y)[x], background_ratio,
                   background.data + y * background.pitch_bytes + x * background.step_bytes);
}

class SubtractorCuda final : public Subtractor {
 public:
  using Subtractor::Subtractor;

  Status run(const BgsubPicture &picture, ImageView<const std::uint8_t> kept, const BgsubParams &params,
             ImageView<std::uint8_t> mask, Input input) override {
    Rules rules;
    CUDAVISION_TRY(begin_frame(picture, kept, params, mask.size(), &rules));
    return end_frame(CUDAVISION_LAUNCH_PDL("subtract_kernel",
                                           channels_ == 1 ? subtract_kernel<1> : subtract_kernel<3>,
                                           grid_2d(size_.width, size_.height), block_2d(), execution_.stream,
                                           picture, kept, rules, model(), mask, input));
  }

  Status background(const BgsubParams &params, const BgsubPixels<std::uint8_t> &background) override {
    CUDAVISION_TRY(check(params, background));
    return CUDAVISION_LAUNCH(background_kernel, grid_2d(size_.width, size_.height), block_2d(),
                             execution_.stream, model(), is_empty(),
                             static_cast<float>(params.background_ratio), background);
  }
};

}  // namespace

Status make_bgsub_cuda(const Execution &execution, Size size, int channels, int mixtures,
                       std::unique_ptr<BackgroundSubtractor> *subtractor) {
  return make_as<SubtractorCuda>(subtractor, execution, size, channels, mixtures);
}

}  // namespace cudavision::bgsub
