// SPDX-License-Identifier: LGPL-2.1-or-later
// The operation of cudacanny: finds the edges of a frame, attaches them as a tensor and draws them.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/common/owned_memory.h"
#include "cuda/histogram/histogram.h"
#include "gst/base/element/element.h"
#include "gst/base/results/tensor_pool.h"
#include "gst/canny/canny_settings.h"
#include "gst/canny/gated_edges.h"

namespace cudavision {

class CannyOperation final : public ElementOperation<CannySettings> {
 public:
  using ElementOperation::ElementOperation;

  Status allocate(const OperationSetup &setup);
  Status run(const Job &job) override;
  bool host_reads_result() const override { return false; }
  void describe(GstStructure *message) override;

 private:
  Status draw(const Job &job, ImageView<const std::uint8_t> edges);
  Status count(const Job &job, ImageView<const std::uint8_t> edges);

  Size region_;
  GatedEdges found_;
  std::unique_ptr<TensorPool> tensors_;  // the edge maps
  std::unique_ptr<Histogram> histogram_;
  OwnedBytes counts_;
  std::uint32_t counts_on_host_[2] = {};  // the number of pixels without and with an edge
};

}  // namespace cudavision
