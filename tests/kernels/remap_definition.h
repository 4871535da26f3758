// SPDX-License-Identifier: LGPL-2.1-or-later
// The remapping by its definition: a map from a view, and samples from a map, in plain loops.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "cuda/remap/remap.h"
#include "tests/support/picture.h"

namespace cudavision::test {

// A position in 32nds of a sample.
struct MapEntry {
  int x, y;
  bool is_nowhere = false;

  friend bool operator==(const MapEntry &, const MapEntry &) = default;
};
using MapPicture = HostImage<MapEntry>;

struct Vector {
  double x, y, z;
};

inline Vector times(const double *m, const Vector &v) {
  return {m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
          m[6] * v.x + m[7] * v.y + m[8] * v.z};
}

inline Vector ray_definition(const CameraView &view, double x, double y) {
  if (view.surface == CameraView::Surface::plane) return times(view.matrix, {x, y, 1});
  const double a = view.longitude + x * view.longitude_step, b = view.latitude + y * view.latitude_step;
  return times(view.matrix, {std::cos(b) * std::sin(a), std::sin(b), std::cos(b) * std::cos(a)});
}

// The position of a ray in pixels; false if it is nowhere.
inline bool project_definition(const CameraModel &camera, const Vector &ray, double *u, double *v) {
  const double *k = camera.k;
  if (camera.lens == CameraModel::Lens::fisheye) {
    const double radius = std::hypot(ray.x, ray.y), t = std::atan2(radius, ray.z);
    if (radius == 0 && ray.z <= 0) return false;
    const double distorted =
        t + k[0] * std::pow(t, 3) + k[1] * std::pow(t, 5) + k[2] * std::pow(t, 7) + k[3] * std::pow(t, 9);
    *u = camera.cx + (radius > 0 ? camera.fx * distorted * ray.x / radius : 0);
    *v = camera.cy + (radius > 0 ? camera.fy * distorted * ray.y / radius : 0);
    return true;
  }
  if (!(ray.z > 0)) return false;
  const double x = ray.x / ray.z, y = ray.y / ray.z, r2 = x * x + y * y, r4 = r2 * r2, r6 = r4 * r2;
  const double radial = (1 + k[0] * r2 + k[1] * r4 + k[4] * r6) / (1 + k[5] * r2 + k[6] * r4 + k[7] * r6);
  const Vector tilted = times(
      camera.tilt, {x * radial + 2 * k[2] * x * y + k[3] * (r2 + 2 * x * x) + k[8] * r2 + k[9] * r4,
                    y * radial + k[2] * (r2 + 2 * y * y) + 2 * k[3] * x * y + k[10] * r2 + k[11] * r4, 1});
  *u = camera.fx * tilted.x / tilted.z + camera.cx;
  *v = camera.fy * tilted.y / tilted.z + camera.cy;
  return true;
}

inline int fixed_definition(double position) {
  if (std::isnan(position)) return -32767 * 32;
  return static_cast<int>(std::nearbyint(std::clamp(32 * position, -32767.0 * 32, 32768.0 * 32 - 1)));
}

inline MapPicture map_definition(const CameraView &view, const RemapGrid &grid) {
  MapPicture map(grid.output);
  for (int j = 0; j < map.height(); ++j)
    for (int i = 0; i < map.width(); ++i) {
      const Vector ray =
          ray_definition(view, i * grid.scale_x + grid.offset_x, j * grid.scale_y + grid.offset_y);
      double u = 0, v = 0;
      if (project_definition(view.camera, ray, &u, &v))
        map.at(i, j) = {fixed_definition((u - grid.offset_x) / grid.scale_x),
                        fixed_definition((v - grid.offset_y) / grid.scale_y)};
      else
        map.at(i, j) = {0, 0, true};
    }
  return map;
}

// A picture of which each sample has `step` bytes, the first of them its channels.
inline int sample_definition(const Picture &source, int step, const RemapGrid &grid,
                             const RemapSettings &settings, int x, int y, int channel) {
  const int width = grid.source.width, height = grid.source.height;
  if (settings.border == Border::replicate)
    return source.at(std::clamp(x, 0, width - 1) * step + channel, std::clamp(y, 0, height - 1));
  if (x < 0 || y < 0 || x >= width || y >= height) return grid.border[channel];
  return source.at(x * step + channel, y);
}

inline int remap_definition(const Picture &source, int step, const RemapGrid &grid,
                            const RemapSettings &settings, const MapEntry &entry, int channel) {
  const auto at = [&](int x, int y) {
    return sample_definition(source, step, grid, settings, x, y, channel);
  };
  if (entry.is_nowhere) return grid.border[channel];
  if (settings.interpolation == Interpolation::nearest)
    return at(static_cast<int>(std::nearbyint(entry.x / 32.0)),
              static_cast<int>(std::nearbyint(entry.y / 32.0)));
  const int x = static_cast<int>(std::floor(entry.x / 32.0)),
            y = static_cast<int>(std::floor(entry.y / 32.0));
  const int fx = entry.x - 32 * x, fy = entry.y - 32 * y;
  const int sum = (32 - fx) * (32 - fy) * at(x, y) + fx * (32 - fy) * at(x + 1, y) +
                  (32 - fx) * fy * at(x, y + 1) + fx * fy * at(x + 1, y + 1);
  return (sum + 512) / 1024;
}

// Writes the channels of all samples of `output`, of step_out bytes each.
inline void remap_definition(const Picture &source, int step_in, const RemapGrid &grid,
                             const RemapSettings &settings, const MapPicture &map, int step_out,
                             Picture *output) {
  for (int y = 0; y < map.height(); ++y)
    for (int x = 0; x < map.width(); ++x)
      for (int c = 0; c < grid.channels; ++c)
        output->at(x * step_out + c, y) =
            static_cast<std::uint8_t>(remap_definition(source, step_in, grid, settings, map.at(x, y), c));
}

}  // namespace cudavision::test
