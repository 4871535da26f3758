// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of gradients and of their orientations, for the CPU backends: loops that the compiler vectorises.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/common/image.h"
#include "cuda/gradient/gradient.h"
#include "cuda/gradient/samples.h"

namespace cudavision {

// One thread's row.
class GradientRow {
 public:
  explicit GradientRow(int width);

  // Computes the gradients of row y of the picture.
  void compute(ImageView<const std::uint8_t> picture, int y, GradientOperator op);
  // Computes bin() from the gradients.
  void compute_bins(const OrientationTable &table);
  // Both, and the samples of row y. Map: BinMap or WeightMap.
  template <typename Map>
  void map(ImageView<const std::uint8_t> picture, int y, GradientOperator op, GradientWeight weight,
           const OrientationTable &table, Map *samples);

  int width() const { return width_; }
  const std::int16_t *dx() const { return dx_.data(); }
  const std::int16_t *dy() const { return dy_.data(); }
  // orientation_bin, or kNoBin where the gradient is zero.
  const std::int16_t *bin() const { return bin_.data(); }
  static constexpr std::int16_t kNoBin = -1;

 private:
  const std::int16_t *load(std::vector<std::int16_t> &padded, const std::uint8_t *row);

  int width_;
  std::vector<std::int16_t> above_, here_, below_;  // rows of pixels, with one more at each end
  std::vector<std::int16_t> dx_, dy_, bin_;
};

}  // namespace cudavision
