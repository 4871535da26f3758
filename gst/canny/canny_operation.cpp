// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/canny/canny_operation.h"

#include "cuda/draw/draw.h"
#include "gst/base/frame/format.h"
#include "gst/base/results/attach.h"

namespace cudavision {

Status CannyOperation::allocate(const OperationSetup &setup) {
  region_ = setup.region;
  const auto bytes = static_cast<std::size_t>(region_.width) * static_cast<std::size_t>(region_.height);
  CUDAVISION_TRY(TensorPool::make(setup.context, bytes, &tensors_));
  CUDAVISION_TRY(counts_.allocate(setup.execution, sizeof counts_on_host_));
  CUDAVISION_TRY(make_histogram(setup.execution, &histogram_));
  return found_.allocate(setup);
}

Status CannyOperation::run(const Job &job) {
  TensorPool::Lease lease;
  CUDAVISION_TRY(tensors_->acquire(&lease));
  const ImageView<std::uint8_t> edges{static_cast<std::uint8_t *>(lease.data), region_.width, region_.width,
                                      region_.height};
  CUDAVISION_TRY(attach_map(job, "edges", "edge", std::move(lease.buffer)));
  CUDAVISION_TRY(found_.find(job, settings_, settings_.roi_type, edges));
  state_.warn_once("roi-type", found_.gate().complaint());
  if (job.report) CUDAVISION_TRY(count(job, edges));
  return job.draw ? draw(job, edges) : Status();
}

void CannyOperation::describe(GstStructure *message) {
  gst_structure_set(message, "edge-pixels", G_TYPE_UINT, counts_on_host_[1], nullptr);
}

Status CannyOperation::draw(const Job &job, ImageView<const std::uint8_t> edges) {
  if (settings_.output == CannyOutput::edges)
    return replace_with_mask(job.execution, job.frame, job.region, edges);
  return overlay_mask(job.execution, job.frame, job.region, edges,
                      color_of(settings_.color.argb(), *job.info));
}

// Counts the pixels of the map for the element message. The two bins separate 0 from 255.
Status CannyOperation::count(const Job &job, ImageView<const std::uint8_t> edges) {
  auto *counts = static_cast<std::uint32_t *>(counts_.data());
  CUDAVISION_TRY(histogram_->run(luma_samples(edges), {2, 0, 256}, counts));
  return copy_to_host(job.execution, counts_on_host_, counts, sizeof counts_on_host_);
}

}  // namespace cudavision
