// SPDX-License-Identifier: LGPL-2.1-or-later
// Draws tensors as the elements that compute them do: edge maps, optical flow and histograms.
#pragma once

#include <memory>
#include <vector>

#include "cuda/common/owned_memory.h"
#include "cuda/draw/canvas.h"
#include "gst/base/element/operation.h"
#include "gst/base/results/tensor_data.h"
#include "gst/visionoverlay/visionoverlay_settings.h"

namespace cudavision {

class TensorPictures {
 public:
  void allocate(const OperationSetup &setup) { context_ = setup.context; }
  // Forgets the last frame.
  void begin_frame();
  // Draws the tensors of a frame, and counts them. Those of frames of another size or outside the region are left out.
  Status draw(const Job &job, const VisionOverlaySettings &settings, Canvas *canvas);
  int count() const { return count_; }
  // True if a tensor of the frame was left out because it cannot be read.
  bool has_unreadable() const { return has_unreadable_; }
  // Releases the tensors. CUDA: the stream must have been synchronised since draw().
  void release();

 private:
  struct Drawing;  // the arguments of a call of draw()

  Status draw_tensor(const Drawing &drawing, const GstCudaVisionTensorMeta &tensor);
  Status draw_edges(const Drawing &drawing, const GstCudaVisionTensorMeta &edges);
  Status draw_flow(const Drawing &drawing, const GstCudaVisionTensorMeta &flow);
  Status draw_arrows(const Drawing &drawing, const FlowOnFrame &flow);
  Status draw_histogram(const Drawing &drawing, const GstCudaVisionTensorMeta &histogram);
  // Sets *data to null if the tensor cannot be read.
  Status read(const Drawing &drawing, const GstCudaVisionTensorMeta &tensor, const void **data);
  // Provides memory for primitives that no other tensor of the frame uses.
  Status take_primitives(const Job &job, int capacity, Primitive **primitives);

  std::shared_ptr<DeviceContext> context_;  // null on the CPU backend
  std::vector<std::unique_ptr<TensorData>> data_;
  std::vector<OwnedBytes> primitives_;
  std::size_t data_used_ = 0, primitives_used_ = 0;  // how many of data_ and primitives_ the frame uses
  int count_ = 0;
  bool has_unreadable_ = false;
};

}  // namespace cudavision
