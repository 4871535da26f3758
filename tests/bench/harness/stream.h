// SPDX-License-Identifier: LGPL-2.1-or-later
// One of many concurrent pipelines. Its source is endless; its frames are counted in the sink.
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

#include "cuda/common/image.h"
#include "tests/bench/harness/pipeline.h"

namespace cudavision::bench {

// The time of std::chrono::steady_clock, which is also CLOCK_MONOTONIC, as clock_nanosleep uses it.
std::int64_t now_ns();

// A frame in host memory that all streams copy.
class SourcePicture {
 public:
  SourcePicture(const std::string &format, Size size);
  ~SourcePicture() { gst_buffer_unref(buffer_); }
  SourcePicture(const SourcePicture &) = delete;
  SourcePicture &operator=(const SourcePicture &) = delete;

  const GstVideoInfo &info() const { return info_; }
  GstBuffer *buffer() const { return buffer_; }
  // The reason why the frame is computed; empty if it is a video frame.
  const std::string &why_computed() const { return why_computed_; }

 private:
  GstVideoInfo info_;
  GstBuffer *buffer_;
  std::string why_computed_;
};

struct StreamPlan {
  std::string source;    // in gst-launch-1.0's syntax; empty: appsrc, with frames of the picture
  std::string elements;  // in gst-launch-1.0's syntax; empty: none
  const SourcePicture *picture = nullptr;
  Memory memory = Memory::ordinary;
  bool live = false;  // true: 30 frames/s, pushed when due; false: as fast as the elements accept them
};

class Stream {
 public:
  static constexpr std::int64_t kFrameTime = GST_SECOND / 30;

  explicit Stream(const StreamPlan &plan) : plan_(plan) {}
  ~Stream() { close(); }
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  // Starts the pipeline, waits until one frame has passed and fills the buffers of the pool. context: set on
  // the pipeline before it starts; may be null. Returns the error's text; empty on success.
  std::string open(GstContext *context);
  // Starts sending frames; the first frame of a live source is due at this time.
  void start(std::int64_t first_due_ns);
  // Stops sending; does not wait.
  void ask_to_stop();
  // Stops the pipeline and frees everything except the counts.
  void close();

  std::uint64_t frame_count() const { return frame_count_; }
  std::string error() const;
  double seconds_to_first_frame() const;
  // The number of buffers that the pool allocated although it should have reused existing ones.
  int fresh_buffers() const { return fresh_buffers_; }

  void record_latencies(bool on) { recording_ = on; }
  // The times from push to arrival in the sink. Read them after close().
  const std::vector<std::int64_t> &latencies_ns() const { return latencies_ns_; }

 private:
  static constexpr std::size_t kRemembered = 1024;  // push times kept; far fewer frames are in flight

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
  std::vector<GstMemory *> filled_;  // of the pool's buffers that hold the picture
  std::thread producer_;
  std::int64_t opened_ns_ = 0, next_frame_ = 0;

  std::atomic<bool> stopping_ = false, recording_ = false;
  std::atomic<int> fresh_buffers_ = 0;
  std::atomic<std::uint64_t> frame_count_ = 0;
  std::atomic<std::int64_t> first_arrival_ns_ = 0;
  std::array<std::atomic<std::int64_t>, kRemembered> pushed_ns_ = {};
  std::vector<std::int64_t> latencies_ns_;  // used by the streaming thread

  mutable std::mutex mutex_;
  std::string error_;
};

}  // namespace cudavision::bench
