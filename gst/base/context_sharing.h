// SPDX-License-Identifier: LGPL-2.1-or-later
// How an element finds its CUDA context and lets others have it: GStreamer's context protocol. Elements on one
// device share one context, so that buffers pass between them as they are and the card never has to switch from
// one context to another.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <mutex>

#include "gst/base/device_context.h"

namespace cudavision {

class ContextSharing {
 public:
  ~ContextSharing() { release(); }

  // Finds a context unless the element has one. In this order: what the application gave the element, what its
  // neighbours have, what the application gives when it is asked, and the one that the process shares
  // (process_context.h). device_id: -1 for any device. Fails with no_device when there is no driver or no such
  // device.
  Status find(GstElement *element, int device_id);
  // find(), and opens the context for work. Fails with no_device, too, when this build has no code for the device.
  Status acquire(GstElement *element, int device_id, std::shared_ptr<const DeviceContext> *context);
  // The element works in another context from now on.
  void replace(GstCudaContext *context);
  // The element has stopped working, but keeps its context and answers for it.
  void pause();
  void release();

  // For GstElementClass::set_context, before its parent's. The given context replaces the one of the process unless
  // the element already works in that.
  void take(GstElement *element, GstContext *context, int device_id);
  // Answers a context query of a neighbour, who would make a context of its own otherwise; for that the element
  // finds its own first. Returns whether the query was answered.
  bool answer(GstElement *element, int device_id, GstQuery *query);

 private:
  void forget_other_devices(int device_id);
  GstCudaContext *ref_context();  // null when there is none
  GstCudaContext *begin_work();
  void ask_neighbours(GstElement *element, GstPadDirection direction, int device_id);
  Status use_process_context(GstElement *element, int device_id);

  // Not held while others are asked, who may ask back.
  std::mutex mutex_;
  GstCudaContext *context_ = nullptr;
  bool finding_ = false;  // a query that comes back to the element which asked finds nothing there
  bool working_ = false;  // between acquire() and pause()
};

}  // namespace cudavision
