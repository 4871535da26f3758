// SPDX-License-Identifier: LGPL-2.1-or-later
// An element in PLAYING between two pads of the test: frames in, frames out.
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
  // Makes an element with properties in gst-launch-1.0's syntax; the backend under test is added.
  explicit Harness(const std::string &description = "cudacanny");
  ~Harness();
  Harness(const Harness &) = delete;
  Harness &operator=(const Harness &) = delete;

  GstElement *element() const { return element_.get(); }
  GstHarness *get() const { return harness_; }

  // Sends the caps of the following frames unless they are the current ones.
  void negotiate(const VideoFrame &frame);
  // Pushes one frame and returns the output. Expects that the element processed it on the backend under test.
  std::vector<std::uint8_t> work(const VideoFrame &frame);
  // Like work(), for a frame that is expected to pass unprocessed.
  std::vector<std::uint8_t> pass(const VideoFrame &frame);
  // Pushes a buffer of the current caps and returns the output, or null if there is none.
  Owned<GstBuffer> exchange(Owned<GstBuffer> buffer, GstFlowReturn expected = GST_FLOW_OK);
  GstFlowReturn push(Owned<GstBuffer> buffer) { return gst_harness_push(harness_, buffer.release()); }

  // Sends both events of a flush, and a new segment.
  void flush();
  // Sets the element to NULL and to PLAYING again, as a new stream.
  void restart();

 private:
  Owned<GstElement> element_;
  GstHarness *harness_;
  Owned<GstCaps> caps_;
};

}  // namespace cudavision::test
