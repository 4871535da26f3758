// SPDX-License-Identifier: LGPL-2.1-or-later
// Splits rows of bytes, which may begin at any address, into chunks of 16 aligned bytes.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/common/image.h"

namespace cudavision {

constexpr int kChunkBytes = 16;

// The number of chunks of a row of row_bytes bytes: enough for every alignment of its first byte.
CUDAVISION_HOST_DEVICE constexpr int chunks_of_row(int row_bytes) {
  return divide_up(row_bytes, kChunkBytes) + 1;
}

struct RowChunk {
  // The index of the chunk's first byte in the row: in [-16, -1] for chunk 0, which begins before the
  // row.
  int first;
  // Whether all 16 bytes belong to the row. They are aligned then; otherwise some or all bytes lie outside
  // the row.
  bool whole;
};

// Chunk 0 ends at the first aligned address of the row, so only chunks at the ends of the row can be partial.
__device__ inline RowChunk chunk_of_row(const std::uint8_t *row, int row_bytes, int chunk) {
  const int head = static_cast<int>(-reinterpret_cast<std::uintptr_t>(row) & (kChunkBytes - 1));
  const int first = head - kChunkBytes + chunk * kChunkBytes;
  return {first, first >= 0 && first + kChunkBytes <= row_bytes};
}

}  // namespace cudavision
