// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds an element's CUDA context and shares it with other elements, by GStreamer's context protocol. All elements on a
// device share one context: buffers pass between them without copies, and the GPU never switches contexts.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <mutex>

#include "gst/base/device/device_context.h"

namespace cudavision {

class ContextSharing {
 public:
  ~ContextSharing() { release(); }

  // Finds a context unless the element, a GstBaseTransform, already has one. Sources, in this order: the context that
  // the application set on the element; a context of its neighbours; the application's answer to a need-context
  // message; the context of the process (process_context.h). device_id: -1 for any device. Fails with no_device if
  // there is no driver or no such device.
  Status find(GstElement *element, int device_id);
  // Calls find() and opens the context for work. Also fails with no_device if this build has no code for the device.
  Status acquire(GstElement *element, int device_id, std::shared_ptr<DeviceContext> *context);
  // Replaces the context in which the element works.
  void replace(GstCudaContext *context);
  // Called when the element has stopped. It keeps its context and still answers context queries.
  void pause();
  void release();

  // Implements GstElementClass::set_context; call it before the parent's. The element takes the given context if it has
  // none yet, or if it has the process context (process_context.h) and is not working in it.
  void take(GstElement *element, GstContext *context, int device_id);
  // Answers a neighbour's context query, so that the neighbour does not create a context of its own. Finds
  // the element's own context first. Returns true if the query was answered.
  bool answer(GstElement *element, int device_id, GstQuery *query);

 private:
  GstCudaContext *ref_context();  // returns null if there is none
  GstCudaContext *begin_work();
  void ask_neighbour(GstElement *element, GstPad *pad, int device_id);
  Status use_process_context(GstElement *element, int device_id);

  // Not held while other elements are queried, because they may query this element in turn.
  std::mutex mutex_;
  GstCudaContext *context_ = nullptr;
  bool finding_ = false;  // true during find(): a query that loops back to this element gets no answer
  bool working_ = false;  // true between acquire() and pause()
};

}  // namespace cudavision
