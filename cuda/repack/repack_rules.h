// SPDX-License-Identifier: LGPL-2.1-or-later
// The conversion of a sample to 8 bits and back, which both backends of repacking share.
#pragma once

#include "cuda/repack/repack.h"

namespace cudavision::repack {

// RepackedFrame::range in a form that kernels take as a parameter. used: whether the frame has such a range.
struct Range {
  bool used = false;
  int low = 0, high = GrayRange::kMost;
};

inline Range range_of(const RepackedFrame &frame) {
  if (!frame.range) return {};
  return {.used = true, .low = frame.range->low, .high = frame.range->high};
}

CUDAVISION_HOST_DEVICE inline int word_at(const std::uint8_t *sample) { return sample[0] | sample[1] << 8; }
CUDAVISION_HOST_DEVICE inline void set_word(std::uint8_t *sample, int word) {
  sample[0] = static_cast<std::uint8_t>(word & 255);
  sample[1] = static_cast<std::uint8_t>(word >> 8 & 255);
}

// Converts a sample to 8 bits. The second byte is read only if some of the eight bits are in it.
CUDAVISION_HOST_DEVICE inline std::uint8_t read_sample(const std::uint8_t *sample, int bit,
                                                       const Range &range) {
  if (!range.used) return bit == 0 ? sample[0] : static_cast<std::uint8_t>(word_at(sample) >> bit & 255);
  const int value = word_at(sample);
  if (value <= range.low) return 0;
  if (value > range.high) return 255;
  return static_cast<std::uint8_t>((value - range.low) * 256 / (range.high - range.low + 1));
}

// Writes `value` to a sample, unless read_sample() already returns this value.
CUDAVISION_HOST_DEVICE inline void write_sample(std::uint8_t *sample, int bit, const Range &range,
                                                std::uint8_t value) {
  if (read_sample(sample, bit, range) == value) return;
  if (range.used)
    set_word(sample, range.low + (value * (range.high - range.low) * 2 + 255) / 510);
  else if (bit == 0)
    sample[0] = value;
  else
    set_word(sample, (word_at(sample) & ~(255 << bit)) | value << bit);
}

// Writes all bits of a sample: `value` to the eight most significant ones, 0 to the `low` bits below them.
CUDAVISION_HOST_DEVICE inline void replace_sample(std::uint8_t *sample, int bit, int low, const Range &range,
                                                  std::uint8_t value) {
  if (range.used) return set_word(sample, range.low + (value * (range.high - range.low) * 2 + 255) / 510);
  if (bit > 0)
    return set_word(sample, (word_at(sample) & ~(((256 << low) - 1) << (bit - low))) | value << bit);
  sample[0] = value;
  if (low > 0) sample[-1] = static_cast<std::uint8_t>(sample[-1] & ((1 << (8 - low)) - 1));
}

}  // namespace cudavision::repack
