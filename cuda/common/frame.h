// SPDX-License-Identifier: LGPL-2.1-or-later
// A video frame as the algorithms see it: up to three colour components, independent of their order in
// memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/common/image.h"

namespace cudavision {

// One colour component. The sample of pixel (x, y) is the byte
//   data[(y >> shift_y) * pitch_bytes + (x >> shift_x) * step_bytes].
struct Component {
  std::uint8_t *data = nullptr;
  std::ptrdiff_t pitch_bytes = 0;
  int step_bytes = 1;
  int shift_x = 0, shift_y = 0;

  CUDAVISION_HOST_DEVICE std::uint8_t &at(int x, int y) const {
    return data[(y >> shift_y) * pitch_bytes + (x >> shift_x) * step_bytes];
  }
};

enum class ColorModel {
  gray,  // component 0 is luma
  yuv,   // the components are Y, U, V; U and V may be subsampled
  rgb,   // the components are R, G, B
};

// height x width pixels with 8 bits per component, in host or device memory. Bytes that belong to no
// component (alpha, padding) are never written.
struct Frame {
  ColorModel model = ColorModel::gray;
  int width = 0, height = 0;
  Component component[3];

  Size size() const { return {width, height}; }
  CUDAVISION_HOST_DEVICE int component_count() const { return model == ColorModel::gray ? 1 : 3; }
  // Whether luma is a separate plane that can be analysed in place.
  bool has_luma_plane() const { return model != ColorModel::rgb && component[0].step_bytes == 1; }
  ImageView<std::uint8_t> luma_plane() const {
    return {component[0].data, component[0].pitch_bytes, width, height};
  }
};

// The planes of a frame in memory. Copies transfer row_bytes bytes of each row.
struct Planes {
  struct Plane {
    std::uint8_t *data = nullptr;
    std::ptrdiff_t pitch_bytes = 0;
    int row_bytes = 0, rows = 0;
  };
  static constexpr int kMost = 4;
  int count = 0;
  Plane plane[kMost];
};

// Where a pixel format stores each component.
struct PixelLayout {
  struct Place {
    int plane = 0, offset_bytes = 0, step_bytes = 1, shift_x = 0, shift_y = 0;
  };
  ColorModel model = ColorModel::gray;
  Place place[3];
};

inline Frame make_frame(const PixelLayout &layout, Size size, const Planes &planes) {
  Frame frame{layout.model, size.width, size.height, {}};
  for (int i = 0; i < frame.component_count(); ++i) {
    const PixelLayout::Place &place = layout.place[i];
    const Planes::Plane &plane = planes.plane[place.plane];
    frame.component[i] = {.data = plane.data + place.offset_bytes,
                          .pitch_bytes = plane.pitch_bytes,
                          .step_bytes = place.step_bytes,
                          .shift_x = place.shift_x,
                          .shift_y = place.shift_y};
  }
  return frame;
}

// A colour in the components of the frame (R, G, B or Y, U, V; gray uses the first one) and its opacity.
struct Color {
  std::uint8_t component[3] = {255, 255, 255};
  std::uint8_t alpha = 255;  // 0: invisible, 255: opaque

  friend bool operator==(const Color &, const Color &) = default;
};

}  // namespace cudavision
