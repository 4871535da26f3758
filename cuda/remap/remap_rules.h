// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic of a map and of a sample, for both backends.
#pragma once

#include <type_traits>

#include "cuda/remap/camera_rules.h"
#include "cuda/remap/remap.h"

namespace cudavision::remap {

constexpr int kFractionBits = 5, kFractions = 1 << kFractionBits;  // those of OpenCV's fixed-point maps

using Lens = CameraModel::Lens;

// The sample at or before a position: an entry of a map of the type CV_16SC2. The position is so many 32nds beyond it:
// an entry of the map of the type CV_16UC1 is 32 times those in y plus those in x.
struct Place {
  std::int16_t x, y;
};
// Both coordinates of a place that is nowhere in the picture; its entry of the other map is 0.
constexpr std::int16_t kNowhere = -32768;

// A map in the backend's memory, row by row without padding.
struct Map {
  Place *places = nullptr;
  std::uint16_t *fractions = nullptr;
  Size size;

  CUDAVISION_HOST_DEVICE std::ptrdiff_t entry(int x, int y) const {
    return static_cast<std::ptrdiff_t>(y) * size.width + x;
  }
};

// The ray of the sample (x, y) is columns[x] * rows[y].scale + rows[y].shift.
struct RowOfRays {
  double scale;
  Ray shift;
};

struct MapTask {
  Map map;
  // A position in samples of the grid is (position in pixels - offset) * fractions_per_pixel / kFractions.
  double offset_x = 0, offset_y = 0, fractions_per_pixel_x = 0, fractions_per_pixel_y = 0;
  const Ray *columns = nullptr;
  const RowOfRays *rows = nullptr;
};

// Rounds halves to even, as the addition does: doubles from 2^52 on are whole. The least value of 16 bits is left for
// kNowhere. NaN becomes the least value.
CUDAVISION_HOST_DEVICE inline int round_fractions(double value) {
  constexpr double kLeast = -32767.0 * kFractions, kMost = 32768.0 * kFractions - 1,
                   kWhole = 6755399441055744.0;
  const double low = value > kLeast ? value : kLeast, limited = low < kMost ? low : kMost;
  return static_cast<int>((limited + kWhole) - kWhole);
}

template <Lens kLens>
CUDAVISION_HOST_DEVICE inline void map_sample(const CameraModel &camera, const MapTask &task,
                                              const Ray &column, const RowOfRays &row, Place *place,
                                              std::uint16_t *fraction) {
  const Ray ray{column.x * row.scale + row.shift.x, column.y * row.scale + row.shift.y,
                column.z * row.scale + row.shift.z};
  Position position;
  const bool is_there = kLens == Lens::fisheye ? project_fisheye(camera, ray, &position)
                                               : project_pinhole(camera, ray, &position);
  const int x = round_fractions((position.x - task.offset_x) * task.fractions_per_pixel_x),
            y = round_fractions((position.y - task.offset_y) * task.fractions_per_pixel_y);
  place->x = is_there ? static_cast<std::int16_t>(x >> kFractionBits) : kNowhere;
  place->y = is_there ? static_cast<std::int16_t>(y >> kFractionBits) : kNowhere;
  const int beyond = (y & (kFractions - 1)) * kFractions + (x & (kFractions - 1));
  *fraction = is_there ? static_cast<std::uint16_t>(beyond) : std::uint16_t{0};
}

// A sample that lies in one piece: each channel is a byte, the first one the lowest.
template <int kChannels>
using Sample = std::conditional_t<kChannels == 1, std::uint8_t,
                                  std::conditional_t<kChannels == 2, std::uint16_t, std::uint32_t>>;

// How the samples of a grid are made.
struct GridTask {
  SampleGrid source, output;
  Size source_size;
  int channels = 1;
  RemapSettings settings;
  std::uint8_t constant[4] = {};
  Map map;
};

template <typename Task>
struct Tasks {
  Task task[Remap::kMostGrids];
  int count = 0;
};
using MapTasks = Tasks<MapTask>;
struct GridTasks : Tasks<GridTask> {
  bool maps_are_new = false;  // the work that makes the maps may still run
};

CUDAVISION_HOST_DEVICE constexpr int fraction_x(std::uint16_t both) { return both & (kFractions - 1); }
CUDAVISION_HOST_DEVICE constexpr int fraction_y(std::uint16_t both) { return both >> kFractionBits; }

// The sample nearest to a position of one dimension; of two, the even one.
CUDAVISION_HOST_DEVICE constexpr int nearest(int place, int fraction) {
  return place + (fraction + (place & 1) > kFractions / 2 ? 1 : 0);
}

// The mean of four neighbouring samples, weighted by the position between them. cv::remap rounds as this does: its
// weights are these times 32.
CUDAVISION_HOST_DEVICE constexpr int interpolate(int top_left, int top_right, int bottom_left,
                                                 int bottom_right, int x, int y) {
  const int top = top_left * (kFractions - x) + top_right * x,
            bottom = bottom_left * (kFractions - x) + bottom_right * x;
  return (top * (kFractions - y) + bottom * y + kFractions * kFractions / 2) >> (2 * kFractionBits);
}

// Whether the sample at (x, y) is in the picture, and with linear interpolation also the next ones.
CUDAVISION_HOST_DEVICE constexpr bool is_inside(Size picture, int x, int y, Interpolation interpolation) {
  const int beyond = interpolation == Interpolation::linear ? 1 : 0;
  return static_cast<unsigned>(x) < static_cast<unsigned>(picture.width - beyond) &&
         static_cast<unsigned>(y) < static_cast<unsigned>(picture.height - beyond);
}

// A sample of the picture or of its border.
CUDAVISION_HOST_DEVICE inline int border_sample(const GridTask &task, int x, int y, int channel) {
  const Size size = task.source_size;
  if (task.settings.border == Border::replicate)
    x = clamp_index(x, size.width), y = clamp_index(y, size.height);
  else if (!is_inside(size, x, y, Interpolation::nearest))
    return task.constant[channel];
  return task.source
      .data[y * task.source.pitch_bytes + static_cast<std::ptrdiff_t>(x) * task.source.step_bytes + channel];
}

// A channel of a sample of the output, wherever its place is.
template <Interpolation kInterpolation>
CUDAVISION_HOST_DEVICE inline int remap_sample(const GridTask &task, Place place, std::uint16_t fraction,
                                               int channel) {
  if (place.x == kNowhere) return task.constant[channel];
  const int x = fraction_x(fraction), y = fraction_y(fraction);
  if (kInterpolation == Interpolation::nearest)
    return border_sample(task, nearest(place.x, x), nearest(place.y, y), channel);
  return interpolate(border_sample(task, place.x, place.y, channel),
                     border_sample(task, place.x + 1, place.y, channel),
                     border_sample(task, place.x, place.y + 1, channel),
                     border_sample(task, place.x + 1, place.y + 1, channel), x, y);
}

}  // namespace cudavision::remap
