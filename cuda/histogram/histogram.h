// SPDX-License-Identifier: LGPL-2.1-or-later
// The histogram of each channel of a picture: how many samples have each value, exactly.
//
// Source: "Histograms on a GPU" (OpenCL tutorial), for sub-histograms in local memory; counts here never wrap
// and no pixel of an edge is dropped, as both happen there. Equal to cv::calcHist with uniform ranges.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"
#include "cuda/common/image.h"

namespace cudavision {

constexpr int kMaxChannels = 3, kMaxBins = 256;

struct HistogramParams {
  int bins = 256;       // 1 to 256, of equal width
  int range_min = 0;    // value v is counted when range_min <= v < range_max: 0 to 255
  int range_max = 256;  // 1 to 256, more than range_min

  friend bool operator==(const HistogramParams &, const HistogramParams &) = default;
};

Status validate(const HistogramParams &params);

// The bin of value v: floor((v - range_min) * bins / (range_max - range_min)), computed as cv::calcHist does,
// in double; -1 outside the range.
int bin_of(int value, const HistogramParams &params);

// Samples that lie side by side in memory: rows of row_bytes bytes whose byte i belongs to channel
// channel_of[i % period], or to none where that is -1 (alpha, padding).
struct SampleRows {
  const std::uint8_t *data = nullptr;
  std::ptrdiff_t pitch_bytes = 0;
  int row_bytes = 0, rows = 0;
  int period = 1;  // 1 to 4
  int channel_of[4] = {0, -1, -1, -1};
};
struct Samples {
  int channels = 1;  // 1 to kMaxChannels
  int count = 1;     // of rows
  SampleRows rows[3];
};

// One channel: an image of bytes.
Samples luma_samples(ImageView<const std::uint8_t> luma);
// The channels of a region of a frame: R, G, B or Y, U, V whatever the order in memory, gray alone. A
// subsampled chroma sample counts once, when any pixel of the region belongs to it.
Samples channel_samples(const Frame &frame, Region region);

// Not thread-safe: one per stream.
class Histogram {
 public:
  virtual ~Histogram() = default;
  // counts: [samples.channels][params.bins], becomes the number of samples in each bin. Samples and counts in
  // the backend's memory, not overlapping. Fewer than 2^32 samples a channel. Exact, whatever the order of
  // threads. CUDA: enqueues one kernel.
  virtual Status run(const Samples &samples, const HistogramParams &params, std::uint32_t *counts) = 0;
};

Status make_histogram(const Execution &execution, std::unique_ptr<Histogram> *histogram);

}  // namespace cudavision
