// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/opticalflow/opticalflow_operation.h"

#include "gst/base/results/attach.h"

namespace cudavision {
Status OpticalFlowOperation::allocate(const OperationSetup &setup) {
  size_ = setup.region;
  context_ = setup.context;
  CUDAVISION_TRY(make_opticalflow(setup.execution, size_, &flow_));
  CUDAVISION_TRY(make_histogram(setup.execution, &histogram_));
  CUDAVISION_TRY(counts_.allocate(setup.execution, sizeof validity_));
  const auto lines = static_cast<std::size_t>(arrow_line_count(size_));
  CUDAVISION_TRY(arrows_.allocate(setup.execution, sizeof(Primitive) * (lines + 1)));
  return make_canvas(setup.execution, {GST_VIDEO_INFO_WIDTH(setup.info), GST_VIDEO_INFO_HEIGHT(setup.info)},
                     &canvas_);
}

Status OpticalFlowOperation::run(const Job &job) {
  if (job.region != last_region_)
    flow_->drop_previous();  // the region has moved to another part of the picture
  last_region_ = job.region;
  validity_[0] = validity_[1] = 0;
  has_flow_ = flow_->has_previous();
  if (!has_flow_) return flow_->run(job.luma, settings_, {}, {});

  const Size size = flow_size(size_, settings_.stride);
  TensorPool::Lease vector_lease, valid_lease;
  CUDAVISION_TRY(lease(size, &vector_lease, &valid_lease));
  const double step = settings_.stride;
  CUDAVISION_TRY(attach_tensor(job, "optical-flow", GST_CUDA_VISION_ELEMENT_TYPE_F32,
                               {size.height, size.width, 2}, std::move(vector_lease.buffer), step, step));
  CUDAVISION_TRY(attach_tensor(job, "optical-flow-valid", GST_CUDA_VISION_ELEMENT_TYPE_U8,
                               {size.height, size.width}, std::move(valid_lease.buffer), step, step));
  const ImageView<FlowVector> vectors{static_cast<FlowVector *>(vector_lease.data),
                                      size.width * static_cast<std::ptrdiff_t>(sizeof(FlowVector)),
                                      size.width, size.height};
  const ImageView<std::uint8_t> valid{static_cast<std::uint8_t *>(valid_lease.data), size.width, size.width,
                                      size.height};
  CUDAVISION_TRY(gate_.find(job, settings_.roi_type));
  state_.warn_once("roi-type", gate_.complaint());
  CUDAVISION_TRY(flow_->run(job.luma, settings_, vectors, valid, gate_.places()));
  if (job.report) CUDAVISION_TRY(count(job, valid));
  return job.draw ? draw(job, {vectors, valid, settings_.stride, job.region}) : Status();
}

void OpticalFlowOperation::describe(GstStructure *message) {
  gst_structure_set(message, "has-flow", G_TYPE_BOOLEAN, has_flow_, "vectors", G_TYPE_UINT,
                    validity_[0] + validity_[1], "valid-vectors", G_TYPE_UINT, validity_[1], nullptr);
}

// Takes a buffer for each tensor from its pool. When the stride changes their size, the pools are replaced.
Status OpticalFlowOperation::lease(Size size, TensorPool::Lease *vectors, TensorPool::Lease *valid) {
  if (size != pool_size_) {
    pool_size_ = {};
    const auto count = static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
    CUDAVISION_TRY(TensorPool::make(context_, count * sizeof(FlowVector), &vector_pool_));
    CUDAVISION_TRY(TensorPool::make(context_, count, &valid_pool_));
    pool_size_ = size;
  }
  CUDAVISION_TRY(vector_pool_->acquire(vectors));
  return valid_pool_->acquire(valid);
}

// Counts the invalid and the valid vectors for the message.
Status OpticalFlowOperation::count(const Job &job, ImageView<const std::uint8_t> valid) {
  auto *counts = static_cast<std::uint32_t *>(counts_.data());
  CUDAVISION_TRY(histogram_->run(luma_samples(valid), {2, 0, 2}, counts));
  return copy_to_host(job.execution, validity_, counts, sizeof validity_);
}

Status OpticalFlowOperation::draw(const Job &job, const FlowOnFrame &flow) {
  if (settings_.display_mode == OpticalFlowDisplayMode::wheel)
    return draw_flow_wheel(job.execution, job.frame, flow, wheel_of(*job.info, settings_, size_));
  auto *lines = static_cast<Primitive *>(arrows_.data());
  CUDAVISION_TRY(make_flow_arrows(
      job.execution, flow,
      arrows_of(*job.info, settings_, settings_.color, settings_.line_width, job.frame.size()), lines));
  return canvas_->draw(job.frame, lines, arrow_line_count(size_), nullptr);
}

}  // namespace cudavision
