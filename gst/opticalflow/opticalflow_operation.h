// SPDX-License-Identifier: LGPL-2.1-or-later
// What cudaopticalflow does with each frame: its settings, and its tensors and picture.
#pragma once

#include <functional>
#include <memory>

#include "gst/base/operation.h"
#include "gst/base/tensor_pool.h"
#include "cuda/common/owned_memory.h"
#include "cuda/draw/canvas.h"
#include "cuda/histogram/histogram.h"
#include "cuda/opticalflow/flow_display.h"
#include "cuda/opticalflow/opticalflow.h"

namespace cudavision {

enum class FlowDisplayMode { wheel, arrows };

struct FlowSettings : OpticalFlowParams {
  FlowPreset preset = FlowPreset::none;
  FlowDisplayMode display_mode = FlowDisplayMode::wheel;
  double max_speed = 8, arrow_scale = 4;
  guint32 color = 0xff00ff00;
  int line_width = 1;

  friend bool operator==(const FlowSettings &, const FlowSettings &) = default;
};

// Keeps what it needs of the frame before, and no buffer.
class FlowOperation final : public Operation {
 public:
  // take_settings: gives the settings of the frame, valid ones.
  explicit FlowOperation(std::function<const FlowSettings &()> take_settings)
      : take_settings_(std::move(take_settings)) {}

  Status allocate(const Site &site);
  Status run(const Job &job) override;
  void drop_history() override { flow_->drop_previous(); }
  bool host_reads_result() const override { return false; }
  void describe(GstStructure *message) override;

 private:
  Status lease(Size size, TensorPool::Lease *vectors, TensorPool::Lease *valid);
  Status count(const Job &job, ImageView<const std::uint8_t> valid);
  Status draw(const Job &job, const FlowOnFrame &flow, const FlowSettings &settings);

  std::function<const FlowSettings &()> take_settings_;
  Size size_;           // of the region
  Region last_region_;  // where it was in the frame before
  std::shared_ptr<const DeviceContext> context_;
  std::unique_ptr<OpticalFlow> flow_;
  std::unique_ptr<TensorPool> vector_pool_, valid_pool_;
  Size pool_size_;
  std::unique_ptr<Histogram> histogram_;
  OwnedBytes counts_;
  std::uint32_t validity_[2] = {};  // of the frame: how many vectors are not valid, and how many are
  bool has_flow_ = false;
  OwnedBytes arrows_;
  std::unique_ptr<Canvas> canvas_;
};

}  // namespace cudavision
