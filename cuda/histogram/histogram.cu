// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of the histogram: one kernel. Blocks count into shared memory and add that to global
// memory; the last block to finish folds values into bins and leaves the accumulator zeroed for the next
// frame.
#include <cuda_runtime.h>

#include "cuda/common/buffer.h"
#include "cuda/common/last_block.cuh"
#include "cuda/common/launch.h"
#include "cuda/common/row_chunks.cuh"
#include "cuda/histogram/histogram_rules.h"

namespace cudavision::histogram {
namespace {

constexpr int kThreads = 1024;
constexpr int kBlocks = 132;  // one for each multiprocessor of a large device; smaller ones run them in turns
constexpr int kCopies = 4;    // of the tables in a block: a quarter of its warps share one

struct Accumulator {  // in global memory, all zero between frames
  unsigned count[kMaxChannels][kValues];
  unsigned blocks_done;
};

struct Layout {  // by value
  Samples samples;
  int chunks_per_row[3];  // of the rows of samples.rows[i], which begin where alignment has them begin
  int chunks[3];
};

// The literal 1 and the dropped result make this the instruction that adds up equal addresses of a warp first:
// a constant picture costs no more than noise.
__device__ void count_value(unsigned *table, unsigned value) { atomicAdd(&table[value], 1u); }

// All bytes of a chunk that begins at byte `first` of its row.
template <int kPeriod>
__device__ void count_whole_chunk(uint4 words, const SampleRows &rows, int first,
                                  unsigned (*tables)[kValues]) {
  const unsigned word[4] = {words.x, words.y, words.z, words.w};
  unsigned *table[kPeriod];  // of bytes i, i + kPeriod, ... of the chunk
#pragma unroll
  for (int i = 0; i < kPeriod; ++i) {
    const int channel = rows.channel_of[(first + i) % kPeriod];
    table[i] = channel < 0 ? nullptr : tables[channel];
  }
#pragma unroll
  for (int i = 0; i < kChunkBytes; ++i)
    if (table[i % kPeriod] != nullptr) count_value(table[i % kPeriod], word[i / 4] >> i % 4 * 8 & 255);
}

// The bytes of one chunk: all at once where it lies within the row, byte by byte at the row's ends.
__device__ void count_chunk(const SampleRows &rows, int y, int chunk, unsigned (*tables)[kValues]) {
  const std::uint8_t *row = rows.data + y * rows.pitch_bytes;
  const auto [first, whole] = chunk_of_row(row, rows.row_bytes, chunk);
  if (whole) {
    const uint4 words = *reinterpret_cast<const uint4 *>(row + first);
    if (rows.period == 1) count_whole_chunk<1>(words, rows, first, tables);
    if (rows.period == 2) count_whole_chunk<2>(words, rows, first, tables);
    if (rows.period == 3) count_whole_chunk<3>(words, rows, first, tables);
    if (rows.period == 4) count_whole_chunk<4>(words, rows, first, tables);
  } else {
    for (int i = max(first, 0); i < min(first + kChunkBytes, rows.row_bytes); ++i)
      if (const int channel = rows.channel_of[i % rows.period]; channel >= 0)
        count_value(tables[channel], row[i]);
  }
}

// What the last block does: bins from values.
__device__ void fold(Accumulator *accumulator, int channels, int bins, const BinTable &table,
                     std::uint32_t *counts, unsigned *folded) {
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < channels * bins; i += kThreads) folded[i] = 0;
  __syncthreads();
  for (int i = thread; i < channels * kValues; i += kThreads) {
    const int channel = i / kValues, value = i % kValues, bin = table.bin[value];
    // Through L2, where the other blocks' atomics are.
    const unsigned count = atomicExch(&accumulator->count[channel][value], 0u);
    if (bin != kNoBin && count != 0) atomicAdd(&folded[channel * bins + bin], count);
  }
  __syncthreads();
  for (int i = thread; i < channels * bins; i += kThreads) counts[i] = folded[i];
  if (thread == 0) accumulator->blocks_done = 0;
}

__global__ void __launch_bounds__(kThreads)
    count_values_kernel(const __grid_constant__ Layout layout, Accumulator *accumulator, int bins,
                        const __grid_constant__ BinTable table, std::uint32_t *counts) {
  __shared__ unsigned tables[kCopies][kMaxChannels][kValues];
  __shared__ bool is_last;
  const int thread = static_cast<int>(threadIdx.x), channels = layout.samples.channels;
  for (int i = thread; i < channels * kValues; i += kThreads)
    for (int c = 0; c < kCopies; ++c) (&tables[c][0][0])[i] = 0;
  __syncthreads();
  wait_for_kernel_ahead();

  const int copy = thread / 32 % kCopies;
  for (int r = 0; r < layout.samples.count; ++r)
    for (int i = static_cast<int>(blockIdx.x) * kThreads + thread; i < layout.chunks[r];
         i += static_cast<int>(gridDim.x) * kThreads)
      count_chunk(layout.samples.rows[r], i / layout.chunks_per_row[r], i % layout.chunks_per_row[r],
                  tables[copy]);
  __syncthreads();

  for (int i = thread; i < channels * kValues; i += kThreads) {
    unsigned sum = 0;
    for (int c = 0; c < kCopies; ++c) sum += (&tables[c][0][0])[i];
    if (sum != 0) atomicAdd(&accumulator->count[i / kValues][i % kValues], sum);
  }
  if (is_last_block(&accumulator->blocks_done, gridDim.x, &is_last))
    fold(accumulator, channels, bins, table, counts, &tables[0][0][0]);
}

class HistogramCuda final : public Histogram {
 public:
  explicit HistogramCuda(const Execution &execution) : execution_(execution) {}

  Status allocate() {
    CUDAVISION_TRY(accumulator_.allocate(1));
    return CUDAVISION_CHECK_CUDA(
        cudaMemsetAsync(accumulator_.data(), 0, sizeof(Accumulator), execution_.stream));
  }

  Status run(const Samples &samples, const HistogramParams &params, std::uint32_t *counts) override {
    CUDAVISION_TRY(validate(params));
    Layout layout{samples, {}, {}};
    int most = 0;
    for (int i = 0; i < samples.count; ++i) {
      const SampleRows &rows = samples.rows[i];
      layout.chunks_per_row[i] = chunks_of_row(rows.row_bytes);
      layout.chunks[i] = layout.chunks_per_row[i] * rows.rows;
      most = layout.chunks[i] > most ? layout.chunks[i] : most;
    }
    const int blocks = divide_up(most, kThreads) < kBlocks ? divide_up(most, kThreads) : kBlocks;
    return CUDAVISION_LAUNCH_EARLY("count_values_kernel", count_values_kernel,
                                   dim3(static_cast<unsigned>(blocks)), dim3(kThreads), execution_.stream,
                                   layout, accumulator_.data(), params.bins, bin_table(params), counts);
  }

 private:
  Execution execution_;
  DeviceBuffer<Accumulator> accumulator_;
};

}  // namespace

Status make_histogram_cuda(const Execution &execution, std::unique_ptr<Histogram> *histogram) {
  auto made = std::make_unique<HistogramCuda>(execution);
  CUDAVISION_TRY(made->allocate());
  *histogram = std::move(made);
  return {};
}

}  // namespace cudavision::histogram
