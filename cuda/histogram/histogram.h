// SPDX-License-Identifier: LGPL-2.1-or-later
// The histogram of each channel of an image: the exact number of samples of each value, as cv::calcHist with
// uniform ranges counts them. Both backends give the same counts.
//
// The CUDA backend follows the OpenCL tutorial "Histograms on a GPU", which keeps sub-histograms in local (shared)
// memory. Unlike the tutorial's, these counts never wrap around, and images of every size are counted completely.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"
#include "cuda/common/image.h"
#include "cuda/common/range.h"

namespace cudavision {

constexpr int kMaxChannels = 3, kMaxBins = 256;

// A value v is counted if range_min <= v < range_max; range_min must be less than range_max.
struct HistogramParams {
  int bins = 256;  // bins of equal width
  int range_min = 0;
  int range_max = 256;

  friend bool operator==(const HistogramParams &, const HistogramParams &) = default;
};

struct HistogramRanges {
  static constexpr Range<int> bins{1, kMaxBins};
  static constexpr Range<int> range_min{0, 255};
  static constexpr Range<int> range_max{1, 256};
};

// Fails if a parameter is out of its range or range_min is not less than range_max.
Status validate(const HistogramParams &params);

// The bin of a value v: floor((v - range_min) * bins / (range_max - range_min)), computed in double as
// cv::calcHist does; -1 if v is outside the range.
int bin_of(int value, const HistogramParams &params);

// Rows of interleaved samples. Byte i of a row, 0 <= i < row_bytes, belongs to channel channel_of[i %
// period], or to no channel if that is -1 (alpha, padding).
struct SampleRows {
  const std::uint8_t *data = nullptr;
  std::ptrdiff_t pitch_bytes = 0;
  int row_bytes = 0, rows = 0;
  int period = 1;  // 1 to 4
  int channel_of[4] = {0, -1, -1, -1};
};
// The samples of an image. rows[0] to rows[count - 1]: sets of rows that hold them, such as the planes of a frame.
struct Samples {
  int channels = 1;  // 1 to kMaxChannels
  int count = 1;     // the number of sets of rows, 1 to 3
  SampleRows rows[3];
};

// One channel: all pixels of a luma image.
Samples luma_samples(ImageView<const std::uint8_t> luma);
// The channels of a region of a frame: R, G, B or Y, U, V (independent of their order in memory), or gray. A
// subsampled chroma sample is counted once if it belongs to any pixel of the region.
Samples channel_samples(const Frame &frame, Region region);

// Not thread-safe: use one per stream.
class Histogram {
 public:
  virtual ~Histogram() = default;
  // counts[channel][bin], an array [samples.channels][params.bins], becomes the number of samples in each bin; the
  // counts are exact. Samples and counts are in the backend's memory and must not overlap. Each channel must have fewer
  // than 2^32 samples. input: when the samples are complete in device memory (execution.h). Fails, and writes nothing,
  // if the parameters are invalid. CUDA: enqueues one kernel.
  virtual Status run(const Samples &samples, const HistogramParams &params, std::uint32_t *counts,
                     Input input = Input::in_stream_order) = 0;
};

// Scratch memory: CUDA: about 6 KiB; CPU: 12 KiB per thread.
Status make_histogram(const Execution &execution, std::unique_ptr<Histogram> *histogram);

}  // namespace cudavision
