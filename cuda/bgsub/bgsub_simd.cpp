// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of background subtraction, compiled once per instruction set by Highway. It works on vectors of
// adjacent pixels. Each lane is one pixel, with decisions of its own; steps that no lane of a vector needs are skipped.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cuda/bgsub/bgsub_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include <hwy/highway.h>

#include "cuda/bgsub/bgsub_backends.h"

#ifndef CUDAVISION_BGSUB_ROW_
#define CUDAVISION_BGSUB_ROW_
namespace cudavision::bgsub {

// A row of pixels. All arrays can be read and written up to the next multiple of BgsubShape::kRowMultiple.
struct Row {
  const std::uint8_t *pixels[3];  // one array for each channel
  const std::uint8_t *kept;       // null: every pixel is learnt
  float *modes;                   // Model::row()
  std::uint8_t *counts, *mask;
  int width;
};

}  // namespace cudavision::bgsub
#endif

HWY_BEFORE_NAMESPACE();
namespace cudavision::bgsub::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Integers = hn::RebindToSigned<Floats>;
using Bytes = hn::Rebind<std::uint8_t, Floats>;
using Float = hn::Vec<Floats>;
using Integer = hn::Vec<Integers>;
using Lanes = hn::Mask<Floats>;
constexpr Floats kFloats;
constexpr Integers kIntegers;
constexpr Bytes kBytes;

HWY_INLINE Float all(float value) { return hn::Set(kFloats, value); }
HWY_INLINE Integer all(int value) { return hn::Set(kIntegers, value); }
HWY_INLINE bool none(Lanes lanes) { return hn::AllFalse(kFloats, lanes); }
HWY_INLINE Lanes greater(Integer a, Integer b) { return hn::RebindMask(kFloats, hn::Gt(a, b)); }
HWY_INLINE Lanes equal(Integer a, Integer b) { return hn::RebindMask(kFloats, hn::Eq(a, b)); }
HWY_INLINE Lanes no_lanes() { return hn::MaskFromVec(hn::Zero(kFloats)); }
HWY_INLINE Lanes without(Lanes lanes, Lanes others) { return hn::AndNot(others, lanes); }

// The mixtures of a vector of pixels, the first of which is pixel x of the row.
template <int kChannels>
class Mixture {
 public:
  Mixture(const Rules &rules, const Row &row, int pitch, int mixtures, int x)
      : rules_(rules),
        modes_(row.modes + x),
        pitch_(pitch),
        mixtures_(mixtures),
        counts_(rules.is_first ? hn::Zero(kIntegers)
                               : hn::PromoteTo(kIntegers, hn::LoadU(kBytes, row.counts + x))),
        kept_(row.kept == nullptr
                  ? no_lanes()
                  : hn::RebindMask(kFloats, hn::Ne(hn::PromoteTo(kIntegers, hn::LoadU(kBytes, row.kept + x)),
                                                   hn::Zero(kIntegers)))) {
    for (int c = 0; c < kChannels; ++c)
      pixel_[c] = hn::ConvertTo(kFloats, hn::PromoteTo(kIntegers, hn::LoadU(kBytes, row.pixels[c] + x)));
  }

  // Learns the pixels. Returns the lanes that are background.
  Lanes learn() {
    const Lanes background = visit_modes();
    if (most_ > 1) move_up(learner_, learnt_, learnt_weight_);
    normalize();
    const Lanes unknown = hn::Not(hn::Or(known_, kept_));
    if (rules_.rate > 0 && !none(unknown)) add_mode(unknown);
    for (int mode = 0; mode < most_; ++mode) hn::StoreU(weight(mode), kFloats, field(mode, Model::kWeight));
    // A pixel that must not be learnt and has no model is background.
    return hn::Or(background, hn::And(kept_, equal(counts_, hn::Zero(kIntegers))));
  }

