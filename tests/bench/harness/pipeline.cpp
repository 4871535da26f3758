// SPDX-License-Identifier: LGPL-2.1-or-later
// Sends batches of frames through a pipeline and waits for them at its end.
#include "tests/bench/harness/pipeline.h"

#include <gst/app/gstappsrc.h>

#include <chrono>

namespace cudavision::bench {

namespace {

constexpr GstClockTime kFrameTime = GST_SECOND / 30;
constexpr guint kMapCuda = guint{GST_MAP_FLAG_LAST} << 1;  // GST_MAP_CUDA, without GStreamer's CUDA library

}  // namespace

std::string parse_pipeline(const std::string &description, GstElement **pipeline) {
  GError *error = nullptr;
  *pipeline = gst_parse_launch(description.c_str(), &error);
  const std::string text = error != nullptr ? error->message : "";
  g_clear_error(&error);
  return text;
}

void watch_sink(GstElement *pipeline, GstPadProbeCallback see, gpointer data) {
  GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  GstPad *pad = gst_element_get_static_pad(sink, "sink");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, see, data, nullptr);
  gst_object_unref(pad);
  gst_object_unref(sink);
}

Pipeline::Pipeline(const std::string &elements, const std::string &format, Size size,
                   const std::vector<std::uint8_t> &bytes, Memory memory)
    : memory_(memory) {
  gst_video_info_set_format(&info_, gst_video_format_from_string(format.c_str()),
                            static_cast<guint>(size.width), static_cast<guint>(size.height));
  info_.fps_n = 30;
  caps_ = gst_video_info_to_caps(&info_);
  if (memory == Memory::cuda)
    gst_caps_set_features_simple(caps_, gst_caps_features_new("memory:CUDAMemory", nullptr));
  picture_ = gst_buffer_new_memdup(bytes.data(), bytes.size());
  failure_ = open(elements);
}

Pipeline::~Pipeline() {
  if (pool_ != nullptr) {
    gst_buffer_pool_set_active(pool_, FALSE);
    gst_object_unref(pool_);
  }
  if (pipeline_ != nullptr) {
    gst_element_set_state(pipeline_, GST_STATE_NULL);
    gst_clear_object(&source_);
    gst_object_unref(pipeline_);
  }
  gst_buffer_unref(picture_);
  gst_caps_unref(caps_);
}

std::string Pipeline::open(const std::string &elements) {
  const std::string description = "appsrc name=source format=time max-bytes=0 ! " + elements +
                                  " ! fakesink name=sink sync=false qos=false enable-last-sample=false";
  if (std::string text = parse_pipeline(description, &pipeline_); !text.empty()) return text;
  source_ = gst_bin_get_by_name(GST_BIN(pipeline_), "source");
  gst_app_src_set_caps(GST_APP_SRC(source_), caps_);
  watch_sink(pipeline_, count, this);
  if (gst_element_set_state(pipeline_, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) return error_text();

  // Caps are negotiated once a frame has passed; only then is the allocation query answered.
  if (std::string text = send({gst_buffer_copy_deep(picture_)}); !text.empty()) return text;
  return open_pool();
}

std::string Pipeline::open_pool() {
  GstPad *pad = gst_element_get_static_pad(source_, "src");
  GstQuery *query = gst_query_new_allocation(caps_, TRUE);
  guint size = static_cast<guint>(info_.size), least = 0, most = 0;
  if (gst_pad_peer_query(pad, query) && gst_query_get_n_allocation_pools(query) > 0)
    gst_query_parse_nth_allocation_pool(query, 0, &pool_, &size, &least, &most);
  gst_query_unref(query);
  gst_object_unref(pad);
  const bool usable = pool_ != nullptr && (most == 0 || most >= kBatch);
  if ((memory_ == Memory::cuda || memory_ == Memory::pinned) && !usable) return "no pool is proposed";
  if (memory_ == Memory::ordinary || !usable) {
    gst_clear_object(&pool_);
    pool_ = gst_video_buffer_pool_new();
    size = static_cast<guint>(info_.size);
  }
  GstStructure *config = gst_buffer_pool_get_config(pool_);
  gst_buffer_pool_config_set_params(config, caps_, size, kBatch, 0);
  if (!gst_buffer_pool_set_config(pool_, config) || !gst_buffer_pool_set_active(pool_, TRUE))
    return "the pool that the element proposes does not start";
  return "";
}

GstPadProbeReturn Pipeline::count(GstPad *, GstPadProbeInfo *, gpointer self) {
  auto *pipeline = static_cast<Pipeline *>(self);
  const std::lock_guard lock(pipeline->mutex_);
  ++pipeline->arrived_count_;
  pipeline->arrived_.notify_one();
  return GST_PAD_PROBE_OK;
}

std::string Pipeline::error_text() const {
  GstBus *bus = gst_element_get_bus(pipeline_);
  GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  gst_object_unref(bus);
  if (message == nullptr) return "";
  GError *error = nullptr;
  gst_message_parse_error(message, &error, nullptr);
  const std::string text = error->message;
  g_error_free(error);
  gst_message_unref(message);
  return text;
}

GstBuffer *Pipeline::filled_buffer() {
  GstBuffer *buffer = nullptr;
  if (gst_buffer_pool_acquire_buffer(pool_, &buffer, nullptr) != GST_FLOW_OK) return nullptr;
  GstVideoFrame src, dst;
  gst_video_frame_map(&src, &info_, picture_, GST_MAP_READ);
  gst_video_frame_map(&dst, &info_, buffer, GST_MAP_WRITE);
  gst_video_frame_copy(&dst, &src);
  gst_video_frame_unmap(&dst);
  gst_video_frame_unmap(&src);
  guint on_device = GST_MAP_READ;
  if (memory_ == Memory::cuda) on_device |= kMapCuda;
  GstMapInfo map;  // a mapping for reading, which uploads CUDA memory to the device
  if (!gst_buffer_map(buffer, &map, static_cast<GstMapFlags>(on_device))) {
    gst_buffer_unref(buffer);
    return nullptr;
  }
  gst_buffer_unmap(buffer, &map);
  return buffer;
}

// Takes ownership of the buffers, pushes them and waits until all have arrived in the sink.
std::string Pipeline::send(const std::vector<GstBuffer *> &buffers) {
  using namespace std::chrono_literals;
  std::unique_lock lock(mutex_);
  arrived_count_ = 0;
  lock.unlock();
  for (GstBuffer *buffer : buffers) {
    GST_BUFFER_PTS(buffer) = next_time_;
    GST_BUFFER_DURATION(buffer) = kFrameTime;
    next_time_ += kFrameTime;
    gst_app_src_push_buffer(GST_APP_SRC(source_), buffer);
  }
  lock.lock();
  for (int tries = 0; arrived_count_ < static_cast<int>(buffers.size()); ++tries) {
    if (arrived_.wait_for(lock, 500ms) != std::cv_status::timeout) continue;
    if (std::string text = error_text(); !text.empty()) return text;
    if (tries > 1000) return "frames do not arrive";
  }
  return "";
}

std::string Pipeline::run_batch(double *seconds) {
  if (!failure_.empty()) return failure_;
  std::vector<GstBuffer *> buffers;
  for (int i = 0; i < kBatch; ++i) {
    buffers.push_back(filled_buffer());
    if (buffers.back() == nullptr) return failure_ = "the pool gives no buffer";
  }
  const auto start = std::chrono::steady_clock::now();
  failure_ = send(buffers);
  *seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return failure_;
}

}  // namespace cudavision::bench
