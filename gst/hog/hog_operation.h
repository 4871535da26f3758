// SPDX-License-Identifier: LGPL-2.1-or-later
// What cudahog does with each frame.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gst/base/operation.h"
#include "gst/base/tensor_pool.h"
#include "cuda/common/owned_list.h"
#include "cuda/draw/canvas.h"
#include "gst/hog/hog_settings.h"

namespace cudavision {

class HogOperation final : public Operation {
 public:
  // take_settings: those of the next frame. model: null without one. The element, which warnings are posted
  // for, and the call outlive the operation.
  HogOperation(GstElement *element, std::function<const HogSettings &()> take_settings,
               std::shared_ptr<const HogModel> model)
      : element_(element), take_settings_(std::move(take_settings)), model_(std::move(model)) {}

  Status allocate(const Site &site);
  Reads begin_frame() override;
  Status run(const Job &job) override;
  Status finish(const Job &job) override;
  bool host_reads_result() const override { return model_ != nullptr; }
  void describe(GstStructure *message) override;

 private:
  HogParams params() const { return model_ ? model_->params : settings_.params(); }
  // Of the model that was loaded, whatever the property says since then.
  bool wants_descriptor() const { return settings_.descriptor.value_or(model_ == nullptr); }
  bool needs_blocks(bool display) const { return wants_descriptor() || (display && !model_); }
  Status prepare_blocks(const HogParams &params);
  Status follow_params();
  Status prepare_detector();
  Status run_blocks(const Job &job, const HogPicture &picture);
  Status draw_stars(const Job &job, const float *blocks);
  Status detect(const Job &job, const HogPicture &picture);
  void warn_of_what_is_left_out(const HogBoxCount &count);
  void warn(const std::string &text) const;
  HogBoxList list() const { return {found_.items(), found_.count()}; }

  GstElement *element_;
  std::function<const HogSettings &()> take_settings_;
  std::shared_ptr<const HogModel> model_;
  HogSettings settings_;  // of the frame
  Execution execution_;
  std::shared_ptr<const DeviceContext> context_;
  Size size_;
  int channels_ = 1;
  std::unique_ptr<Canvas> canvas_;

  // Blocks of these parameters.
  HogParams block_params_;
  HogShape shape_;
  std::unique_ptr<Hog> hog_;
  std::unique_ptr<TensorPool> pool_;
  std::optional<HogParams> refused_;  // what this frame's size forbids, as warned of last
  OwnedBytes star_lines_;
  std::size_t star_capacity_ = 0;
  bool warned_of_stars_ = false;

  // The detector of this search.
  HogSearch search_;
  std::unique_ptr<HogDetector> detector_;
  OwnedList<HogBoxCount, HogBox> found_;
  OwnedBytes box_lines_;
  bool warned_ = false;
};

}  // namespace cudavision