  // Returns those lanes of `open` whose pixels show the background in shadow.
  Lanes shadows(Lanes open) const {
    Lanes found = no_lanes();
    Float total = hn::Zero(kFloats);
    for (int mode = 0; mode < most_; ++mode) {
      open = hn::And(open, has(mode));
      if (none(open)) break;
      Float product = hn::Zero(kFloats), square = hn::Zero(kFloats);
      for (int c = 0; c < kChannels; ++c) {
        const Float mean = hn::LoadU(kFloats, field(mode, Model::kMean + c));
        product = hn::Add(product, hn::Mul(pixel_[c], mean));
        square = hn::Add(square, hn::Mul(mean, mean));
      }
      open = without(open, hn::Eq(square, hn::Zero(kFloats)));
      const Float dimming = hn::Div(product, square);
      const Lanes dimmed = hn::And(
          open,
          hn::And(hn::Le(product, square), hn::Ge(product, hn::Mul(all(rules_.shadow_threshold), square))));
      const Float limit = hn::Mul(
          hn::Mul(hn::Mul(all(rules_.background_distance), hn::LoadU(kFloats, field(mode, Model::kVariance))),
                  dimming),
          dimming);
      Float distance = hn::Zero(kFloats);
      for (int c = 0; c < kChannels; ++c) {
        const Float difference =
            hn::Sub(hn::Mul(dimming, hn::LoadU(kFloats, field(mode, Model::kMean + c))), pixel_[c]);
        distance = hn::Add(distance, hn::Mul(difference, difference));
      }
      const Lanes shadow = hn::And(dimmed, hn::Lt(distance, limit));
      found = hn::Or(found, shadow);
      total = hn::Add(total, weight(mode));
      open = without(open, hn::Or(shadow, hn::Gt(total, all(rules_.background_ratio))));
    }
    return found;
  }

  Integer counts() const { return counts_; }

 private:
  static constexpr int kFields = Model::kMean + kChannels;

  float *field(int mode, int index) const { return modes_ + (mode * kFields + index) * pitch_; }
  Float weight(int mode) const { return hn::Load(kFloats, weights_[mode]); }
  Lanes has(int mode) const { return greater(counts_, all(mode)); }
  void store(Lanes lanes, Float value, float *to) const {
    hn::StoreU(hn::IfThenElse(lanes, value, hn::LoadU(kFloats, to)), kFloats, to);
  }

  // Decays the weights of all modes, and lets the first mode within rules_.learning_distance of each pixel learn it.
  // Returns the lanes that are background.
  Lanes visit_modes() {
    Lanes background = no_lanes();
    known_ = learner_ = no_lanes();
    total_ = learnt_weight_ = hn::Zero(kFloats);
    learnt_ = hn::Zero(kIntegers);
    const Float kept_part = hn::IfThenElse(kept_, all(1.0f), all(rules_.kept_part)),
                pruning = hn::IfThenZeroElse(kept_, all(rules_.pruning));
    for (most_ = 0; most_ < mixtures_; ++most_) {
      const Lanes lanes = has(most_);
      if (none(lanes)) break;
      Float next = hn::Add(hn::Mul(kept_part, hn::LoadU(kFloats, field(most_, Model::kWeight))), pruning);
      const Lanes searching = without(lanes, known_);
      if (!none(searching)) background = hn::Or(background, visit(most_, searching, &next));
      const Lanes pruned = hn::And(lanes, hn::Lt(next, hn::Neg(pruning)));
      // As integers, set lanes of a mask are -1.
      counts_ = hn::Add(counts_, hn::VecFromMask(kIntegers, hn::RebindMask(kIntegers, pruned)));
      next = hn::IfThenZeroElse(pruned, next);
      hn::Store(next, kFloats, weights_[most_]);
      total_ = hn::Add(total_, hn::IfThenElseZero(lanes, next));
    }
    return background;
  }

  // In the lanes `searching`, lets a mode learn the pixels that are near it and not kept. *weight: the mode's weight in
  // this frame, to which learning adds. Returns the lanes that are background.
  Lanes visit(int mode, Lanes searching, Float *weight) {
    Float difference[kChannels], distance = hn::Zero(kFloats);
    for (int c = 0; c < kChannels; ++c) {
      difference[c] = hn::Sub(hn::LoadU(kFloats, field(mode, Model::kMean + c)), pixel_[c]);
      distance = hn::Add(distance, hn::Mul(difference[c], difference[c]));
    }
    const Float variance = hn::LoadU(kFloats, field(mode, Model::kVariance));
    const Lanes near = hn::And(searching, hn::Lt(distance, hn::Mul(all(rules_.learning_distance), variance)));
    known_ = hn::Or(known_, near);
    if (const Lanes learning = without(near, kept_); !none(learning)) {
      *weight = hn::IfThenElse(learning, hn::Add(*weight, all(rules_.rate)), *weight);
      const Float step = hn::Div(all(rules_.rate), *weight);
      for (int c = 0; c < kChannels; ++c) {
        float *mean = field(mode, Model::kMean + c);
        store(learning, hn::Sub(hn::LoadU(kFloats, mean), hn::Mul(step, difference[c])), mean);
      }
      Float next = hn::Add(variance, hn::Mul(step, hn::Sub(distance, variance)));
      next = hn::IfThenElse(hn::Lt(next, all(rules_.var_min)), all(rules_.var_min), next);
      next = hn::IfThenElse(hn::Gt(next, all(rules_.var_max)), all(rules_.var_max), next);
      store(learning, next, field(mode, Model::kVariance));
      learner_ = hn::Or(learner_, learning);
      learnt_weight_ = hn::IfThenElse(learning, *weight, learnt_weight_);
      learnt_ = hn::IfThenElse(hn::RebindMask(kIntegers, learning), all(mode), learnt_);
    }
    return hn::And(hn::And(searching, hn::Lt(total_, all(rules_.background_ratio))),
                   hn::Lt(distance, hn::Mul(all(rules_.background_distance), variance)));
  }

