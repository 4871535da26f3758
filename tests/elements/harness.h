// SPDX-License-Identifier: LGPL-2.1-or-later
// An element between two pads of the test, in PLAYING: frames in, frames out.
#pragma once

#include <gst/check/gstharness.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/elements/support.h"
#include "tests/elements/video_frame.h"

namespace cudavision::test {

class Harness {
 public:
  // An element with its properties, as gst-launch-1.0 reads it; the backend under test is added.
  explicit Harness(const std::string &description = "cudacanny");
  ~Harness();
  Harness(const Harness &) = delete;
  Harness &operator=(const Harness &) = delete;

  GstElement *element() const { return element_.get(); }
  GstHarness *get() const { return harness_; }

  // The caps of the frames to come, unless they are those of the moment.
  void negotiate(const VideoFrame &frame);
  // Pushes one frame, and gives what comes out. Expects that the element worked on it, on the backend under
  // test.
  std::vector<std::uint8_t> work(const VideoFrame &frame);
  // As work, for a frame that is expected to pass without being worked on.
  std::vector<std::uint8_t> pass(const VideoFrame &frame);
  // Pushes a buffer of the caps of the moment, and gives what comes out, or nothing.
  Owned<GstBuffer> exchange(Owned<GstBuffer> buffer, GstFlowReturn expected = GST_FLOW_OK);
  GstFlowReturn push(Owned<GstBuffer> buffer) { return gst_harness_push(harness_, buffer.release()); }

  // To NULL and to PLAYING again, as a new stream.
  void restart();

 private:
  Owned<GstElement> element_;
  GstHarness *harness_;
  Owned<GstCaps> caps_;
};

}  // namespace cudavision::test
