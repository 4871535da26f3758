// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes a new picture out of a camera's picture, as cv::remap does: a map says where each of its samples lies there.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/image.h"
#include "cuda/remap/camera_view.h"

namespace cudavision {

enum class Interpolation { nearest, linear };
// The samples beyond the edges of the camera's picture. Places that are nowhere (CameraView) have the constant always.
enum class Border { constant, replicate };

// Some components of a frame that lie side by side and have one resolution, such as the luma of NV12 (one channel, a
// step of one byte), its chroma (two channels, two bytes), RGBA (four, four) or the luma of YUY2 (one, two).
struct SampleGrid {
  std::uint8_t *data = nullptr;
  std::ptrdiff_t pitch_bytes = 0;
  int step_bytes = 1;  // from one sample to the next
};

// What is the same for all frames. The sample (i, j) lies at the pixel (i * scale_x + offset_x, j * scale_y +
// offset_y), in the camera's picture as in the new one.
struct RemapGrid {
  int channels = 1;  // 1 to 4
  int scale_x = 1, scale_y = 1;
  double offset_x = 0, offset_y = 0;
  Size source, output;          // in samples
  std::uint8_t border[4] = {};  // the constant
};

struct RemapSettings {
  Interpolation interpolation = Interpolation::linear;
  Border border = Border::constant;

  friend bool operator==(const RemapSettings &, const RemapSettings &) = default;
};

// Not thread-safe: use one per stream.
class Remap {
 public:
  static constexpr int kMostGrids = 4;
  virtual ~Remap() = default;
  // Makes the maps anew. Call it before the first run(). A position is computed in doubles, rounded to 1/32 of a sample
  // (halves to even) and limited to 16 bits, as in OpenCV's maps of the types CV_16SC2 and CV_16UC1; NaN becomes the
  // least value. CUDA: enqueues one copy and one kernel; between two calls the stream must be synchronised.
  virtual Status set_view(const CameraView &view) = 0;
  // Computes all samples of `output` from `source`, which must not overlap: one of each for each grid. Bytes between
  // the channels of `output` are not written. Linear interpolation equals cv::remap of OpenCV 4.6 for 8 bits with these
  // maps. The nearest sample is the one to which the position of the map is rounded, halves to even; cv::remap gives
  // the same with that sample alone as its map (CV_16SC2 without CV_16UC1). CUDA: enqueues one kernel.
  virtual Status run(const SampleGrid *source, const SampleGrid *output, const RemapSettings &settings) = 0;
};

// grids: `count` of them, at most kMostGrids; those with equal scales, offsets and sizes share a map. Scratch memory:
// six bytes for each sample of a map.
Status make_remap(const Execution &execution, const RemapGrid *grids, int count,
                  std::unique_ptr<Remap> *remap);

}  // namespace cudavision