  // In each of these lanes, moves mode `from` before the modes whose weight is not larger than weight_moved.
  void move_up(Lanes lanes, Integer from, Float weight_moved) {
    for (int mode = most_ - 1; mode > 0 && !none(lanes); --mode) {
      const Lanes here = hn::And(lanes, greater(from, all(mode - 1)));
      const Lanes moves = without(here, hn::Lt(weight_moved, weight(mode - 1)));
      lanes = without(lanes, without(here, moves));
      if (none(moves)) continue;
      swap(moves, weights_[mode], weights_[mode - 1]);
      for (int i = Model::kVariance; i < kFields; ++i) swap(moves, field(mode, i), field(mode - 1, i));
    }
  }
  void swap(Lanes lanes, float *a, float *b) const {
    const Float of_a = hn::LoadU(kFloats, a), of_b = hn::LoadU(kFloats, b);
    hn::StoreU(hn::IfThenElse(lanes, of_b, of_a), kFloats, a);
    hn::StoreU(hn::IfThenElse(lanes, of_a, of_b), kFloats, b);
  }

  // Makes the sum of the weights 1.
  void normalize() {
    const Lanes heavy = hn::Gt(hn::Abs(total_), all(kNoWeight));
    Float scale = hn::IfThenElseZero(heavy, hn::Div(all(1.0f), total_));
    scale = hn::IfThenElse(kept_, all(1.0f), scale);
    for (int mode = 0; mode < most_; ++mode)
      hn::Store(hn::IfThenElse(has(mode), hn::Mul(weight(mode), scale), weight(mode)), kFloats,
                weights_[mode]);
  }

  // In each of these lanes, makes the pixel the mean of a new mode, which replaces the last one if all modes exist.
  void add_mode(Lanes lanes) {
    const Lanes full = equal(counts_, all(mixtures_));
    counts_ = hn::Sub(counts_, hn::VecFromMask(kIntegers, hn::RebindMask(kIntegers, without(lanes, full))));
    if (most_ < mixtures_) hn::Store(hn::Zero(kFloats), kFloats, weights_[most_++]);
    const Integer place = hn::Sub(counts_, all(1));
    const Float first = hn::IfThenElse(equal(counts_, all(1)), all(1.0f), all(rules_.rate));
    for (int mode = 0; mode < most_; ++mode) {
      const Lanes here = hn::And(lanes, equal(place, all(mode)));
      const Lanes before = hn::And(lanes, greater(place, all(mode)));
      const Float others = hn::IfThenElse(before, hn::Mul(weight(mode), all(rules_.kept_part)), weight(mode));
      hn::Store(hn::IfThenElse(here, first, others), kFloats, weights_[mode]);
      if (none(here)) continue;
      for (int c = 0; c < kChannels; ++c) store(here, pixel_[c], field(mode, Model::kMean + c));
      store(here, all(rules_.var_init), field(mode, Model::kVariance));
    }
    move_up(lanes, place, all(rules_.rate));
  }

  const Rules &rules_;
  float *const modes_;
  const int pitch_, mixtures_;
  Integer counts_;
  const Lanes kept_;
  Float pixel_[kChannels];
  HWY_ALIGN float weights_[kMaxMixtures][HWY_MAX_BYTES / sizeof(float)];  // the modes' weights in this frame
  int most_ = 0;                                                          // no lane has more modes than this
  // Set by visit_modes(). known_: the lanes in which some mode is near the pixel. learner_: those in which a mode has
  // learnt it; learnt_ is that mode, and learnt_weight_ its weight. total_: the sum of all weights.
  Lanes known_, learner_;
  Integer learnt_;
  Float learnt_weight_, total_;
};

