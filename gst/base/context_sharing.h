// SPDX-License-Identifier: LGPL-2.1-or-later
// How an element comes to its CUDA context and lets others have it: GStreamer's context protocol. Elements of
// a pipeline on one device share one context, so that buffers pass between them as they are.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <mutex>
#include <thread>

#include "base/device_context.h"

namespace cudavision {

class ContextSharing {
 public:
  ~ContextSharing() { release(); }

  // When the element starts. Takes a context that was given before, else asks its neighbours and the
  // application, else makes one. device_id: -1 for any. Fails with no_device when there is no driver, no such
  // device or no code for it in this build.
  Status acquire(GstElement *element, int device_id, std::shared_ptr<const DeviceContext> *context);
  // The element works on another context from now on.
  void replace(GstCudaContext *context);
  // When the element stops.
  void release();

  // GstElementClass::set_context, before its parent's.
  void take(GstElement *element, GstContext *context, int device_id);
  // Whether the context query was answered.
  bool answer(GstElement *element, GstQuery *query);

 private:
  void forget_other_devices(int device_id);

  // The lock is not held while GStreamer asks others, who may ask back; what they give to the thread that asks
  // goes to `found_` as well, where GStreamer looks.
  std::mutex mutex_;
  GstCudaContext *context_ = nullptr;
  std::thread::id asking_;
  GstCudaContext **found_ = nullptr;
};

}  // namespace cudavision
