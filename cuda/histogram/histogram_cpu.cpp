// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of the histogram and of its plot. Each thread counts values in its own tables, which are summed
// afterwards.
#include <algorithm>
#include <ranges>

#include "cuda/common/per_thread.h"
#include "cuda/histogram/histogram_backends.h"
#include "cuda/histogram/plot_rules.h"

namespace cudavision::histogram {
namespace {

constexpr int kRowsPerTask = 72;  // counting fewer rows takes less time than waking a thread
// The number of tables per channel and thread. Adjacent samples, which are often equal, are counted in different
// tables, so that an increment need not wait for the previous one.
constexpr int kTables = 4;

struct Tables {
  std::uint32_t count[kMaxChannels][kTables][kValues];
};

// Counts bytes 0, kPeriod, 2 * kPeriod, ... of a row. Not inlined, so that the addresses of the tables stay
// in registers.
template <int kPeriod>
[[gnu::noinline]] void count_every(const std::uint8_t *row, int row_bytes,
                                   std::uint32_t (&tables)[kTables][kValues]) {
  int x = 0;
  for (; x + (kTables - 1) * kPeriod < row_bytes; x += kTables * kPeriod)
    for (int t = 0; t < kTables; ++t) ++tables[t][row[x + t * kPeriod]];
  for (; x < row_bytes; x += kPeriod) ++tables[0][row[x]];
}

constexpr decltype(&count_every<1>) kCountEvery[] = {count_every<1>, count_every<2>, count_every<3>,
                                                     count_every<4>};

void count_row(const SampleRows &rows, int y, Tables &tables) {
  const std::uint8_t *row = rows.data + y * rows.pitch_bytes;
  for (int byte = 0; byte < rows.period; ++byte)
    if (const int channel = rows.channel_of[byte]; channel >= 0)
      kCountEvery[rows.period - 1](row + byte, rows.row_bytes - byte, tables.count[channel]);
}

class HistogramCpu final : public Histogram {
 public:
  explicit HistogramCpu(const Execution &execution)
      : execution_(execution), tables_(*execution.workers, [] { return Tables(); }) {}

  Status run(const Samples &samples, const HistogramParams &params, std::uint32_t *counts, Input) override {
    CUDAVISION_TRY(validate(params));
    tables_.fit(*execution_.workers);
    int used = 0;  // how many threads may take part: at most one per task
    for (int i = 0; i < samples.count; ++i)
      used = std::max(used, divide_up(samples.rows[i].rows, kRowsPerTask));
    for (Tables &tables : tables_.each() | std::views::take(used))
      std::fill_n(&tables.count[0][0][0], samples.channels * kTables * kValues, 0u);
    for (int i = 0; i < samples.count; ++i) {
      const SampleRows &rows = samples.rows[i];
      CUDAVISION_TRY(execution_.workers->run_rows(
          rows.rows, kRowsPerTask, [&](int y, int slot) { count_row(rows, y, tables_[slot]); }));
    }
    fold(used, samples.channels, params, counts);
    return {};
  }

 private:
  // Sets `counts` to the sums over the tables of the first `threads` threads and over the values of each bin.
  void fold(int threads, int channels, const HistogramParams &params, std::uint32_t *counts) {
    const BinTable &bins = bins_.of(params);
    std::fill_n(counts, channels * params.bins, 0u);
    for (const Tables &tables : tables_.each() | std::views::take(threads))
      for (int channel = 0; channel < channels; ++channel)
        for (int v = 0; v < kValues; ++v) {
          if (bins.bin[v] == kOutOfRange) continue;
          std::uint32_t &count = counts[channel * params.bins + bins.bin[v]];
          for (const auto &table : tables.count[channel]) count += table[v];
        }
  }

  Execution execution_;
  PerThread<Tables> tables_;
  Bins bins_;
};

}  // namespace

Status make_histogram_cpu(const Execution &execution, std::unique_ptr<Histogram> *histogram) {
  return make_as<HistogramCpu>(histogram, execution);
}

Status plot_cpu(const Execution &, const std::uint32_t *counts, int channels, int bins,
                const HistogramPlot &plot, Primitive *primitives) {
  for (int channel = 0; channel < channels; ++channel) {
    const std::uint32_t *channel_counts = counts + channel * bins;
    const std::uint32_t largest = *std::max_element(channel_counts, channel_counts + bins);
    for (int i = 0; i < 2 + bins; ++i)
      *primitives++ =
          plot_primitive(plot, channel, channels, bins, i, i < 2 ? 0 : channel_counts[i - 2], largest);
  }
  return {};
}

}  // namespace cudavision::histogram
