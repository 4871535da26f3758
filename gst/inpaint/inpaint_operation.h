// SPDX-License-Identifier: LGPL-2.1-or-later
// The operation of cudainpaint: makes the mask of a frame and fills the hole.
#pragma once

#include <memory>
#include <vector>

#include "cuda/common/owned_memory.h"
#include "cuda/inpaint/inpaint.h"
#include "cuda/inpaint/removal_mask.h"
#include "gst/base/element/element.h"
#include "gst/base/results/awaited_results.h"
#include "gst/base/results/tensor_pool.h"
#include "gst/inpaint/inpaint_settings.h"

namespace cudavision {

class InpaintOperation final : public ElementOperation<InpaintSettings, InpaintFiles> {
 public:
  using ElementOperation::ElementOperation;

  Status allocate(const OperationSetup &setup);
  Status run(const Job &job) override;
  Status finish(const Job &job) override;
  void describe(GstStructure *message) override;
  void drop_history() override { inpaint_->drop_history(); }
  std::unique_ptr<LearntState> take_learnt(bool given_up) override;

 private:
  // The background that earlier frames have shown. It covers the whole frame: the region of interest only limits what
  // is removed.
  struct Background : LearntState {
    std::unique_ptr<Inpaint> inpaint;
    void drop_history() override { inpaint->drop_history(); }
  };

  Reads reads() const override;
  // Returns false if no property selects pixels to remove.
  bool find_sources(const Job &job, RemovalSources *sources);
  void tell_of_part_outside(Region region, Size frame);
  Component alpha_of(const Job &job) const;
  // Makes the mask of the frame, and attaches it if attach-mask is set.
  Status make_mask(const Job &job, const RemovalSources &sources, ImageView<const std::uint8_t> *mask);
  // Fails with the code `stopped` if the fill was given up.
  Status check_stopped() const;
  Status fill(const InpaintFrame &frame, const InpaintParams &params, const StopFlag *stop);
  // The callback that posts progress messages during a long fill, and stops it at a flush or a state change.
  Inpaint::Progress progress(const StopFlag *stop);
  // Posts the last progress message of a fill whose first one was posted.
  void end_progress(GstProgressType type);

  // The picture of mask-location, scaled to the frame: in the backend's memory, and on the host.
  OwnedBytes mask_;
  Array<std::uint8_t> host_mask_;
  std::unique_ptr<RemovalMask> removal_;
  std::unique_ptr<TensorPool> masks_;  // the tensors of attach-mask
  std::unique_ptr<Inpaint> inpaint_;
  TypedRegions typed_;  // the regions of remove-type
  std::vector<Region> regions_;
  InpaintReport report_;      // of the last frame
  bool was_outside_ = false;  // the last region lay partly outside of the frame
  // Only mask-location or a region selects what is removed: the same pixels in all frames, unless a property changes.
  bool fixed_selection_ = false;
  Patience unselected_;           // how long fixed_selection_ has had no pixel in the same region of interest
  Region empty_region_{};         // the region of interest of the last frame
  bool progressing_ = false;      // the first progress message of the current fill was posted
  int filled_ = 0, removed_ = 0;  // the numbers of pixels in the progress messages
};

}  // namespace cudavision
