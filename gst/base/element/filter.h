// SPDX-License-Identifier: LGPL-2.1-or-later
// GstCudaVisionFilter, the abstract base class of the elements. It negotiates caps, chooses a backend, maps
// frames and holds the properties common to all elements. A subclass provides the computation.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <memory>
#include <new>

#include "cuda/common/standard_arithmetic.h"
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
  // True if operations remember something of earlier frames: they are told when a frame does not follow the last one.
  bool remembers;
  // Returns for how long the element holds a frame back before it passes it on. frame_duration: by the caps, or 0. A
  // null pointer means that it holds none.
  GstClockTime (*time_held)(GstCudaVisionFilter *filter, GstClockTime frame_duration);
  // Makes the operation for frames of the format and regions of the size that `setup` gives. Called from the
  // streaming thread with the device's context current. The operation uses the element's current settings.
  cudavision::Status (*make_operation)(GstCudaVisionFilter *filter, const cudavision::OperationSetup &setup,
                                       std::unique_ptr<cudavision::Operation> *operation);
  // Called at start. Returns an error if properties contradict each other, or if a file that they name cannot be used.
  // what: the first part of the message, for properties; to be changed if a file is at fault.
  cudavision::Status (*prepare)(GstCudaVisionFilter *filter, const char **what);
};

#define GST_TYPE_CUDA_VISION_FILTER (gst_cuda_vision_filter_get_type())
GType gst_cuda_vision_filter_get_type(void);

namespace cudavision {

// For the class_init of an element: adds the pad templates. Takes the references to the caps.
void add_pads(GstElementClass *klass, GstCaps *sink, GstCaps *source);

// For the class_init of an element that makes a new frame of the same format out of each one, perhaps of another size:
// its operations write Job::output. No frame passes unprocessed. Metas without a place in the picture are copied; the
// operation carries results. The element adds transform_caps and fixate_caps for the sizes.
void make_new_frames(GstCudaVisionFilterClass *klass);

// For the instance init of an element: it then never works in pull mode. A thread that pulls does not hold the stream
// lock, so stop() would run beside the work on a frame, and a frame that waits would wait forever.
void work_in_push_mode_only(GstBaseTransform *element);

// The flag that asks to give up the work on a frame. It is set while the element flushes or stops.
const StopFlag &stop_flag_of(GstBaseTransform *filter);

// Calls body() in a function that GStreamer calls, through which no exception may pass. If there is no memory, posts an
// error and returns `failed`. what: the end of the error's text, "There is no memory for ...".
template <typename Result, typename Body>
Result protect(GstBaseTransform *element, const char *what, Result failed, const Body &body) {
  const StandardArithmetic arithmetic;
  try {
    return body();
  } catch (const std::bad_alloc &) {
    GST_ELEMENT_ERROR(element, RESOURCE, NO_SPACE_LEFT, ("There is no memory for %s", what), (nullptr));
    return failed;
  }
}

}  // namespace cudavision
