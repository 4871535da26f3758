// SPDX-License-Identifier: LGPL-2.1-or-later
// What cudalocalhist computes on each frame.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "gst/base/operation.h"
#include "cuda/common/owned_memory.h"
#include "cuda/draw/color_map.h"
#include "cuda/localhist/localhist.h"
#include "gst/localhist/results.h"
#include "gst/localhist/localhist_settings.h"

namespace cudavision {

class LocalHistOperation final : public Operation {
 public:
  // take_settings: those of the next frame. display: of the moment, for the memory that it needs. Both calls
  // and the element, which warnings are posted for, outlive the operation.
  LocalHistOperation(GstElement *element, std::function<const LocalHistSettings &()> take_settings)
      : element_(element), take_settings_(std::move(take_settings)) {}

  Status allocate(const Site &site, bool display);
  Reads begin_frame() override;
  Status run(const Job &job) override;
  bool host_reads_result() const override { return false; }
  void describe(GstStructure *message) override;

 private:
  // What the last model was taken for: it is taken anew when that changes.
  struct ModelKey {
    LocalFeature feature;
    GradientOperator op;
    GradientWeight weight;
    int bins;
    guint64 changes;

    friend bool operator==(const ModelKey &, const ModelKey &) = default;
  };

  Status prepare(bool display);
  Status make_painted();
  Status take_model(const Job &job);
  Status paint(const Job &job, const LocalHistogramOutput &output);

  GstElement *element_;
  std::function<const LocalHistSettings &()> take_settings_;
  LocalHistSettings settings_;  // of the frame
  Execution execution_;
  std::shared_ptr<const DeviceContext> context_;
  Size region_;

  // Made for these.
  LocalHistogramParams params_;
  guint64 max_memory_ = 0;
  bool display_ = false;
  LocalHistogramShape shape_;
  std::unique_ptr<LocalHistogram> room_;
  LocalHistResults results_;

  std::unique_ptr<LocalHistogram> painted_room_;  // of histograms: their dominant bins
  OwnedBytes painted_bins_, painted_shares_;

  OwnedBytes model_;
  ModelKey model_key_{};
  bool has_model_ = false;
  guint64 refused_model_ = 0;  // the changes that were warned of last

  std::vector<float> reported_;          // the distances, for the message
  int reported_x_ = 0, reported_y_ = 0;  // where the analysed region begins
};

}  // namespace cudavision
