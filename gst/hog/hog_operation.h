// SPDX-License-Identifier: LGPL-2.1-or-later
// The operation of cudahog: computes the blocks of a frame, detects objects in it, attaches the results and draws them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cuda/common/owned_list.h"
#include "cuda/draw/canvas.h"
#include "cuda/hog/hog_detector.h"
#include "cuda/hog/hog_primitives.h"
#include "gst/base/element/element.h"
#include "gst/base/results/awaited_results.h"
#include "gst/base/results/roi_gate.h"
#include "gst/base/results/tensor_pool.h"
#include "gst/hog/hog_settings.h"

namespace cudavision {

struct HogFiles {
  std::shared_ptr<const HogModel> model;  // null without a model
};

class HogOperation final : public ElementOperation<HogSettings, HogFiles> {
 public:
  using ElementOperation::ElementOperation;

  Status allocate(const OperationSetup &setup);
  Status run(const Job &job) override;
  Status finish(const Job &job) override;
  bool host_reads_result() const override { return model() != nullptr; }
  void describe(GstStructure *message) override;
  bool depends_on_shape() const override { return model() != nullptr; }

 private:
  Reads reads() const override;
  const HogModel *model() const { return state_.files().model.get(); }
  HogParams params() const { return model() != nullptr ? model()->params : settings_.params(); }
  // The default depends on the model that was loaded, even if model-location has changed since then.
  bool wants_descriptor() const { return settings_.descriptor.value_or(model() == nullptr); }
  bool needs_blocks(bool display) const { return wants_descriptor() || (display && model() == nullptr); }
  // Makes hog_ and pool_ for these parameters, unless they exist. On failure the previous ones stay.
  Status prepare_blocks(const HogParams &params);
  // Calls prepare_blocks() with the parameters that the properties have at this frame. If these are not valid for the
  // size of the frame, warns once and succeeds.
  Status follow_params();
  // Makes detector_ for the search of the frame, unless it exists.
  Status prepare_detector();
  std::string futility() const;
  Status run_blocks(const Job &job, const HogPicture &picture);
  Status draw_stars(const Job &job, const HogPicture &picture, const float *blocks);
  Status detect(const Job &job, const HogPicture &picture);
  Status draw_boxes(const Job &job);
  HogLabels labels(const Job &job) const;
  const char *label() const { return settings_.label ? settings_.label->c_str() : "person"; }
  HogBoxList list() const { return {found_.items(), found_.count()}; }

  Execution execution_;
  std::shared_ptr<DeviceContext> context_;
  Size size_;
  int channels_ = 1;
  std::unique_ptr<Canvas> canvas_;

  // Blocks.
  HogParams block_params_;  // the parameters of hog_
  HogShape shape_;
  std::unique_ptr<Hog> hog_;  // null if no parameters were valid for the size of the frame yet
  std::unique_ptr<TensorPool> pool_;
  OwnedBytes star_lines_;
  std::size_t star_capacity_ = 0;
  Patience idle_;

  // Detection.
  HogSearch search_;                   // the search of detector_
  std::int64_t windows_ = 0;           // the number of windows that detector_ searches
  std::optional<HogSettings> judged_;  // the settings with which futility() was last called
  std::unique_ptr<HogDetector> detector_;
  RoiGate gate_;
  OwnedList<HogBoxCount, HogBox> found_;
  OwnedBytes box_primitives_, box_primitive_count_;
};

}  // namespace cudavision
