// SPDX-License-Identifier: LGPL-2.1-or-later
// Sends frames into a pipeline until it is stopped, from a set of buffers that is reused.
#include "tests/bench/harness/stream.h"

#include <gst/app/gstappsrc.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "tests/bench/harness/real_picture.h"

namespace cudavision::bench {
namespace {

constexpr guint kBuffers = 8;                              // buffers reused by a stream
constexpr std::int64_t kPatience = 20 * GST_SECOND;        // for the first frame
constexpr guint kMapCuda = guint{GST_MAP_FLAG_LAST} << 1;  // GST_MAP_CUDA, without GStreamer's CUDA library

// Squares of all brightness levels: edges, corners and flat regions.
std::vector<std::uint8_t> computed_frame(const GstVideoInfo &info) {
  std::vector<std::uint8_t> bytes(info.size);
  const std::size_t pitch = static_cast<std::size_t>(info.stride[0]);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(i % pitch / 24 * 37 + i / pitch / 24 * 91);
  return bytes;
}

void sleep_until(std::int64_t ns) {
  const timespec due{static_cast<time_t>(ns / GST_SECOND), static_cast<long>(ns % GST_SECOND)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr) == EINTR) {
  }
}

}  // namespace

std::int64_t now_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

SourcePicture::SourcePicture(const std::string &format, Size size) {
  gst_video_info_set_format(&info_, gst_video_format_from_string(format.c_str()),
                            static_cast<guint>(size.width), static_cast<guint>(size.height));
  info_.fps_n = 30;
  std::vector<std::uint8_t> bytes = real_frame(format, size, &why_computed_);
  if (bytes.empty()) bytes = computed_frame(info_);
  buffer_ = gst_buffer_new_memdup(bytes.data(), bytes.size());
}

void Stream::close() {
  ask_to_stop();
  if (pipeline_ != nullptr) gst_element_set_state(pipeline_, GST_STATE_NULL);
  if (producer_.joinable()) producer_.join();
  if (pool_ != nullptr) gst_buffer_pool_set_active(pool_, FALSE);
  gst_clear_object(&pool_);
  gst_clear_object(&source_);
  gst_clear_object(&pipeline_);
  gst_clear_caps(&caps_);
}

void Stream::ask_to_stop() {
  stopping_ = true;
  if (pool_ != nullptr) gst_buffer_pool_set_flushing(pool_, TRUE);
}

void Stream::fail(const std::string &text) {
  const std::lock_guard lock(mutex_);
  if (error_.empty()) error_ = text;
}

std::string Stream::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

double Stream::seconds_to_first_frame() const {
  return static_cast<double>(first_arrival_ns_ - opened_ns_) / GST_SECOND;
}

// Stores the text of an error. Drops all messages, because nobody reads the bus and they would fill the memory.
GstBusSyncReply Stream::see_message(GstBus *, GstMessage *message, gpointer self) {
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    GError *error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    static_cast<Stream *>(self)->fail(error->message);
    g_error_free(error);
  }
  gst_message_unref(message);
  return GST_BUS_DROP;
}

GstPadProbeReturn Stream::see_frame(GstPad *, GstPadProbeInfo *info, gpointer self) {
  auto *stream = static_cast<Stream *>(self);
  const std::uint64_t before = stream->frame_count_.fetch_add(1, std::memory_order_relaxed);
  const bool recording = stream->recording_;
  if (before > 0 && !recording) return GST_PAD_PROBE_OK;
  const std::int64_t now = now_ns();
  if (before == 0) stream->first_arrival_ns_ = now;
  if (recording) {
    const GstClockTime pts = GST_BUFFER_PTS(gst_pad_probe_info_get_buffer(info));
    stream->latencies_ns_.push_back(now - stream->pushed_ns_[pts / kFrameTime % kRemembered]);
  }
  return GST_PAD_PROBE_OK;
}

std::string Stream::build() {
  std::string source = plan_.source;
  if (source.empty()) {
    source = "appsrc name=source format=time block=true max-bytes=0 max-buffers=4";
    if (plan_.live) source += " is-live=true";
  }
  const std::string description = source + (plan_.elements.empty() ? "" : " ! ") + plan_.elements +
                                  " ! fakesink name=sink sync=false qos=false enable-last-sample=false";
  if (std::string text = parse_pipeline(description, &pipeline_); !text.empty()) return text;
  GstBus *bus = gst_element_get_bus(pipeline_);
  gst_bus_set_sync_handler(bus, see_message, this, nullptr);
  gst_object_unref(bus);
  watch_sink(pipeline_, see_frame, this);
  if (!plan_.source.empty()) return "";
  source_ = gst_bin_get_by_name(GST_BIN(pipeline_), "source");
  caps_ = gst_video_info_to_caps(&plan_.picture->info());
  if (plan_.memory == Memory::cuda)
    gst_caps_set_features_simple(caps_, gst_caps_features_new("memory:CUDAMemory", nullptr));
  gst_app_src_set_caps(GST_APP_SRC(source_), caps_);
  return "";
}

