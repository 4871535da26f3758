// SPDX-License-Identifier: LGPL-2.1-or-later
// The operation of cudalocalhist: attaches local histograms or their reductions as tensors, and displays them.
#pragma once

#include <memory>
#include <optional>

#include "cuda/common/memory_budget.h"
#include "cuda/common/owned_memory.h"
#include "cuda/draw/color_map.h"
#include "cuda/localhist/localhist.h"
#include "gst/base/element/element.h"
#include "gst/base/results/tensor_pool.h"
#include "gst/base/style/palette.h"
#include "gst/localhist/localhist_settings.h"

namespace cudavision {

// The buffer pools of the tensors for one set of parameters.
class LocalHistResults {
 public:
  Status make(std::shared_ptr<DeviceContext> context, const LocalHistShape &shape,
              const LocalHistParams &params);
  // Attaches new tensors to the job's frame and sets the pointers of `output` to their memory.
  Status attach(const Job &job, LocalHistOutput *output);

 private:
  LocalHistShape shape_;
  LocalHistParams params_;
  std::unique_ptr<TensorPool> histograms_, argmax_, value_;
};

class LocalHistOperation final : public ElementOperation<LocalHistSettings> {
 public:
  using ElementOperation::ElementOperation;

  Status allocate(const OperationSetup &setup);
  Status run(const Job &job) override;
  bool host_reads_result() const override { return false; }
  void describe(GstStructure *message) override;
  std::unique_ptr<LearntState> take_learnt(bool given_up) override;

 private:
  // The settings that a model belongs to: when they change, the model is taken again.
  struct ModelKey {
    LocalHistFeature feature;
    GradientOperator op;
    GradientWeight weight;
    int bins;
    guint64 changes;  // LocalHistSettings::model_changes

    friend bool operator==(const ModelKey &, const ModelKey &) = default;
  };

  // The model and the last valid parameters, which a new operation takes over, whatever region is analysed.
  struct Model : LearntState {
    std::optional<LocalHistParams> valid;
    OwnedBytes shares;
    ModelKey key{};
    bool exists = false;
  };

  Status prepare(bool display);
  LocalHistParams valid_params();
  Status make_painted();
  Status take_model(const Job &job);
  Status paint(const Job &job, const LocalHistOutput &output);

  Execution execution_;
  std::shared_ptr<DeviceContext> context_;
  Size region_;

  // The settings that the members below were made for.
  LocalHistParams params_;
  std::optional<LocalHistParams> valid_;  // the last valid parameters
  LocalHistShape shape_;
  std::unique_ptr<LocalHist> localhist_;
  LocalHistResults results_;

  // With display and reduce=none: the dominant bins that are painted.
  std::unique_ptr<LocalHist> painted_;
  OwnedBytes painted_bins_, painted_shares_;
  Palette palette_;

  std::unique_ptr<Model> model_;

  Array<float> reported_;                // the distances, for the message
  int reported_x_ = 0, reported_y_ = 0;  // the top left pixel of the analysed region
};

}  // namespace cudavision
