// SPDX-License-Identifier: LGPL-2.1-or-later
// One of many pipelines that run beside each other: its source never ends, and its frames are counted in the sink.
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/harness/pipeline.h"
#include "cuda/common/image.h"

namespace cudavision::bench {

// Of std::chrono::steady_clock and of clock_nanosleep's CLOCK_MONOTONIC, which are one.
std::int64_t now_ns();

// A frame in memory of its own, which all streams copy.
class SourcePicture {
 public:
  SourcePicture(const std::string &format, Size size);
  ~SourcePicture() { gst_buffer_unref(buffer_); }
  SourcePicture(const SourcePicture &) = delete;
  SourcePicture &operator=(const SourcePicture &) = delete;

  const GstVideoInfo &info() const { return info_; }
  GstBuffer *buffer() const { return buffer_; }
  // Why it is a computed one; empty when it is a real one.
  const std::string &why_computed() const { return why_computed_; }

 private:
  GstVideoInfo info_;
  GstBuffer *buffer_;
  std::string why_computed_;
};

struct StreamPlan {
  std::string source;    // as for gst-launch-1.0; empty: appsrc, with frames of the picture
  std::string elements;  // as for gst-launch-1.0; empty: none
  const SourcePicture *picture = nullptr;
  Memory memory = Memory::ordinary;
  bool live = false;  // 30 frames/s, pushed when they are due; else as fast as the elements take them
};

class Stream {
 public:
  static constexpr std::int64_t kFrameTime = GST_SECOND / 30;

  explicit Stream(const StreamPlan &plan) : plan_(plan) {}
  ~Stream() { close(); }
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  // Starts the pipeline, waits until one frame has passed and fills the buffers of the pool. context: null, or what the
  // pipeline is given before it starts. Returns the error's text, empty if there is none.
  std::string open(GstContext *context);
  // Frames are sent from now on; the first of a live source is due at this time.
  void start(std::int64_t first_due_ns);
  // No more is sent; does not wait.
  void ask_to_stop();
  // Stops and lets go of all but the counts.
  void close();

  std::uint64_t frame_count() const { return frame_count_; }
  std::string error() const;
  double seconds_to_first_frame() const;
  // Buffers that the pool made anew, although it has to recycle those that it has.
  int fresh_buffers() const { return fresh_buffers_; }

  void record_latencies(bool on) { recording_ = on; }
  // From the push to the arrival in the sink. To be read after close().
  const std::vector<std::int64_t> &latencies_ns() const { return latencies_ns_; }

 private:
  static constexpr std::size_t kRemembered = 1024;  // frames, far more than are under way

  std::string build();
  std::string push_first_frame();
  std::string open_pool();
  std::string fill_pool();
  bool fill(GstBuffer *buffer) const;
  GstBuffer *take_buffer();
  bool push(GstBuffer *buffer);
  void produce(std::int64_t first_due_ns);
  void fail(const std::string &text);
  static GstBusSyncReply see_message(GstBus *, GstMessage *message, gpointer self);
  static GstPadProbeReturn see_frame(GstPad *, GstPadProbeInfo *info, gpointer self);

  StreamPlan plan_;
  GstElement *pipeline_ = nullptr, *source_ = nullptr;
  GstCaps *caps_ = nullptr;
  GstBufferPool *pool_ = nullptr;
  std::vector<GstMemory *> filled_;  // of the pool's buffers, which lie where they did
  std::thread producer_;
  std::int64_t opened_ns_ = 0, next_frame_ = 0;

  std::atomic<bool> stopping_ = false, recording_ = false;
  std::atomic<int> fresh_buffers_ = 0;
  std::atomic<std::uint64_t> frame_count_ = 0;
  std::atomic<std::int64_t> first_arrival_ns_ = 0;
  std::array<std::atomic<std::int64_t>, kRemembered> pushed_ns_ = {};
  std::vector<std::int64_t> latencies_ns_;  // the streaming thread's

  mutable std::mutex mutex_;
  std::string error_;
};

}  // namespace cudavision::bench
