// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of gradients and of their orientation bins, for CPU backends: loops that the compiler vectorises.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/common/image.h"
#include "cuda/gradient/gradient.h"
#include "cuda/gradient/samples_rules.h"

namespace cudavision {

// The gradients of one row and their bins. Not thread-safe: use one instance per thread.
class GradientRow {
 public:
  explicit GradientRow(int width);

  // Computes dx() and dy() of row y. The picture must have the width given to the constructor.
  void compute(ImageView<const std::uint8_t> picture, int y, GradientOperator op);
  // Computes bin() from dx() and dy().
  void compute_bins(const OrientationTable &table);
  // Computes dx(), dy() and bin() of row y, and writes the packed samples of the row. Map: BinMap or WeightMap.
  template <typename Map>
  void map(ImageView<const std::uint8_t> picture, int y, GradientOperator op, GradientWeight weight,
           const OrientationTable &table, Map *samples);

  int width() const { return width_; }
  const std::int16_t *dx() const { return dx_.data(); }
  const std::int16_t *dy() const { return dy_.data(); }
  // orientation_bin() of each gradient, or kNoOrientation for a zero gradient.
  const std::int16_t *bin() const { return bin_.data(); }
  static constexpr std::int16_t kNoOrientation = -1;

 private:
  const std::int16_t *load(std::vector<std::int16_t> &padded, const std::uint8_t *row);

  int width_;
  std::vector<std::int16_t> above_, here_, below_;  // rows of pixels, replicated by one at each end
  std::vector<std::int16_t> dx_, dy_, bin_;
};

}  // namespace cudavision
