// SPDX-License-Identifier: LGPL-2.1-or-later
// The histograms of a picture's pixel columns on the CPU. Each covers as many rows as a window is high, and
// moves down with the windows.
#pragma once

#include <algorithm>

#include "cuda/common/memory_budget.h"
#include "cuda/localhist/localhist_simd.h"

namespace cudavision::localhist {

inline RowShape row_shape(Size size, const LocalHistParams &p) {
  RowShape shape;
  shape.cols = (size.width - p.window.width) / p.stride_x + 1;
  shape.window_width = p.window.width;
  shape.stride_x = p.stride_x;
  shape.bins = p.bins + (needs_total(p) ? 1 : 0);
  shape.column_stride = divide_up(shape.bins, kVectorBins) * kVectorBins;
  return shape;
}

// True if the sliding loop can write the histograms to the output directly.
inline bool writes_directly(const LocalHistParams &p) {
  return p.reduction == LocalHistReduction::none && p.layout == LocalHistLayout::interleaved;
}

// The scratch memory of one thread: the columns, the sums of the first window, and one row of histograms
// unless they are written to the output directly.
template <typename Map>
struct Scratch {
  Array<std::uint64_t> first, row;  // large enough for the types Sum and Element of any SumKind (SumTypes)
  Array<Map> columns;

  Scratch(Size size, const LocalHistParams &p)
      : first(static_cast<std::size_t>(row_shape(size, p).column_stride)),
        row(writes_directly(p) ? 0
                               : (static_cast<std::size_t>(row_shape(size, p).cols) * first.size() + 1) / 2),
        columns(static_cast<std::size_t>(size.width) * first.size()) {}
};

// The column histograms of a map, which is a picture of packed samples (samples_rules.h). Map is the type of a packed
// sample and also of a column's sums.
template <SumKind kind, typename Map>
class Columns {
  using Sum = typename SumTypes<kind>::Sum;

 public:
  Columns(ImageView<const Map> map, const LocalHistParams &p, const RowShape &shape, Scratch<Map> &scratch)
      : map_(map),
        params_(p),
        shape_(shape),
        columns_(scratch.columns.data()),
        first_(reinterpret_cast<Sum *>(scratch.first.data())) {}

  const Map *columns() const { return columns_; }
  const Sum *first() const { return first_; }

  // Computes the histograms of the columns and of the first window, for the row of windows whose top pixel row is y.
  void count(int y) {
    const auto stride = static_cast<std::ptrdiff_t>(shape_.column_stride);
    std::fill_n(columns_, map_.width * stride, Map{0});
    for (int row = y; row < y + params_.window.height; ++row) {
      const Map *samples = map_.row(row);
      for (int x = 0; x < map_.width; ++x) add(columns_ + x * stride, unpack(samples[x]), 1);
    }
    std::fill_n(first_, stride, Sum{0});
    for (int x = 0; x < params_.window.width; ++x)
      for (int bin = 0; bin < shape_.bins; ++bin)
        first_[bin] = static_cast<Sum>(first_[bin] + columns_[x * stride + bin]);
  }

  // Moves the columns and the first window down, from the top row y to y + 1.
  void move_down(int y) {
    const Map *leaving = map_.row(y), *entering = map_.row(y + params_.window.height);
    const auto stride = static_cast<std::ptrdiff_t>(shape_.column_stride);
    for (int x = 0; x < map_.width; ++x) {
      if (leaving[x] == entering[x]) continue;
      const Sample out = unpack(leaving[x]), in = unpack(entering[x]);
      add(columns_ + x * stride, out, -1);
      add(columns_ + x * stride, in, 1);
      if (x >= params_.window.width) continue;
      add(first_, out, -1);
      add(first_, in, 1);
    }
  }

 private:
  template <typename T>
  void add(T *bins, Sample sample, int times) const {
    if (sample.weight == 0) return;
    const T weight = static_cast<T>(static_cast<T>(times) * static_cast<T>(sample.weight));
    bins[sample.bin] = static_cast<T>(bins[sample.bin] + weight);
    if (shape_.bins > params_.bins) bins[params_.bins] = static_cast<T>(bins[params_.bins] + weight);
  }

  ImageView<const Map> map_;
  const LocalHistParams &params_;
  const RowShape &shape_;
  Map *columns_;
  Sum *first_;
};

}  // namespace cudavision::localhist
