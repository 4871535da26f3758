// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/element/overlap.h"

#include <utility>

namespace cudavision {

GstFlowReturn Overlap::push(GstPad *source) {
  return frame_ != nullptr ? gst_pad_push(source, std::exchange(frame_, nullptr)) : GST_FLOW_OK;
}

GstFlowReturn Overlap::push_beside(GstPad *source, GstBuffer *frame, GThreadFunc run, gpointer job,
                                   const GstFlowReturn *result) {
  if (std::exchange(follows_gap_, false)) GST_BUFFER_FLAG_SET(frame, GST_BUFFER_FLAG_DISCONT);
  // A thread for a frame costs a thousandth of the time that such a frame takes.
  GThread *thread = frame_ != nullptr ? g_thread_try_new("cudavision", run, job, nullptr) : nullptr;
  const GstFlowReturn pushed = push(source);
  if (thread != nullptr)
    g_thread_join(thread);
  else if (pushed == GST_FLOW_OK)
    run(job);
  if (pushed == GST_FLOW_OK && *result == GST_FLOW_OK)
    frame_ = frame;
  else
    gst_buffer_unref(frame);
  return pushed != GST_FLOW_OK ? pushed : *result;
}

}  // namespace cudavision
