// SPDX-License-Identifier: LGPL-2.1-or-later
// GstCudaVisionFilter, the abstract base class of the elements. It negotiates caps, chooses a backend, maps
// frames and holds the properties common to all elements. A subclass provides the computation.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <memory>

#include "cuda/common/stop.h"
#include "gst/base/element/operation.h"

namespace cudavision {
struct FilterState;
}

struct GstCudaVisionFilter {
  GstBaseTransform parent;
  cudavision::FilterState *state;
};

struct GstCudaVisionFilterClass {
  GstBaseTransformClass parent_class;

  GstDebugCategory *category;  // the debug category of the element; set by the subclass
  const char *faster;          // see ElementText (element.h); may be null
  // True if no frame may leave the element unprocessed: the property every-nth then has no effect, and if the region of
  // interest lies outside the frame, the whole frame is processed.
  bool lets_nothing_pass;
  // Returns for how long the element holds a frame back before it passes it on. frame_duration: by the caps, or 0. A
  // null pointer means that it holds none.
  GstClockTime (*time_held)(GstCudaVisionFilter *filter, GstClockTime frame_duration);
  // Makes the operation for frames of the format and regions of the size that `setup` gives. Called from the
  // streaming thread with the device's context current. The operation uses the element's current settings.
  cudavision::Status (*make_operation)(GstCudaVisionFilter *filter, const cudavision::OperationSetup &setup,
                                       std::unique_ptr<cudavision::Operation> *operation);
  // Returns an error if properties contradict each other; may be null. Called at start.
  cudavision::Status (*check_settings)(GstCudaVisionFilter *filter);
  // Reads the files that properties name; may be null. Called at start, after check_settings.
  cudavision::Status (*load_files)(GstCudaVisionFilter *filter);
};

#define GST_TYPE_CUDA_VISION_FILTER (gst_cuda_vision_filter_get_type())
GType gst_cuda_vision_filter_get_type(void);

namespace cudavision {

// Adds the pad templates; call it in a subclass's class_init. Both pads accept video in system memory and, if
// this build has CUDA, in CUDA memory.
void add_video_pads(GstElementClass *klass);

// The flag that asks to give up the work on a frame. It is set while the element flushes or stops.
const StopFlag &stop_flag_of(GstBaseTransform *filter);

}  // namespace cudavision
