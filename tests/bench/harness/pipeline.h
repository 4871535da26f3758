// SPDX-License-Identifier: LGPL-2.1-or-later
// A pipeline appsrc ! elements ! fakesink, through which batches of one picture are timed.
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "cuda/common/image.h"

namespace cudavision::bench {

inline bool have_element(const char *name) {
  GstElementFactory *factory = gst_element_factory_find(name);
  if (factory == nullptr) return false;
  gst_object_unref(factory);
  return true;
}

// Makes a pipeline as gst-launch-1.0 does. Returns the error's text; empty on success.
std::string parse_pipeline(const std::string &description, GstElement **pipeline);
// Calls `see` for each buffer that arrives in the pipeline's element named sink.
void watch_sink(GstElement *pipeline, GstPadProbeCallback see, gpointer data);

// The memory of the input frames.
enum class Memory {
  any,       // buffers of the pool that the elements propose, otherwise pageable memory
  pinned,    // pinned memory, which the elements must propose
  ordinary,  // pageable memory of an ordinary pool, whatever the elements propose
  cuda,      // device memory, in buffers of the pool that the elements propose
};

class Pipeline {
 public:
  static constexpr int kBatch = 32;  // frames: 200 MB of 1080p in RGB, more than caches hold

  // elements: in gst-launch-1.0's syntax. bytes: a frame of the format and size, as laid out by
  // gst_video_info_set_format.
  Pipeline(const std::string &elements, const std::string &format, Size size,
           const std::vector<std::uint8_t> &bytes, Memory memory = Memory::any);
  ~Pipeline();
  Pipeline(const Pipeline &) = delete;
  Pipeline &operator=(const Pipeline &) = delete;

  // Sends kBatch frames and measures the seconds from the start of the first to the arrival of the last. The
  // buffers are filled before the clock starts. Returns the error's text; empty on success.
  std::string run_batch(double *seconds);

 private:
  std::string open(const std::string &elements);
  std::string open_pool();
  std::string send(const std::vector<GstBuffer *> &buffers);
  std::string error_text() const;
  GstBuffer *filled_buffer();
  static GstPadProbeReturn count(GstPad *, GstPadProbeInfo *, gpointer self);

  GstVideoInfo info_;
  Memory memory_;
  GstCaps *caps_;
  GstBuffer *picture_;
  GstElement *pipeline_ = nullptr, *source_ = nullptr;
  GstBufferPool *pool_ = nullptr;
  std::string failure_;
  GstClockTime next_time_ = 0;

  std::mutex mutex_;
  std::condition_variable arrived_;
  int arrived_count_ = 0;
};

}  // namespace cudavision::bench
