// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of bytes at any address, read 16 bytes at a time.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/common/image.h"

namespace cudavision {

constexpr int kChunkBytes = 16;

// A row of row_bytes bytes has so many chunks, wherever it begins.
CUDAVISION_HOST_DEVICE constexpr int chunks_of_row(int row_bytes) {
  return divide_up(row_bytes, kChunkBytes) + 1;
}

struct RowChunk {
  int first;   // byte of the row: negative in the first chunk, by less than a chunk
  bool whole;  // all 16 bytes are of the row, and aligned; otherwise some or all lie outside of it
};

// Chunk 0 ends at the first aligned address of the row, so that all but the ends are whole.
__device__ inline RowChunk chunk_of_row(const std::uint8_t *row, int row_bytes, int chunk) {
  const int head = static_cast<int>(-reinterpret_cast<std::uintptr_t>(row) & (kChunkBytes - 1));
  const int first = head - kChunkBytes + chunk * kChunkBytes;
  return {first, first >= 0 && first + kChunkBytes <= row_bytes};
}

}  // namespace cudavision
