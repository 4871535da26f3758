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
#include "gst/base/element/stream_clock.h"
#include "gst/base/results/awaited_results.h"
#include "gst/base/results/tensor_pool.h"
#include "gst/bgsub/bgsub_settings.h"
#include "gst/bgsub/light_change.h"

namespace cudavision {

class BgsubOperation final : public ElementOperation<BgsubSettings, BgsubFiles> {
 public:
  using ElementOperation::ElementOperation;

  Status allocate(const OperationSetup &setup);
  Status run(const Job &job) override;
  Status finish(const Job &job) override;
  void describe(GstStructure *message) override;
  void drop_history() override { model_->drop_history(); }
  void end() override { model_->end(); }
  std::unique_ptr<LearntState> take_learnt(bool given_up) override;

 private:
  // The background model of a region, and what is needed to save it to a file.
  struct Model : LearntState {
    explicit Model(State *of_element) : state(of_element) {}
    void drop_history() override {
      if (!is_resumed) restart();
    }
    void restart() { subtractor->restart(), light.restart(); }
    // Writes the model to model-location, if that is set and a frame was learnt.
    void end() override;
    Status save() const;
    // The learning rate of the next frame. passed: since the last frame.
    double rate(const BgsubSettings &settings, GstClockTime passed) const;
    // Posts a message if the element has become blind, or sees again.
    void tell_of_light(bool is_blind, GstClockTime timestamp);
    // The contents of the file, except the state.
    SavedBackground described() const;

    State *state;  // of the element; outlives the model
    std::shared_ptr<DeviceContext> context;
    std::unique_ptr<BackgroundSubtractor> subtractor;
    std::optional<std::string> location;
    Region region;  // of the last frame
    Size size;
    int channels = 1, mixtures = 0, scale = 1, history = 0;
    bool is_resumed = false;  // read from a file, and no frame has come yet: drop_history() keeps it
    LightChange light;
    bool is_told_blind = false;  // by the last message of tell_of_light()
  };

  Reads reads() const override;
  // Takes the model of model-location if it fits. An unreadable file is an error at the start, and a warning later.
  Status resume();
  Status take_saved();
  // Sets *kept to a picture of the region that is not 0 where nothing is learnt; without data if everything is learnt.
  Status find_kept(const Job &job, ImageView<const std::uint8_t> *kept);
  Status fit_list();
  // Sets mask_ to the pixels that move according to the model, which then learns the frame.
  Status subtract(const Job &job, ImageView<const std::uint8_t> kept);
  // Writes the background of the model to a picture of the region's size.
  Status write_background(const BgsubPixels<std::uint8_t> &background);
  Status draw(const Job &job, ImageView<const std::uint8_t> moving);
  ComponentList list() const;
  double share() const;  // of the region that moves
  // Whether regions are attached to the frame: not to the first one, nor if the light has changed. And how many.
  bool knows_what_moves() const;
  int region_count() const;

  Execution execution_;
  std::shared_ptr<DeviceContext> context_;
  Size region_;
  int channels_ = 1;
  std::unique_ptr<Model> model_;
  bool is_first_ = false;  // the frame is the first one of the model: nothing is known of the background
  StreamClock clock_;
  GstClockTime passed_ = 0;  // since the last frame
  std::unique_ptr<MaskCleaner> cleaner_;
  std::unique_ptr<Components> components_;
  OwnedImage mask_, shown_;  // the mask of the model before it is cleaned; a picture to draw
  // With a scale above 1: the smaller picture that the model sees, where it must not learn, and the model's mask.
  OwnedImage reduced_, reduced_kept_, reduced_mask_;
  std::unique_ptr<TensorPool> tensors_;  // the cleaned masks
  OwnedList<ComponentCount, ConnectedComponent> found_;

  // Where nothing is learnt.
  OwnedBytes picture_;  // of mask-location, scaled to the frame
  Array<std::uint8_t> host_picture_;
  std::unique_ptr<RemovalMask> kept_;  // null until some pixel is not learnt
  TypedRegions ignored_;               // the regions of ignore-type
};

}  // namespace cudavision
