// SPDX-License-Identifier: LGPL-2.1-or-later
// The sources from which kernels read samples. A sample is the bin and the weight that a pixel adds to a histogram.
#pragma once

#include <cstddef>

#include "cuda/localhist/localhist_rules.h"

namespace cudavision::localhist {

// Computes samples from the luma. Element: the type of a pixel in `pixels`, which sample_of() converts to a sample.
struct BrightnessSource {
  using Element = std::uint8_t;
  ImageView<const Element> pixels;
  int bins;

  CUDAVISION_HOST_DEVICE Sample sample_of(Element value) const { return {brightness_bin(value, bins), 1}; }
};
// Unpacks samples that map_gradients() has computed. Map: BinMap or WeightMap (samples_rules.h).
template <typename Map>
struct MapSource {
  using Element = Map;
  ImageView<const Map> pixels;

  CUDAVISION_HOST_DEVICE Sample sample_of(Map packed) const { return unpack(packed); }
};

// A pointer to a pixel, which move() advances along the pixel's column by a multiple of the pitch.
template <typename Source>
struct PixelColumn {
  const typename Source::Element *pixel;

  CUDAVISION_HOST_DEVICE PixelColumn() : pixel(nullptr) {}
  CUDAVISION_HOST_DEVICE PixelColumn(const Source &source, int x, int y) : pixel(source.pixels.row(y) + x) {}
  CUDAVISION_HOST_DEVICE Sample sample(const Source &source) const { return source.sample_of(*pixel); }
  CUDAVISION_HOST_DEVICE void move(std::ptrdiff_t bytes) {
    pixel = reinterpret_cast<const typename Source::Element *>(reinterpret_cast<const char *>(pixel) + bytes);
  }
};

}  // namespace cudavision::localhist
