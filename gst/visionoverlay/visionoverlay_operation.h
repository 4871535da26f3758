// SPDX-License-Identifier: LGPL-2.1-or-later
// The operation of cudavisionoverlay: makes primitives of a frame's metas on the host and draws them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda/common/memory_budget.h"
#include "cuda/common/owned_memory.h"
#include "cuda/draw/canvas.h"
#include "gst/base/element/element.h"
#include "gst/base/results/attached_boxes.h"
#include "gst/base/results/awaited_results.h"
#include "gst/base/style/palette.h"
#include "gst/visionoverlay/tensor_pictures.h"
#include "gst/visionoverlay/trails.h"
#include "gst/visionoverlay/visionoverlay_settings.h"
#include "gst/visionoverlay/zone_shapes.h"

namespace cudavision {

class VisionOverlayOperation final : public ElementOperation<VisionOverlaySettings> {
 public:
  using ElementOperation::ElementOperation;

  Status allocate(const OperationSetup &setup);
  Status run(const Job &job) override;
  // True if something is drawn: finish() releases the tensors, and the next frame overwrites the list of primitives.
  bool host_reads_result() const override { return !primitives_.empty() || tensors_.count() > 0; }
  Status finish(const Job &) override;
  void describe(GstStructure *message) override;
  void drop_history() override { trails_ = {}; }

 private:
  Reads reads() const override { return Reads::components; }
  int line_width(const Job &job) const { return width_for(settings_.line_width, job.frame.size()); }
  void add_keypoints(const Job &job);
  void add_lines(const Job &job);
  void add_boxes(const Job &job);
  void add_zones(const Job &job);
  void take_shown_boxes(const Job &job);
  void add_label(const AttachedBox &box, const Job &job);
  LabelStyle style_of_labels(guint32 argb, const Job &job) const;
  std::string end_of_label(const AttachedBox &box, bool is_alone) const;
  guint32 color_of_box(std::optional<guint64> track) const;
  bool warn_of_too_many();
  Status draw(const Job &job);  // draws primitives_

  std::unique_ptr<Canvas> canvas_;
  Palette hues_;
  AwaitedResults awaited_;
  std::vector<AttachedBox> boxes_;    // the boxes that are drawn
  std::map<guint64, double> speeds_;  // see speeds_in()
  ShownTypes shown_;
  AwaitedType awaited_type_;
  Trails trails_;
  LabelPlacer placer_;
  Array<Primitive> primitives_;  // of the frame
  ZoneFlashes flashes_;
  TensorPictures tensors_;
  OwnedBytes memory_;
  HostCopy host_;
  int keypoint_count_ = 0, line_count_ = 0;  // of the frame
};

}  // namespace cudavision
