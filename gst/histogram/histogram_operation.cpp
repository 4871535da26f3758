// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/histogram/histogram_operation.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "cuda/histogram/plot_labels.h"
#include "gst/base/frame/format.h"
#include "gst/base/results/attach.h"
#include "gst/histogram/histogram_style.h"

namespace cudavision {

Status HistogramOperation::allocate(const OperationSetup &setup) {
  context_ = setup.context;
  CUDAVISION_TRY(make_histogram(setup.execution, &histogram_));
  CUDAVISION_TRY(primitives_.allocate(setup.execution,
                                      sizeof(Primitive) * (plot_size(kMaxChannels, kMaxBins) + kMaxLabels)));
  labels_.clear(), label_key_ = {};
  return make_canvas(setup.execution, {GST_VIDEO_INFO_WIDTH(setup.info), GST_VIDEO_INFO_HEIGHT(setup.info)},
                     &canvas_);
}

Reads HistogramOperation::reads() const {
  return settings_.mode == HistogramMode::channels ? Reads::channels : Reads::luma;
}

Status HistogramOperation::run(const Job &job) {
  const bool channels = settings_.mode == HistogramMode::channels;
  Samples samples = channels ? channel_samples(job.frame, job.region) : luma_samples(job.luma);
  if (channels && job.luma.data != nullptr) samples.rows[0] = luma_samples(job.luma).rows[0];
  TensorPool::Lease lease;
  CUDAVISION_TRY(lease_counts(samples.channels * settings_.bins, &lease));
  auto *counts = static_cast<std::uint32_t *>(lease.data);
  CUDAVISION_TRY(attach_tensor(job, "histogram", GST_CUDA_VISION_ELEMENT_TYPE_U32,
                               {samples.channels, settings_.bins}, std::move(lease.buffer)));
  CUDAVISION_TRY(histogram_->run(samples, settings_, counts, job.input));
  if (job.report) CUDAVISION_TRY(read_back(job, counts, samples.channels));
  return job.draw ? plot(job, counts, samples.channels) : Status();
}

// Adds the number of counted samples, and the bin of the first channel with the largest count.
void HistogramOperation::describe(GstStructure *message) {
  const auto first = reported_.begin(), end = first + reported_bins_;
  gst_structure_set(message, "counted", G_TYPE_UINT64, std::accumulate(first, reported_.end(), guint64{0}),
                    "fullest-bin", G_TYPE_UINT, static_cast<guint>(std::max_element(first, end) - first),
                    nullptr);
}

// Takes a tensor of `count` elements from the pool. A change of bins or mode replaces the pool, because all
// tensors of a pool have the same size.
Status HistogramOperation::lease_counts(int count, TensorPool::Lease *lease) {
  if (count != pool_count_) {
    pool_count_ = 0;
    CUDAVISION_TRY(
        TensorPool::make(context_, static_cast<std::size_t>(count) * sizeof(std::uint32_t), &pool_));
    pool_count_ = count;
  }
  return pool_->acquire(lease);
}

// Enqueues the copy of the counts that describe() reads.
Status HistogramOperation::read_back(const Job &job, const std::uint32_t *counts, int channels) {
  reported_.assign(static_cast<std::size_t>(channels) * static_cast<std::size_t>(settings_.bins), 0);
  reported_bins_ = settings_.bins;
  return copy_to_host(job.execution, reported_.data(), counts, reported_.size() * sizeof(std::uint32_t));
}

Status HistogramOperation::plot(const Job &job, const std::uint32_t *counts, int channels) {
  const HistogramPlot plot = styled_plot(job.region, channels, *job.info);
  auto *primitives = static_cast<Primitive *>(primitives_.data());
  CUDAVISION_TRY(plot_histogram(job.execution, counts, channels, settings_.bins, plot, primitives));
  const int count = plot_size(channels, settings_.bins);
  CUDAVISION_TRY(place_labels(job, plot, channels, primitives + count));
  return canvas_->draw(job.frame, primitives, count + static_cast<int>(labels_.size()), nullptr);
}

// Makes and uploads the labels again only if their place, the range of values or the number of bars has changed.
Status HistogramOperation::place_labels(const Job &job, const HistogramPlot &plot, int channels,
                                        Primitive *primitives) {
  const LabelKey key{plot.area, channels, settings_.bins, settings_.range_min, settings_.range_max};
  if (key == label_key_) return {};
  const char *names = channels == 1 ? "Y" : GST_VIDEO_INFO_IS_RGB(job.info) ? "RGB" : "YUV";
  std::vector<Primitive> labels = plot_labels(plot, channels, names, settings_);
  labels.resize(std::min(labels.size(), kMaxLabels));
  // An earlier copy to the device may still read the last labels.
  if (!labels_.empty() && job.execution.backend == Backend::cuda) CUDAVISION_TRY(context_->synchronize());
  labels_ = std::move(labels);
  label_key_ = key;
  if (labels_.empty()) return {};
  return copy_from_host(job.execution, primitives, labels_.data(), labels_.size() * sizeof(Primitive));
}

}  // namespace cudavision
