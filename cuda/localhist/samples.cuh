// SPDX-License-Identifier: LGPL-2.1-or-later
// The sources of samples that kernels read: what each pixel adds to a histogram.
#pragma once

#include <cstddef>

#include "cuda/localhist/localhist_rules.h"

namespace cudavision::localhist {

// Element: what is stored for a pixel in `pixels`. sample_of() is the sample that it stands for: computed from
// the luma here, and unpacked from a map by MapSource.
struct BrightnessSource {
  using Element = std::uint8_t;
  ImageView<const Element> pixels;
  int bins;

  CUDAVISION_HOST_DEVICE Sample sample_of(Element value) const { return {brightness_bin(value, bins), 1}; }
};
// Map: BinMap or WeightMap.
template <typename Map>
struct MapSource {
  using Element = Map;
  ImageView<const Map> pixels;

  CUDAVISION_HOST_DEVICE Sample sample_of(Map packed) const { return unpack(packed); }
};

// The pixels of a column from a row on.
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
