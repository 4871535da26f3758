// SPDX-License-Identifier: LGPL-2.1-or-later
// Metas of a frame that are pictures: masks that select what is hidden, and others, in which people can be recognised;
// and tags that are pictures.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <vector>

#include "cuda/redact/redact.h"
#include "gst/base/element/operation.h"
#include "gst/base/results/tensor_data.h"
#include "gst/visionredact/redact_settings.h"

namespace cudavision {

// Whether the frame carries a segmentation that the settings ask for.
bool has_segmentations(GstBuffer *buffer, const RedactSettings &settings);

// Removes the metas in which people can be recognised: all tensors but histograms, and segmentations. Boxes, their ids,
// points and lines stay.
void drop_pictures(GstBuffer *buffer);

// Removes the tags of an event that are pictures or files, such as the cover of a video: they may show a frame as it
// was. The entries of a table of contents have tags, too: of it nothing is left. Takes over the reference, and returns
// the event with the other tags, or null if there are none.
GstEvent *without_pictures(GstEvent *event);

// Provides the masks of a frame in the backend's memory.
class FrameMasks {
 public:
  void allocate(const OperationSetup &setup) { context_ = setup.context; }
  // Sets *masks to those of the frame, valid until release(), and *readable to whether all of them can be used.
  Status read(const Job &job, const RedactSettings &settings, std::vector<RedactMask> *masks, bool *readable);
  // Releases the tensors. CUDA: the stream must have been synchronised since read().
  void release();

 private:
  Status read_segmentations(const Job &job, const RedactSettings &settings, std::vector<RedactMask> *masks,
                            bool *readable);
  Status take_picture(const Execution &execution, std::size_t pixels, std::uint8_t **picture);

  std::shared_ptr<DeviceContext> context_;  // null on the CPU backend
  std::vector<std::unique_ptr<TensorData>> data_;
  OwnedBytes picture_;  // the mask of all segmentations, of the frame's size
  HostCopy host_picture_;
};

}  // namespace cudavision
