// SPDX-License-Identifier: LGPL-2.1-or-later
// What the launches of the kernels that compute blocks share: the weights, and the choice of the size of a tile.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cuda/common/buffer_cuda.h"
#include "cuda/hog/block_tile.cuh"
#include "cuda/hog/hog_backends.h"

namespace cudavision::hog {

class OwnedWeights {
 public:
  // Enqueues a copy from host memory of this object, which must live until the copy is done. Call upload() once.
  Status upload(const HogParams &params, cudaStream_t stream) {
    const std::vector<float> of_y = axis_weights_y(params);
    host_ = axis_weights_x(params);
    y_ = host_.size();
    host_.insert(host_.end(), of_y.begin(), of_y.end());
    CUDAVISION_TRY(device_.allocate(host_.size()));
    return CUDAVISION_CHECK_CUDA(cudaMemcpyAsync(device_.data(), host_.data(), host_.size() * sizeof(float),
                                                 cudaMemcpyHostToDevice, stream));
  }
  AxisWeights view() const { return {device_.data(), device_.data() + y_}; }

 private:
  std::vector<float> host_;  // the weights of x, then those of y
  std::size_t y_ = 0;        // the index of the first one of y
  DeviceBuffer<float> device_;
};

// Whether kernels compiled with kDefaultParams (block_tile.cuh) compute blocks with these parameters.
inline bool has_default_params(const Rules &rules) { return with_default_params(rules) == rules; }
static_assert(sizeof(DefaultTileMemory<3>) <= 48 * 1024, "their tile has kDefaultColsLog2");

// The shared memory that a tile needs, in bytes.
inline std::size_t shared_bytes_of(const Rules &rules, int channels, const TilePlan &plan) {
  if (has_default_params(rules))
    return channels == 1 ? sizeof(DefaultTileMemory<1>) : sizeof(DefaultTileMemory<3>);
  const int histograms = kChunkRows * rules.cells_x << plan.cols_log2;
  const int floats = 256 + 2 * kChunkRows * vote_pitch(plan.width) + rules.bins * histograms +
                     (plan.rows << plan.cols_log2) * rules.length;
  return static_cast<std::size_t>(floats) * sizeof(float) +
         static_cast<std::size_t>(kChunkRows * plan.width) * sizeof(VoteBins);
}

// The largest tile that needs at most 48 KiB of shared memory.
inline TilePlan largest_tile(const Rules &rules, int channels) {
  constexpr std::size_t kMostBytes = 48 * 1024;
  constexpr int kMostRows = 8, kMostDefaultRows = 16;
  TilePlan plan{.cols_log2 = kDefaultColsLog2, .rows = kMostRows, .width = 0, .shared_bytes = 0};
  if (has_default_params(rules)) plan.rows = kMostDefaultRows;
  for (;;) {
    plan.width = ((1 << plan.cols_log2) - 1) * rules.stride.width + rules.block.width;
    plan.shared_bytes = shared_bytes_of(rules, channels, plan);
    if (plan.shared_bytes <= kMostBytes) return plan;
    // The loop ends, because a tile of one block of the largest size fits.
    if (plan.rows > 1)
      --plan.rows;
    else
      --plan.cols_log2;
  }
}

// Chooses the number of rows of a tile for all grids of blocks that one launch computes. Blocks overlap, so that tall
// tiles take fewer instructions in all. But a device runs only `at_once` tiles at the same time, and the last turn may
// leave most of it idle. The choice has the least product of turns and rows of pixels of a tile.
inline TilePlan plan_tiles(const Rules &rules, int channels, std::span<const HogShape> grids, int at_once) {
  TilePlan plan = largest_tile(rules, channels);
  const auto cost = [&](int rows) {
    constexpr int kSetUp = 2 * kChunkRows;  // the constant cost of a tile, in rows of pixels
    std::int64_t tiles = 0;
    for (const HogShape &grid : grids)
      tiles += std::int64_t{divide_up(grid.cols, 1 << plan.cols_log2)} * divide_up(grid.rows, rows);
    return (tiles + at_once - 1) / at_once * ((rows - 1) * rules.stride.height + rules.block.height + kSetUp);
  };
  for (int rows = plan.rows - 1; rows > 0; --rows)
    if (cost(rows) < cost(plan.rows)) plan.rows = rows;
  plan.shared_bytes = shared_bytes_of(rules, channels, plan);
  return plan;
}

}  // namespace cudavision::hog
