// SPDX-License-Identifier: LGPL-2.1-or-later
// Brings a frame to the sink while the next one is worked on. A sink that waits for the clock holds the thread that brings it
// a frame, so that an element that takes longer than the distance of two frames would lose this time.
#pragma once

#include <gst/gst.h>

namespace cudavision {

class Overlap {
 public:
  Overlap() = default;
  Overlap(const Overlap &) = delete;
  Overlap &operator=(const Overlap &) = delete;
  ~Overlap() { drop(); }

  // Pushes the frame that is held, if there is one.
  GstFlowReturn push(GstPad *source);
  // Does the same while work() runs on a thread of its own or, if the system gives no thread, before it runs. Then holds the
  // frame, which it takes, if both end in GST_FLOW_OK.
  template <typename Work>
  GstFlowReturn push_beside(GstPad *source, GstBuffer *frame, const Work &work) {
    struct Call {
      const Work &work;
      GstFlowReturn result = GST_FLOW_OK;
    } call{work};
    const auto run = [](gpointer data) -> gpointer {
      static_cast<Call *>(data)->result = static_cast<Call *>(data)->work();
      return nullptr;
    };
    return push_beside(source, frame, run, &call, &call.result);
  }
  // Frames before the next one were dropped.
  void note_gap() { follows_gap_ = true; }
  void forget_gap() { follows_gap_ = false; }
  // Forgets the frame that is held.
  void drop() { gst_clear_buffer(&frame_); }

 private:
  // result: what run(job) writes.
  GstFlowReturn push_beside(GstPad *source, GstBuffer *frame, GThreadFunc run, gpointer job,
                            const GstFlowReturn *result);

  GstBuffer *frame_ = nullptr;
  bool follows_gap_ = false;
};

}  // namespace cudavision
