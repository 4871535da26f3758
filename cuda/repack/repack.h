// SPDX-License-Identifier: LGPL-2.1-or-later
// Repacks frames of formats that the algorithms do not read (10 to 16 bits, planar RGB, alpha in front) into
// frames of 8 bits, and writes back what was drawn there.
#pragma once

#include <cstdint>
#include <optional>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"
#include "cuda/common/host_device.h"
#include "cuda/common/image.h"
#include "cuda/common/status.h"

namespace cudavision {

// The range of 16-bit grey values that is mapped to 0 to 255.
struct GrayRange {
  static constexpr int kMost = 65535;
  int low = 0, high = kMost;  // 0 <= low < high <= kMost

  friend bool operator==(const GrayRange &, const GrayRange &) = default;
};

Status validate(const GrayRange &range);

// One component of a frame, in its own format and with 8 bits. A sample of the former holds its eight most
// significant bits from bit `bit` of its first byte on, little-endian: bit 0 is the whole byte, and 2 takes
// six bits of the first byte and two of the next one.
struct RepackedComponent {
  Component wide;
  int bit = 0;      // 0 to 7
  Component eight;  // with the same shift_x and shift_y
  // The bits below these eight that belong to the sample, 0 to 8. If bit is 0 they lie in the byte before; otherwise there
  // are at most `bit` of them.
  int low = 0;
};

struct RepackedFrame {
  int width = 0, height = 0;
  int count = 0;  // of components, alpha included
  RepackedComponent component[4];
  // For a single component of 16 bits whose `bit` is 0 and whose first byte is the less significant one: an
  // 8-bit value v8 = (v - low) * 256 / (high - low + 1), rounded down and limited to 0 to 255, stands for v.
  std::optional<GrayRange> range;

  Size size() const { return {width, height}; }
};

// Sets the 8-bit samples of the first `components` components to those of the wide frame. CUDA: enqueues one
// kernel. Errors: components of different subsampling, and errors of the device.
Status repack_frame(const Execution &execution, const RepackedFrame &frame, int components);

// Writes each 8-bit sample of `region` that differs from the sample of the wide frame into the eight most significant bits
// of this sample, and keeps its other bits; with a GrayRange, writes low + v * (high - low) / 255 instead, rounded to
// nearest, where v is the 8-bit sample. Samples that do not differ keep all bits. A subsampled chroma sample belongs to the
// region if any of its pixels does. The region lies within the frame.
// replaced: a mask of the frame's size, or empty. Where it is not 0, samples are written even if they do not differ, and
// their lower bits become 0, so that nothing of the old sample is left. For a subsampled sample, its first pixel counts.
// CUDA: enqueues one kernel.
Status unpack_frame(const Execution &execution, const RepackedFrame &frame, Region region,
                    ImageView<const std::uint8_t> replaced = {});

}  // namespace cudavision
