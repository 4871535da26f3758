// SPDX-License-Identifier: LGPL-2.1-or-later
// GstCudaVisionFilter: the abstract element. It negotiates, chooses a backend, maps frames and holds the
// properties that every element has; a subclass says what it computes.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <memory>

#include "gst/base/operation.h"

namespace cudavision {
struct FilterState;
}

struct GstCudaVisionFilter {
  GstBaseTransform parent;
  cudavision::FilterState *state;
};

struct GstCudaVisionFilterClass {
  GstBaseTransformClass parent_class;

  // Makes what works on frames of this format and on regions of this size. Called from the streaming thread
  // with the device current; the settings of the element are those of the moment.
  cudavision::Status (*make_operation)(GstCudaVisionFilter *filter, const cudavision::Site &site,
                                       std::unique_ptr<cudavision::Operation> *operation);
  // Says whether properties contradict each other; may be null. Called at start, where a contradiction is an
  // error.
  cudavision::Status (*check_settings)(GstCudaVisionFilter *filter);
  // Reads the files that properties name; may be null. Called at start, after check_settings.
  cudavision::Status (*load_files)(GstCudaVisionFilter *filter);
};

#define GST_TYPE_CUDA_VISION_FILTER (gst_cuda_vision_filter_get_type())
GType gst_cuda_vision_filter_get_type(void);

namespace cudavision {

// For a subclass's class_init: both pads take and give video in CUDA memory, if this build has CUDA, and in
// system memory.
void add_video_pads(GstElementClass *klass);

}  // namespace cudavision
