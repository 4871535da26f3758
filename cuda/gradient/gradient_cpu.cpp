// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/gradient/gradient_cpu.h"

#include "cuda/gradient/gradient_rules.h"

namespace cudavision {
namespace {

using Row = const std::int16_t *;

// The gradients of a row. Each operator has a separate loop, so that the compiler can vectorise it.
template <GradientOperator op>
[[gnu::noinline]] void gradients(Row above, Row here, Row below, int width, std::int16_t *dx,
                                 std::int16_t *dy) {
  const Row rows[3] = {above, here, below};
  for (int x = 0; x < width; ++x) {
    const Gradient g = gradient_of(op, [&rows, x](int i, int j) { return int{rows[j + 1][x + i]}; });
    dx[x] = static_cast<std::int16_t>(g.dx);
    dy[x] = static_cast<std::int16_t>(g.dy);
  }
}

constexpr decltype(&gradients<GradientOperator::sobel>) kGradients[] = {
    gradients<GradientOperator::sobel>, gradients<GradientOperator::central>,
    gradients<GradientOperator::scharr>, gradients<GradientOperator::prewitt>,
    gradients<GradientOperator::roberts>};

// Marks a gradient whose approximate bin is not certain.
constexpr std::int16_t kUndecided = -2;

[[gnu::noinline]] void approximate_bins(const std::int16_t *dx, const std::int16_t *dy, int width,
                                        const OrientationTable &table, std::int16_t *bin) {
  for (int x = 0; x < width; ++x) {
    const NearBin near = approximate_bin({dx[x], dy[x]}, table);
    bin[x] = is_certain(near, table) ? static_cast<std::int16_t>(near.bin) : kUndecided;
  }
}

}  // namespace

GradientRow::GradientRow(int width)
    : width_(width),
      above_(static_cast<std::size_t>(width) + 2),
      here_(above_.size()),
      below_(above_.size()),
      dx_(static_cast<std::size_t>(width)),
      dy_(dx_.size()),
      bin_(dx_.size()) {}

const std::int16_t *GradientRow::load(std::vector<std::int16_t> &padded, const std::uint8_t *row) {
  std::int16_t *pixels = padded.data() + 1;
  for (int x = 0; x < width_; ++x) pixels[x] = row[x];
  pixels[-1] = row[0];
  pixels[width_] = row[width_ - 1];
  return pixels;
}

void GradientRow::compute(ImageView<const std::uint8_t> picture, int y, GradientOperator op) {
  const auto row = [&](int at) { return picture.row(clamp_index(at, picture.height)); };
  kGradients[static_cast<int>(op)](load(above_, row(y - 1)), load(here_, row(y)), load(below_, row(y + 1)),
                                   width_, dx_.data(), dy_.data());
}

void GradientRow::compute_bins(const OrientationTable &table) {
  approximate_bins(dx_.data(), dy_.data(), width_, table, bin_.data());
  for (std::size_t x = 0; x < bin_.size(); ++x) {
    if (bin_[x] != kUndecided) continue;
    const Gradient g{dx_[x], dy_[x]};
    bin_[x] = g == Gradient{} ? kNoOrientation : static_cast<std::int16_t>(orientation_bin(g, table));
  }
}

template <typename Map>
void GradientRow::map(ImageView<const std::uint8_t> picture, int y, GradientOperator op,
                      GradientWeight weight, const OrientationTable &table, Map *samples) {
  compute(picture, y, op);
  compute_bins(table);
  for (int x = 0; x < width_; ++x) {
    const auto at = static_cast<std::size_t>(x);
    GradientSample sample;
    if (bin_[at] != kNoOrientation) sample = {bin_[at], fixed_weight({dx_[at], dy_[at]}, weight)};
    samples[x] = pack<Map>(sample);
  }
}

template void GradientRow::map(ImageView<const std::uint8_t>, int, GradientOperator, GradientWeight,
                               const OrientationTable &, BinMap *);
template void GradientRow::map(ImageView<const std::uint8_t>, int, GradientOperator, GradientWeight,
                               const OrientationTable &, WeightMap *);

}  // namespace cudavision
