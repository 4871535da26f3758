// SPDX-License-Identifier: LGPL-2.1-or-later
// A buffer mapped as a video frame.
#include "gst/base/mapped_frame.h"

#include "gst/base/format.h"

namespace cudavision {
namespace {

bool lies_in(const DeviceContext *context, GstBuffer *buffer) {
  GstCudaContext *theirs = context != nullptr ? context_of(buffer) : nullptr;
  return theirs != nullptr && same_context(theirs, context->handle());
}

}  // namespace

MappedFrame::MappedFrame(GstBuffer *buffer, const GstVideoInfo &info, bool write,
                         const DeviceContext *context)
    : buffer_(buffer),
      context_(context),
      on_device_(lies_in(context, buffer)),
      // checked before mapping, which takes a reference
      can_be_left_pending_(on_device_ && context->can_leave_pending(buffer)),
      written_(write) {
  const guint access = (write ? GST_MAP_READWRITE : GST_MAP_READ) | (on_device_ ? kMapCuda : 0) |
                       guint{GST_VIDEO_FRAME_MAP_FLAG_NO_REF};
  mapped_ = gst_video_frame_map(&frame_, &info, buffer, static_cast<GstMapFlags>(access));
  if (!mapped_) return;
  fits_ = planes_of(frame_, info, &planes_);
}

// Call this after the frame is mapped: mapping shared memory for writing puts a copy of it into the buffer.
Status MappedFrame::order_behind_producer() const {
  if (!on_device_) return {};
  if (can_be_left_pending_) return context_->order_behind_producer(buffer_);
  context_->wait_for_producer(buffer_);
  return {};
}

Input MappedFrame::input() const {
  return on_device_ && context_->is_complete(buffer_) ? Input::complete : Input::in_stream_order;
}

MappedFrame::~MappedFrame() {
  if (mapped_) gst_video_frame_unmap(&frame_);
}

void MappedFrame::mark_finished() const {
  if (on_device_ && written_) context_->mark_finished(buffer_);
}

}  // namespace cudavision
