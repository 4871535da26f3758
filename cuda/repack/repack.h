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

// One component of a frame, in its original format (`wide`) and with 8 bits per sample (`eight`). The eight most
// significant bits of a wide sample begin at bit `bit` of the byte that `wide` points to, in little-endian order: with
// bit 0 they are this byte, with bit 2 they are six bits of this byte and two of the next one.
struct RepackedComponent {
  Component wide;
  int bit = 0;      // 0 to 7
  Component eight;  // with the same shift_x and shift_y
  // How many bits of the sample are below these eight: 0 to 8. If `bit` is 0, they are the upper bits of the preceding
  // byte; otherwise there are at most `bit` of them.
  int low = 0;
};

struct RepackedFrame {
  int width = 0, height = 0;
  int count = 0;  // of components, alpha included
  RepackedComponent component[4];
  // Only for a single 16-bit component whose `bit` is 0 and whose `wide` points to the less significant byte: a value v
  // becomes (v - low) * 256 / (high - low + 1), rounded down and limited to 0 to 255, instead of its eight upper bits.
  std::optional<GrayRange> range;

  Size size() const { return {width, height}; }
};

// Converts the first `components` components to 8 bits: sets their `eight` samples from the `wide` ones. CUDA: enqueues
// one kernel. Errors: `wide` and `eight` with different subsampling, members out of range, and errors of the device.
Status repack_frame(const Execution &execution, const RepackedFrame &frame, int components);

// Writes back what was drawn. Where an 8-bit sample in `region` differs from the converted wide sample, it replaces the
// eight most significant bits of the wide sample, and the other bits are kept; with a GrayRange, the wide sample
// becomes low + v * (high - low) / 255, rounded to nearest, where v is the 8-bit sample. Wide samples that do not
// differ keep all bits. A subsampled chroma sample belongs to the region if any of its pixels does. The region must lie
// within the frame.
// replaced: a mask of the frame's size, or empty. Where it is not 0, wide samples are written even if they do not
// differ, and (without a GrayRange) their lower bits become 0, so that nothing of the old sample is left. For a
// subsampled sample, the mask is read at its first pixel. CUDA: enqueues one kernel.
Status unpack_frame(const Execution &execution, const RepackedFrame &frame, Region region,
                    ImageView<const std::uint8_t> replaced = {});

}  // namespace cudavision