template <int kChannels>
void subtract_pixels(const Rules &rules, const Row &row, const Model &model) {
  for (int x = 0; x < row.width; x += static_cast<int>(hn::Lanes(kFloats))) {
    Mixture<kChannels> mixture(rules, row, model.pitch, model.mixtures, x);
    const Lanes background = mixture.learn();
    Integer value = hn::IfThenElse(hn::RebindMask(kIntegers, background), all(0), all(int{kForeground}));
    if (const Lanes open = hn::Not(background); rules.detect_shadows && !none(open))
      value = hn::IfThenElse(hn::RebindMask(kIntegers, mixture.shadows(open)), all(int{rules.shadow_value}),
                             value);
    hn::StoreU(hn::DemoteTo(kBytes, value), kBytes, row.mask + x);
    hn::StoreU(hn::DemoteTo(kBytes, mixture.counts()), kBytes, row.counts + x);
  }
}

void subtract_row(const Rules &rules, const Row &row, const Model &model) {
  if (model.channels == 1)
    subtract_pixels<1>(rules, row, model);
  else
    subtract_pixels<3>(rules, row, model);
}

}  // namespace cudavision::bgsub::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

#include "cuda/common/memory_budget.h"
#include "cuda/common/per_thread.h"

namespace cudavision::bgsub {
namespace {

HWY_EXPORT(subtract_row);

constexpr int kRowsPerTask = 8;

// Splits a row into one array for each channel.
template <int kChannels>
void split(const std::uint8_t *row, int step_bytes, int width, std::uint8_t *const *channel) {
  for (int x = 0; x < width; ++x)
    for (int c = 0; c < kChannels; ++c) channel[c][x] = row[x * step_bytes + c];
}

class SubtractorCpu final : public Subtractor {
 public:
  SubtractorCpu(const Execution &execution, Size size, int channels, int mixtures)
      : Subtractor(execution, size, channels, mixtures), rows_(*execution.workers, [this] {
          return Array<std::uint8_t>(static_cast<std::size_t>(kArrays) *
                                     static_cast<std::size_t>(model().pitch));
        }) {}

  Status run(const BgsubPicture &picture, ImageView<const std::uint8_t> kept, const BgsubParams &params,
             ImageView<std::uint8_t> mask, Input) override {
    Rules rules;
    CUDAVISION_TRY(begin_frame(picture, kept, params, mask.size(), &rules));
    rows_.fit(*execution_.workers);
    return end_frame(for_each_row([&](int y, int slot) {
      const Model model = this->model();
      const auto array = [&](int i) {
        return rows_[slot].data() + static_cast<std::ptrdiff_t>(i) * model.pitch;
      };
      std::uint8_t *const channel[] = {array(0), array(1), array(2)};
      const std::uint8_t *pixels = picture.data + y * picture.pitch_bytes;
      channels_ == 1 ? split<1>(pixels, picture.step_bytes, size_.width, channel)
                     : split<3>(pixels, picture.step_bytes, size_.width, channel);
      if (kept.data != nullptr) std::copy_n(kept.row(y), size_.width, array(3));
      const Row row{.pixels = {channel[0], channel[1], channel[2]},
                    .kept = kept.data != nullptr ? array(3) : nullptr,
                    .modes = model.row(y),
                    .counts = model.counts_of(y),
                    .mask = array(4),
                    .width = size_.width};
      HWY_DYNAMIC_DISPATCH(subtract_row)(rules, row, model);
      std::copy_n(array(4), size_.width, mask.row(y));
    }));
  }

  Status background(const BgsubParams &params, const BgsubPixels<std::uint8_t> &background) override {
    CUDAVISION_TRY(check(params, background));
    return for_each_row([&](int y, int) {
      const Model model = this->model();
      std::uint8_t *pixels = background.data + y * background.pitch_bytes;
      for (int x = 0; x < size_.width; ++x)
        write_background(model, model.row(y) + x, is_empty() ? 0 : model.counts_of(y)[x],
                         static_cast<float>(params.background_ratio), pixels + x * background.step_bytes);
    });
  }

 private:
  // The arrays for a row, each of model().pitch bytes: three channels, `kept`, and the mask.
  static constexpr int kArrays = 5;

  template <typename Body>
  Status for_each_row(const Body &body) const {
    return execution_.workers->run_rows(size_.height, kRowsPerTask, body);
  }

  PerThread<Array<std::uint8_t>> rows_;
};

}  // namespace

Status make_bgsub_cpu(const Execution &execution, Size size, int channels, int mixtures,
                      std::unique_ptr<BackgroundSubtractor> *subtractor) {
  return make_as<SubtractorCpu>(subtractor, execution, size, channels, mixtures);
}

}  // namespace cudavision::bgsub
#endif
