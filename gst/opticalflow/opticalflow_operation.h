// SPDX-License-Identifier: LGPL-2.1-or-later
// The operation of cudaopticalflow: computes the flow since the last frame, attaches it as tensors and displays it.
#pragma once

#include <memory>

#include "cuda/common/owned_memory.h"
#include "cuda/draw/canvas.h"
#include "cuda/histogram/histogram.h"
#include "cuda/opticalflow/flow_display.h"
#include "cuda/opticalflow/opticalflow.h"
#include "gst/base/element/element.h"
#include "gst/base/results/roi_gate.h"
#include "gst/base/results/tensor_pool.h"
#include "gst/opticalflow/opticalflow_settings.h"

namespace cudavision {

// Keeps the pyramid of the last frame, but no reference to its buffer.
class OpticalFlowOperation final : public ElementOperation<OpticalFlowSettings> {
 public:
  using ElementOperation::ElementOperation;

  Status allocate(const OperationSetup &setup);
  Status run(const Job &job) override;
  void drop_history() override { flow_->drop_previous(); }
  bool host_reads_result() const override { return false; }
  void describe(GstStructure *message) override;

 private:
  Status lease(Size size, TensorPool::Lease *vectors, TensorPool::Lease *valid);
  Status count(const Job &job, ImageView<const std::uint8_t> valid);
  Status draw(const Job &job, const FlowOnFrame &flow);

  Size size_;           // of the region
  Region last_region_;  // the region of the last frame
  RoiGate gate_;
  std::shared_ptr<DeviceContext> context_;
  std::unique_ptr<OpticalFlow> flow_;
  std::unique_ptr<TensorPool> vector_pool_, valid_pool_;
  Size pool_size_;  // the size of the tensors in the pools
  std::unique_ptr<Histogram> histogram_;
  OwnedBytes counts_;
  // The numbers of invalid and of valid vectors of the frame, for its message.
  std::uint32_t validity_[2] = {};
  bool has_flow_ = false;  // the frame has a flow
  OwnedBytes arrows_;
  std::unique_ptr<Canvas> canvas_;
};

}  // namespace cudavision
