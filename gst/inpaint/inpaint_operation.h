// SPDX-License-Identifier: LGPL-2.1-or-later
// What cudainpaint does with each frame: finds what is removed, and fills it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "gst/base/operation.h"
#include "cuda/common/owned_memory.h"
#include "cuda/inpaint/inpaint.h"
#include "gst/inpaint/mask_picture.h"
#include "cuda/inpaint/removal_mask.h"
#include "gst/inpaint/inpaint_settings.h"

namespace cudavision {

class InpaintOperation final : public Operation {
 public:
  // take_settings: those of the next frame. picture: of mask-location, may be null. The call and the element,
  // which messages are posted for, outlive the operation.
  InpaintOperation(GstElement *element, std::function<const InpaintSettings &()> take_settings,
                   std::shared_ptr<const MaskPicture> picture)
      : element_(element), take_settings_(std::move(take_settings)), picture_(std::move(picture)) {}

  Status allocate(const Site &site);
  Reads begin_frame() override;
  Status run(const Job &job) override;
  Status finish(const Job &job) override;
  void describe(GstStructure *message) override;
  void drop_history() override { inpaint_->drop_history(); }

 private:
  // False when nothing says that anything is removed.
  bool find_sources(const Job &job, RemovalSources *sources);
  Component alpha_of(const Job &job) const;
  // Posts how far a long fill is, and ends it when its result has nowhere to go.
  Inpaint::Progress progress();
  // Posts what has become of a fill whose start was posted.
  void end_progress(bool ok);

  GstElement *element_;
  std::function<const InpaintSettings &()> take_settings_;
  std::shared_ptr<const MaskPicture> picture_;
  InpaintSettings settings_;  // of the frame
  OwnedBytes mask_;           // picture_, as large as the frame, in the backend's memory
  std::vector<std::uint8_t> host_mask_;
  RgbMatrix matrix_;
  std::unique_ptr<RemovalMask> removal_;
  std::unique_ptr<Inpaint> inpaint_;
  std::vector<Region> regions_;
  InpaintReport report_;      // of the last frame
  bool warned_ = false;       // that there was nothing to fill from, since the last frame that had something
  bool progressing_ = false;  // the start of the fill was posted
  int filled_ = 0, removed_ = 0;  // pixels of the fill that progresses
};

}  // namespace cudavision
