// SPDX-License-Identifier: LGPL-2.1-or-later
// The operation of cudarectify: makes the new picture, and carries the results of the old one to it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cuda/remap/remap.h"
#include "gst/base/element/element.h"
#include "gst/rectify/rectify_settings.h"

namespace cudavision {

// Some components of a frame that one grid holds: `count` of them, from `first` on.
struct ComponentGroup {
  int first, count, channels;
};

class RectifyOperation : public ElementOperation<RectifySettings, RectifyFiles> {
 public:
  using ElementOperation::ElementOperation;
  Status allocate(const OperationSetup &setup);
  Status run(const Job &job) override;
  bool host_reads_result() const override { return false; }

 protected:
  Reads reads() const override { return Reads::components; }

 private:
  Status make_remap_for(const GstVideoInfo &info);
  Status make_wanted_view(CameraView *view) const;
  Status set_view();

  Execution execution_;
  std::shared_ptr<DeviceContext> context_;  // null on the CPU backend
  Size source_, output_;
  std::vector<ComponentGroup> groups_;
  std::unique_ptr<Remap> remap_;  // made for border_
  Color border_;
  std::optional<RectifySettings> viewed_;  // the settings of the last attempt to make a view
  std::optional<CameraView> view_;         // that of remap_
  std::optional<rectify::ViewPoints> points_;
};

}  // namespace cudavision
