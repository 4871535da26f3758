// SPDX-License-Identifier: LGPL-2.1-or-later
// The operation of cudahistogram: counts the values of a frame, attaches the counts as a tensor and plots them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/common/owned_memory.h"
#include "cuda/draw/canvas.h"
#include "cuda/histogram/histogram.h"
#include "cuda/histogram/plot.h"
#include "gst/base/element/element.h"
#include "gst/base/results/tensor_pool.h"

namespace cudavision {

enum class HistogramMode { luma, channels };

struct HistogramSettings : HistogramParams {
  HistogramMode mode = HistogramMode::luma;

  friend bool operator==(const HistogramSettings &, const HistogramSettings &) = default;
};

class HistogramOperation final : public ElementOperation<HistogramSettings> {
 public:
  using ElementOperation::ElementOperation;

  Status allocate(const OperationSetup &setup);
  Status run(const Job &job) override;
  bool host_reads_result() const override { return false; }
  void describe(GstStructure *message) override;

 private:
  Reads reads() const override;
  Status lease_counts(int count, TensorPool::Lease *lease);
  Status read_back(const Job &job, const std::uint32_t *counts, int channels);
  Status plot(const Job &job, const std::uint32_t *counts, int channels);
  Status place_labels(const Job &job, const HistogramPlot &plot, int channels, Primitive *primitives);

  std::shared_ptr<DeviceContext> context_;
  std::unique_ptr<Histogram> histogram_;
  std::unique_ptr<TensorPool> pool_;
  int pool_count_ = 0;                   // the number of counts in each tensor of pool_
  std::vector<std::uint32_t> reported_;  // the counts for the message
  int reported_bins_ = 0;
  OwnedBytes primitives_;  // of the plot, and after them at most kMaxLabels of the labels
  static constexpr std::size_t kMaxLabels = 1024;
  struct LabelKey {
    Region area;
    int channels = 0, bins = 0, low = 0, high = 0;
    friend bool operator==(const LabelKey &, const LabelKey &) = default;
  };
  LabelKey label_key_;             // what labels_ were made for
  std::vector<Primitive> labels_;  // a member: it is valid until the copy to the device is done
  std::unique_ptr<Canvas> canvas_;
};

}  // namespace cudavision
