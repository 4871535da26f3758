// SPDX-License-Identifier: LGPL-2.1-or-later
// The operation of cudahough: finds lines in a frame, attaches them and draws them.
#pragma once

#include <memory>
#include <vector>

#include <gst/cudavision/cudavision.h>

#include "cuda/common/owned_list.h"
#include "cuda/draw/canvas.h"
#include "cuda/hough/hough.h"
#include "gst/base/element/element.h"
#include "gst/base/style/palette.h"
#include "gst/canny/gated_edges.h"
#include "gst/hough/hough_settings.h"

namespace cudavision {

class HoughOperation final : public ElementOperation<HoughSettings> {
 public:
  using ElementOperation::ElementOperation;

  Status allocate(const OperationSetup &setup);
  Status run(const Job &job) override;
  Status finish(const Job &job) override { return attach(job); }
  void describe(GstStructure *message) override;
  bool depends_on_shape() const override { return settings_.excludes_directions(); }

 private:
  HoughList list() const { return {found_.items(), found_.count()}; }
  // Sets *edges to the edges of the picture or, with input=edges, to the picture; with roi-type only in its regions.
  Status find_edges(const Job &job, ImageView<const std::uint8_t> *edges);
  // Sets the list of lines to an empty one.
  Status find_nothing(const Execution &execution);
  Status fit_to(const Execution &execution, int max_lines);
  Status draw(const Job &job);
  Status attach(const Job &job);
  void warn_of_truncation(const HoughCount &count);

  OwnedImage edges_;
  GatedEdges found_edges_;
  std::unique_ptr<Hough> hough_;
  std::unique_ptr<Canvas> canvas_;
  Palette hues_;
  OwnedList<HoughCount, HoughLine> found_;
  OwnedBytes primitives_;
  std::vector<GstCudaVisionLine> attached_;  // a member to reuse its memory
};

}  // namespace cudavision
