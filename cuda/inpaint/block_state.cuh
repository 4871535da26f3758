// SPDX-License-Identifier: LGPL-2.1-or-later
// The state of the fill that a block keeps: FillState (inpaint_rules.h), with bits and maxima to find pixels quickly.
#pragma once

#include <cuda_runtime.h>

#include "cuda/inpaint/inpaint_rules.h"

namespace cudavision::inpaint {

// A target_key() or source_key(), in the type that atomics take.
using Key = unsigned long long;

// A group is 8 neighbouring pixels of a row of the area (FillState::area). BlockState::best has an element for each.
constexpr int kGroupBits = 3, kGroup = 1 << kGroupBits;

// One bit for each pixel of the area, with a margin of bits that are always 0: one row above and below, 32 columns on
// the left, and at least 32 on the right. Windows around pixels reach at most 22 columns beyond the area (rating.cuh).
struct BitRows {
  std::uint32_t *words;
  int pitch;  // words in a row

  CUDAVISION_HOST_DEVICE static constexpr int pitch_of(int width) { return divide_up(width, 32) + 2; }
  // The index of the word that holds the bit of a pixel.
  CUDAVISION_HOST_DEVICE int index(int x, int y) const { return (y + 1) * pitch + ((x + 32) >> 5); }
  // Whether the bit of a pixel is set. Pixels in any row above or below the area have no bit set. height: of the area.
  CUDAVISION_HOST_DEVICE bool has_in_any_row(int x, int y, int height) const {
    return (words[index(x, clamp_index(y + 1, height + 2) - 1)] >> (x & 31) & 1) != 0;
  }
  // The bits of 32 pixels of a row, from x on.
  CUDAVISION_HOST_DEVICE std::uint32_t bits_from(int x, int y) const {
    const std::uint32_t *word = words + index(x, y);
    return static_cast<std::uint32_t>((std::uint64_t{word[1]} << 32 | word[0]) >> (x & 31));
  }
};

// All arrays lie in shared memory, or all in global memory.
struct BlockState : FillState {
  // The largest target_key() of each group, or 0 if the group has no pixel of the front.
  Key *best;
  // The filled pixels; the filled pixels whose eight neighbours are filled, too; and the pixels of the front.
  BitRows filled, interior, front;

  CUDAVISION_HOST_DEVICE static constexpr int pitch_of(int width) {
    return divide_up(width, kGroup) * kGroup;
  }
  CUDAVISION_HOST_DEVICE int groups_in_row() const { return pitch >> kGroupBits; }
  CUDAVISION_HOST_DEVICE int bit_words() const { return filled.pitch * (area.height + 2); }
};

// The sizes of the arrays of a BlockState, by which state_in() divides its memory.
struct StateLayout {
  Region area;
  int pitch, pixels, bit_pitch, bit_words;

  CUDAVISION_HOST_DEVICE constexpr explicit StateLayout(Region around)
      : area(around),
        pitch(BlockState::pitch_of(area.width)),
        pixels(pitch * area.height),
        bit_pitch(BitRows::pitch_of(area.width)),
        bit_words(bit_pitch * (area.height + 2)) {}

  // The bytes of the state, a multiple of 16.
  CUDAVISION_HOST_DEVICE constexpr std::size_t bytes() const {
    const auto all = static_cast<std::size_t>(pixels), words = static_cast<std::size_t>(bit_words);
    return (all * (sizeof(std::uint32_t) + sizeof(ConfidenceCode)) + all / kGroup * sizeof(Key) +
            3 * words * sizeof(std::uint32_t) + 15) /
           16 * 16;
  }
};

// Places the state in layout.bytes() bytes of memory, which is aligned to 16 bytes, as are all rows of words and
// confidences.
CUDAVISION_HOST_DEVICE inline BlockState state_in(void *memory, const StateLayout &layout) {
  BlockState s;
  s.area = layout.area;
  s.pitch = layout.pitch;
  s.words = static_cast<std::uint32_t *>(memory);
  s.confidence = reinterpret_cast<ConfidenceCode *>(s.words + layout.pixels);
  s.best = reinterpret_cast<Key *>(s.confidence + layout.pixels);
  s.filled.pitch = s.interior.pitch = s.front.pitch = layout.bit_pitch;
  s.filled.words = reinterpret_cast<std::uint32_t *>(s.best + layout.pixels / kGroup);
  s.interior.words = s.filled.words + layout.bit_words;
  s.front.words = s.interior.words + layout.bit_words;
  return s;
}

}  // namespace cudavision::inpaint
