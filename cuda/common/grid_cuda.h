// SPDX-License-Identifier: LGPL-2.1-or-later
// Block and grid sizes of kernel launches.
#pragma once

#include <cuda_runtime.h>

#include "cuda/common/image.h"

namespace cudavision {

// The block of kernels that work on pixels: one warp covers 32 neighbouring pixels of a row.
constexpr int kBlockX = 32, kBlockY = 8;

// The number of blocks of per_block threads (or items) that cover count items. At least 1, because CUDA
// refuses an empty grid; kernels therefore compare their index with count.
inline unsigned blocks_for(int count, int per_block) {
  const int blocks = divide_up(count, per_block);
  return blocks < 1 ? 1u : static_cast<unsigned>(blocks);
}

inline dim3 block_2d() { return dim3(kBlockX, kBlockY); }

// The grid whose blocks, of block_width x block_height items each, cover width x height items.
inline dim3 grid_2d(int width, int height, int block_width = kBlockX, int block_height = kBlockY) {
  return dim3(blocks_for(width, block_width), blocks_for(height, block_height));
}

}  // namespace cudavision