std::string Stream::open(GstContext *context) {
  opened_ns_ = now_ns();
  if (std::string text = build(); !text.empty()) return text;
  if (context != nullptr) gst_element_set_context(pipeline_, context);
  if (gst_element_set_state(pipeline_, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
    const std::string text = error();
    return text.empty() ? "the pipeline does not start" : text;
  }
  // Caps are negotiated once a frame has passed; only then is the allocation query answered.
  if (std::string text = push_first_frame(); !text.empty()) return text;
  if (source_ == nullptr) return "";
  if (std::string text = open_pool(); !text.empty()) return text;
  return fill_pool();
}

std::string Stream::push_first_frame() {
  if (source_ != nullptr) push(gst_buffer_copy_deep(plan_.picture->buffer()));
  while (frame_count_ == 0) {
    if (std::string text = error(); !text.empty()) return text;
    if (now_ns() - opened_ns_ > kPatience) return "no frame arrives";
    g_usleep(500);
  }
  return "";
}

std::string Stream::open_pool() {
  GstPad *pad = gst_element_get_static_pad(source_, "src");
  GstQuery *query = gst_query_new_allocation(caps_, TRUE);
  guint size = 0, least = 0, most = 0;
  if (gst_pad_peer_query(pad, query) && gst_query_get_n_allocation_pools(query) > 0)
    gst_query_parse_nth_allocation_pool(query, 0, &pool_, &size, &least, &most);
  gst_query_unref(query);
  gst_object_unref(pad);
  if (plan_.memory == Memory::ordinary) {
    gst_clear_object(&pool_);
    pool_ = gst_video_buffer_pool_new();
    most = 0;
  }
  if (pool_ == nullptr) return "no pool is proposed";
  const guint count = most == 0 ? kBuffers : std::min(most, kBuffers);
  size = std::max(size, static_cast<guint>(plan_.picture->info().size));
  GstStructure *config = gst_buffer_pool_get_config(pool_);
  gst_buffer_pool_config_set_params(config, caps_, size, count, count);
  if (!gst_buffer_pool_set_config(pool_, config) || !gst_buffer_pool_set_active(pool_, TRUE))
    return "the pool does not start";
  return "";
}

// Copies the picture into every buffer of the pool before the clock starts.
std::string Stream::fill_pool() {
  std::vector<GstBuffer *> buffers;
  GstBufferPoolAcquireParams params = {};
  params.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT;
  GstBuffer *buffer = nullptr;
  bool filled = true;
  while (gst_buffer_pool_acquire_buffer(pool_, &buffer, &params) == GST_FLOW_OK) {
    filled = fill(buffer) && filled;
    filled_.push_back(gst_buffer_peek_memory(buffer, 0));
    buffers.push_back(buffer);
  }
  for (GstBuffer *taken : buffers) gst_buffer_unref(taken);
  if (buffers.empty()) return "the pool gives no buffer";
  return filled ? "" : "a buffer of the pool cannot be filled";
}

bool Stream::fill(GstBuffer *buffer) const {
  const GstVideoInfo &info = plan_.picture->info();
  GstVideoFrame src, dst;
  if (!gst_video_frame_map(&src, &info, plan_.picture->buffer(), GST_MAP_READ)) return false;
  const bool mapped = gst_video_frame_map(&dst, &info, buffer, GST_MAP_WRITE);
  if (mapped) {
    gst_video_frame_copy(&dst, &src);
    gst_video_frame_unmap(&dst);
  }
  gst_video_frame_unmap(&src);
  guint flags = GST_MAP_READ;
  if (plan_.memory == Memory::cuda) flags |= kMapCuda;
  GstMapInfo map;  // a mapping for reading, which uploads CUDA memory to the device
  if (!mapped || !gst_buffer_map(buffer, &map, static_cast<GstMapFlags>(flags))) return false;
  gst_buffer_unmap(buffer, &map);
  return true;
}

// Returns null if the pool has no buffer to give, for example when the stream stops.
GstBuffer *Stream::take_buffer() {
  GstBuffer *buffer = nullptr;
  if (gst_buffer_pool_acquire_buffer(pool_, &buffer, nullptr) != GST_FLOW_OK) return nullptr;
  GstMemory *memory = gst_buffer_peek_memory(buffer, 0);
  if (std::find(filled_.begin(), filled_.end(), memory) != filled_.end()) return buffer;
  filled_.push_back(memory);
  ++fresh_buffers_;
  if (fill(buffer)) return buffer;
  gst_buffer_unref(buffer);
  return nullptr;
}

// Takes ownership of the buffer.
bool Stream::push(GstBuffer *buffer) {
  const std::int64_t index = next_frame_++;
  GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(index * kFrameTime);
  GST_BUFFER_DURATION(buffer) = kFrameTime;
  pushed_ns_[static_cast<std::size_t>(index) % kRemembered] = now_ns();
  return gst_app_src_push_buffer(GST_APP_SRC(source_), buffer) == GST_FLOW_OK;
}

void Stream::start(std::int64_t first_due_ns) {
  if (source_ != nullptr) producer_ = std::thread(&Stream::produce, this, first_due_ns);
}

void Stream::produce(std::int64_t first_due_ns) {
  for (std::int64_t due = first_due_ns; !stopping_; due += kFrameTime) {
    GstBuffer *buffer = take_buffer();
    if (buffer == nullptr) break;
    if (plan_.live) sleep_until(due);
    if (!push(buffer)) return;  // the pipeline reports the error
  }
  if (!stopping_) fail("the pool gives no buffer");
}

}  // namespace cudavision::bench
