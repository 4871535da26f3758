// SPDX-License-Identifier: LGPL-2.1-or-later
// The operation of cudabgsub: learns the background of the frames, and attaches and shows what moves before it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda/bgsub/bgsub.h"
#include "cuda/bgsub/bgsub_scale.h"
#include "cuda/common/owned_list.h"
#include "cuda/components/components.h"
#include "cuda/inpaint/removal_mask.h"
#include "cuda/morphology/morphology.h"
#include "gst/base/element/element.h"
#include "gst/base/results/tensor_pool.h"
#include "gst/base/results/typed_regions.h"
#include "gst/bgsub/bgsub_settings.h"

namespace cudavision {

class BgsubOperation final : public ElementOperation<BgsubSettings, BgsubFiles> {
 public:
  using ElementOperation::ElementOperation;

  Status allocate(const Site &site);
  Status run(const Job &job) override;
  Status finish(const Job &job) override;
  void describe(GstStructure *message) override;
  void drop_history() override { model_->drop_history(); }
  bool has_history() const override { return true; }
  void end() override { model_->end(); }
  std::unique_ptr<Learnt> take_learnt(bool given_up) override;

 private:
  // The model of a region, and what is told when it cannot be saved.
  struct Model : Learnt {
    explicit Model(State *of_element) : state(of_element) {}
    void drop_history() override {
      if (!is_resumed) subtractor->restart();
    }
    // Writes the model to model-location, if that is set and a frame was learnt.
    void end() override;
    Status save() const;
    // All but the state.
    SavedBackground described() const;

    State *state;  // outlives the model
    std::shared_ptr<DeviceContext> context;
    std::unique_ptr<BackgroundSubtractor> subtractor;
    std::optional<std::string> location;
    Region region;  // of the last frame
    Size size;
    int channels = 1, mixtures = 0, scale = 1, history = 0;
    bool is_resumed = false;  // from a file, and no frame has come: any stream may follow
  };

  Reads reads() const override;
  // Takes the model of model-location, if there is one for these frames. One that cannot be read is an error at the beginning
  // of a run, and a warning later.
  Status resume();
  Status take_saved();
  // What is not learnt: a picture of the region, without data if everything is learnt.
  Status find_kept(const Job &job, ImageView<const std::uint8_t> *kept);
  Status fit_list();
  // Sets mask_ to what the model makes of the frame.
  Status subtract(const Job &job, ImageView<const std::uint8_t> kept);
  // Writes the background to pixels of the region.
  Status write_background(const BgsubPixels<std::uint8_t> &background);
  Status draw(const Job &job, ImageView<const std::uint8_t> moving);
  ComponentList list() const;
  // The share of the region that moves, and whether that is so much that the light must have changed.
  double share() const;
  bool is_global_change() const { return share() > settings_.max_motion; }
  // The number of regions of the frame.
  bool knows_what_moves() const;
  int region_count() const;

  Execution execution_;
  std::shared_ptr<DeviceContext> context_;
  Size region_;
  int channels_ = 1;
  std::unique_ptr<Model> model_;
  bool is_first_ = false;  // the frame is the first one of the model: nothing is known of the background
  std::unique_ptr<MaskCleaner> cleaner_;
  std::unique_ptr<Components> components_;
  OwnedImage mask_, shown_;  // as the model gives it; a picture that is drawn
  // With a scale above 1: the picture that the model sees, what it must not learn, and its mask.
  OwnedImage reduced_, reduced_kept_, reduced_mask_;
  std::unique_ptr<TensorPool> tensors_;  // cleaned masks
  OwnedList<ComponentCount, ConnectedComponent> found_;

  // What is not learnt.
  OwnedBytes picture_;  // of mask-location, scaled to the frame
  Array<std::uint8_t> host_picture_;
  std::unique_ptr<RemovalMask> kept_;  // null until something is kept
  TypedRegions ignored_;               // of ignore-type
};

}  // namespace cudavision
