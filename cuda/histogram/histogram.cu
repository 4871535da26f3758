// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of the histogram, one kernel. Each block counts in shared memory and adds its counts to an
// accumulator in global memory; the last block to finish sums the values of each bin and resets the
// accumulator for the next frame.
#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/common/buffer.h"
#include "cuda/common/grid.h"
#include "cuda/common/last_block.cuh"
#include "cuda/common/launch.h"
#include "cuda/common/row_chunks.cuh"
#include "cuda/histogram/histogram_backends.h"
#include "cuda/histogram/histogram_rules.h"

namespace cudavision::histogram {
namespace {

constexpr int kThreads = 1024;
// The largest grid: one block per multiprocessor of an H100; smaller devices run the blocks in several waves.
constexpr int kMaxBlocks = 132;
constexpr int kCopies = 4;  // copies of the tables in a block; a quarter of its warps shares each

// In global memory; all zero between frames.
struct Accumulator {
  unsigned count[kMaxChannels][kValues];
  unsigned blocks_done;
};

// The samples and their division into chunks (row_chunks.cuh); a kernel argument.
struct Layout {
  Samples samples;
  int chunks_per_row[3];  // of samples.rows[i]
  int chunks[3];          // of all rows of samples.rows[i]
};

// The constant 1 and the unused result let the compiler emit the instruction that first sums the lanes of a
// warp with equal addresses, so a constant image costs no more than noise.
__device__ void count_value(unsigned *table, unsigned value) { atomicAdd(&table[value], 1u); }

// Counts all bytes of a chunk whose first byte is byte `first` of its row.
template <int kPeriod>
__device__ void count_whole_chunk(uint4 words, const SampleRows &rows, int first,
                                  unsigned (*tables)[kValues]) {
  const unsigned word[4] = {words.x, words.y, words.z, words.w};
  unsigned *table[kPeriod];  // table[i] counts bytes i, i + kPeriod, ... of the chunk
#pragma unroll
  for (int i = 0; i < kPeriod; ++i) {
    const int channel = rows.channel_of[(first + i) % kPeriod];
    table[i] = channel < 0 ? nullptr : tables[channel];
  }
#pragma unroll
  for (int i = 0; i < kChunkBytes; ++i)
    if (table[i % kPeriod] != nullptr) count_value(table[i % kPeriod], word[i / 4] >> i % 4 * 8 & 255);
}

// Counts the bytes of one chunk: all at once if the chunk lies within the row, otherwise byte by byte.
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

// The work of the last block: sums the values of each bin and resets the accumulator. folded: shared memory
// for channels * bins counts.
__device__ void fold(Accumulator *accumulator, int channels, int bins, const BinTable &table,
                     std::uint32_t *counts, unsigned *folded) {
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < channels * bins; i += kThreads) folded[i] = 0;
  __syncthreads();
  for (int i = thread; i < channels * kValues; i += kThreads) {
    const int channel = i / kValues, value = i % kValues, bin = table.bin[value];
    // The atomic reads L2, where the atomics of the other blocks have written.
    const unsigned count = atomicExch(&accumulator->count[channel][value], 0u);
    if (bin != kOutOfRange && count != 0) atomicAdd(&folded[channel * bins + bin], count);
  }
  __syncthreads();
  for (int i = thread; i < channels * bins; i += kThreads) counts[i] = folded[i];
  if (thread == 0) accumulator->blocks_done = 0;
}

static __global__ void __launch_bounds__(kThreads)
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
    Layout layout{.samples = samples, .chunks_per_row = {}, .chunks = {}};
    int max_chunks = 0;
    for (int i = 0; i < samples.count; ++i) {
      const SampleRows &rows = samples.rows[i];
      layout.chunks_per_row[i] = chunks_of_row(rows.row_bytes);
      layout.chunks[i] = layout.chunks_per_row[i] * rows.rows;
      max_chunks = std::max(max_chunks, layout.chunks[i]);
    }
    const unsigned blocks = std::min<unsigned>(blocks_for(max_chunks, kThreads), kMaxBlocks);
    return CUDAVISION_LAUNCH_PDL("count_values_kernel", count_values_kernel, dim3(blocks), dim3(kThreads),
                                 execution_.stream, layout, accumulator_.data(), params.bins,
                                 bin_table(params), counts);
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
