// SPDX-License-Identifier: LGPL-2.1-or-later
// Copies rectangles of a picture to shared memory.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/common/image.h"

namespace cudavision {

using CopyWord = std::uint32_t;

// Whether all rows of a picture consist of whole, aligned words, so that it can be read word by word.
__device__ inline bool has_whole_words(ImageView<const std::uint8_t> picture) {
  constexpr std::ptrdiff_t kBytes = sizeof(CopyWord);
  return reinterpret_cast<std::uintptr_t>(picture.data) % kBytes == 0 && picture.pitch_bytes % kBytes == 0 &&
         picture.width % kBytes == 0;
}

// Copies `rows` rows of `columns` elements, with kGroups * kLanes threads; `thread` is the index of the caller. Each
// kLanes threads copy whole rows, so kLanes should be about the number of columns. Pitches are in elements.
template <int kGroups, int kLanes, typename T>
__device__ inline void copy_rows(const T *from, std::ptrdiff_t from_pitch, int columns, int rows, T *to,
                                 int to_pitch, int thread) {
  constexpr int kLoads = 4;  // rows whose loads overlap
  for (int column = thread % kLanes; column < columns; column += kLanes)
    for (int row = thread / kLanes; row < rows; row += kLoads * kGroups) {
      const T *source = from + row * from_pitch + column;
      T *target = to + row * to_pitch + column;
      T value[kLoads] = {};
#pragma unroll
      for (int k = 0; k < kLoads; ++k)
        if (row + k * kGroups < rows) value[k] = source[k * kGroups * from_pitch];
#pragma unroll
      for (int k = 0; k < kLoads; ++k)
        if (row + k * kGroups < rows) target[k * kGroups * to_pitch] = value[k];
    }
}

}  // namespace cudavision
