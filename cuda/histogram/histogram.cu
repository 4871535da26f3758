// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of the histogram: one kernel. Each block counts in shared memory and adds its count of each bin to
// an accumulator in global memory, which also counts the blocks. The last block to add to a bin writes the total to the
// result and resets the accumulator for the next frame. No block waits for another one.
#include <cuda_runtime.h>

#include <algorithm>

#include "cuda/common/buffer_cuda.h"
#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/common/resident_blocks.cuh"
#include "cuda/common/row_chunks.cuh"
#include "cuda/common/static_shared.cuh"
#include "cuda/histogram/histogram_backends.h"

namespace cudavision::histogram {
namespace {

constexpr int kThreads = 512,
              kBlocksAtOnce = 4;  // blocks per multiprocessor, so that kernels of four frames run at once
// The largest grid: one block per multiprocessor of an H100; on smaller devices, a multiprocessor runs several blocks.
constexpr int kMaxBlocks = 132;
constexpr int kCopies = 4;  // copies of the tables per block; each is shared by a quarter of the warps

// In global memory; all zero between frames. The lower 32 bits of a sum hold the count of a bin, the upper 32 bits the
// number of blocks that have added their counts.
struct Accumulator {
  unsigned long long sums[kMaxChannels * kMaxBins];
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

// Adds this block's count of bin i to the accumulator. The last block to do so writes the total to counts[i].
__device__ void add_count(Accumulator *accumulator, int i, unsigned count, std::uint32_t *counts) {
  constexpr unsigned long long kBlock = 1ull << 32;
  const unsigned long long before = atomicAdd(&accumulator->sums[i], kBlock + count);
  if (before / kBlock + 1 != gridDim.x) return;
  counts[i] = static_cast<unsigned>(before) + count;
  accumulator->sums[i] = 0;
}

static __global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, kBlocksAtOnce))
    count_values_kernel(const __grid_constant__ Layout layout, Accumulator *accumulator, int bins,
                        const __grid_constant__ BinTable table, std::uint32_t *counts, Input input) {
  CUDAVISION_SHARED(unsigned[kCopies][kMaxChannels][kValues], tables);
  CUDAVISION_SHARED(unsigned[kMaxChannels * kMaxBins], folded);  // the counts of the bins
  const int thread = static_cast<int>(threadIdx.x), channels = layout.samples.channels;
  for (int i = thread; i < channels * kValues; i += kThreads)
    for (int c = 0; c < kCopies; ++c) (&tables[c][0][0])[i] = 0;
  for (int i = thread; i < channels * bins; i += kThreads) folded[i] = 0;
  __syncthreads();
  let_next_kernel_start();
  wait_for_input(input);

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
    const int bin = table.bin[i % kValues];
    if (bin != kOutOfRange && sum != 0) atomicAdd(&folded[i / kValues * bins + bin], sum);
  }
  __syncthreads();
  wait_for_kernel_ahead();
  for (int i = thread; i < channels * bins; i += kThreads) add_count(accumulator, i, folded[i], counts);
}

class HistogramCuda final : public Histogram {
 public:
  explicit HistogramCuda(const Execution &execution) : execution_(execution) {}

  Status allocate() {
    CUDAVISION_TRY(accumulator_.allocate(1));
    return CUDAVISION_CHECK_CUDA(
        cudaMemsetAsync(accumulator_.data(), 0, sizeof(Accumulator), execution_.stream));
  }

  Status run(const Samples &samples, const HistogramParams &params, std::uint32_t *counts,
             Input input) override {
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
                                 bins_.of(params), counts, input);
  }

 private:
  Execution execution_;
  DeviceBuffer<Accumulator> accumulator_;
  Bins bins_;
};

}  // namespace

Status make_histogram_cuda(const Execution &execution, std::unique_ptr<Histogram> *histogram) {
  return make_as<HistogramCuda>(histogram, execution);
}

}  // namespace cudavision::histogram
