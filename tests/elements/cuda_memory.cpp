// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames in CUDA memory.
#include "tests/elements/cuda_memory.h"

#include <algorithm>
#include <cstring>

namespace cudavision::test {

const std::vector<std::string> &cuda_formats() {
  static const std::vector<std::string> formats = [] {
    std::vector<std::string> all = kFormats;
    std::erase(all, "GRAY8");
    return all;
  }();
  return formats;
}

void CudaMemoryTest::SetUp() {
  if (backend() != "cuda") GTEST_SKIP() << "of the CUDA backend";
  ElementTest::SetUp();
  if (IsSkipped() || HasFatalFailure()) return;
  ASSERT_TRUE(gst_cuda_load_library());
  gst_cuda_memory_init_once();
}

bool have_uploader() {
  GstElementFactory *factory = gst_element_factory_find("cudaupload");
  if (factory == nullptr) return false;
  gst_object_unref(factory);
  return true;
}

Owned<GstCaps> cuda_caps(const VideoFrame &frame) {
  Owned<GstCaps> caps = frame.caps();
  gst_caps_set_features_simple(caps.get(),
                               gst_caps_features_new(GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY, nullptr));
  return caps;
}

CudaSource::CudaSource(guint device_id) : context_(gst_cuda_context_new(device_id)) {
  EXPECT_NE(context_, nullptr);
}

CudaSource::CudaSource(GstCudaContext *context) : context_(GST_CUDA_CONTEXT(gst_object_ref(context))) {}

void CudaSource::give_to(GstElement *element) const {
  GstContext *context = gst_context_new_cuda_context(context_.get());
  gst_element_set_context(element, context);
  gst_context_unref(context);
}

void CudaSource::give_when_asked(GstElement *pipeline) const {
  const auto give = [](GstBus *, GstMessage *message, gpointer source) {
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_NEED_CONTEXT)
      static_cast<const CudaSource *>(source)->give_to(GST_ELEMENT(GST_MESSAGE_SRC(message)));
    return GST_BUS_PASS;
  };
  const Owned<GstBus> bus(gst_element_get_bus(pipeline));
  gst_bus_set_sync_handler(bus.get(), give, const_cast<CudaSource *>(this), nullptr);
}

OwnedObject<GstBufferPool> CudaSource::pool(const VideoFrame &frame, guint most,
                                            [[maybe_unused]] bool with_stream) const {
  OwnedObject<GstBufferPool> pool(gst_cuda_buffer_pool_new(context()));
  GstStructure *config = gst_buffer_pool_get_config(pool.get());
  const Owned<GstCaps> caps = cuda_caps(frame);
  gst_buffer_pool_config_set_params(config, caps.get(), static_cast<guint>(frame.info().size), 0, most);
#if GST_CHECK_VERSION(1, 24, 0)
  if (with_stream) {
    GstCudaStream *stream = gst_cuda_stream_new(context());
    gst_buffer_pool_config_set_cuda_stream(config, stream);
    gst_cuda_stream_unref(stream);
  }
#endif
  EXPECT_TRUE(gst_buffer_pool_set_config(pool.get(), config));
  EXPECT_TRUE(gst_buffer_pool_set_active(pool.get(), TRUE));
  return pool;
}

Owned<GstBuffer> CudaSource::buffer(const VideoFrame &frame) const {
  const OwnedObject<GstBufferPool> from = pool(frame);
  GstBuffer *buffer = nullptr;
  EXPECT_EQ(gst_buffer_pool_acquire_buffer(from.get(), &buffer, nullptr), GST_FLOW_OK);
  write_samples(frame, buffer);
  gst_buffer_pool_set_active(from.get(), FALSE);
  return Owned<GstBuffer>(buffer);
}

namespace {

// The bytes of a row that hold samples, including the last of a subsampled pair at an odd width.
std::size_t row_bytes(const GstVideoInfo &info, guint plane) {
  std::size_t bytes = 0;
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS(&info); ++c)
    if (GST_VIDEO_INFO_COMP_PLANE(&info, c) == plane)
      bytes = std::max(bytes, static_cast<std::size_t>(GST_VIDEO_INFO_COMP_WIDTH(&info, c)) *
                                  static_cast<std::size_t>(GST_VIDEO_INFO_COMP_PSTRIDE(&info, c)));
  return bytes;
}

int row_count(const GstVideoInfo &info, guint plane) {
  guint c = 0;
  while (GST_VIDEO_INFO_COMP_PLANE(&info, c) != plane) ++c;
  return GST_VIDEO_INFO_COMP_HEIGHT(&info, c);
}

enum class To { buffer, bytes };

// Copies the rows of all planes between a buffer and the frame's bytes; CUDA memory is copied by the driver.
void copy_samples(To to, GstBuffer *buffer, const GstVideoInfo &info, std::uint8_t *bytes) {
  const bool cuda = is_cuda(buffer);
  guint access = to == To::buffer ? GST_MAP_WRITE : GST_MAP_READ;
  if (cuda) access |= guint{GST_MAP_CUDA};
  GstVideoFrame mapped;
  ASSERT_TRUE(gst_video_frame_map(&mapped, &info, buffer, static_cast<GstMapFlags>(access)));
  GstCudaContext *context = cuda ? GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffer, 0))->context : nullptr;
  for (guint plane = 0; plane < GST_VIDEO_INFO_N_PLANES(&info); ++plane) {
    const auto rows = static_cast<std::size_t>(row_count(info, plane)), count = row_bytes(info, plane);
    const auto their_pitch = static_cast<std::size_t>(mapped.info.stride[plane]),
               our_pitch = static_cast<std::size_t>(info.stride[plane]);
    auto *theirs = static_cast<std::uint8_t *>(mapped.data[plane]);
    std::uint8_t *ours = bytes + info.offset[plane];
    if (!cuda) {
      for (std::size_t y = 0; y < rows; ++y)
        if (to == To::buffer)
          std::memcpy(theirs + y * their_pitch, ours + y * our_pitch, count);
        else
          std::memcpy(ours + y * our_pitch, theirs + y * their_pitch, count);
      continue;
    }
    CUDA_MEMCPY2D copy = {};
    copy.WidthInBytes = count;
    copy.Height = rows;
    copy.srcMemoryType = to == To::buffer ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    copy.dstMemoryType = to == To::buffer ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    copy.srcHost = copy.dstHost = ours;
    copy.srcDevice = copy.dstDevice = reinterpret_cast<CUdeviceptr>(theirs);
    copy.srcPitch = to == To::buffer ? our_pitch : their_pitch;
    copy.dstPitch = to == To::buffer ? their_pitch : our_pitch;
    ASSERT_TRUE(gst_cuda_context_push(context));
    EXPECT_EQ(CuMemcpy2D(&copy), CUDA_SUCCESS);
    gst_cuda_context_pop(nullptr);
  }
  gst_video_frame_unmap(&mapped);
}

}  // namespace

void write_samples(const VideoFrame &frame, GstBuffer *buffer) {
  std::vector<std::uint8_t> bytes = frame.bytes();
  copy_samples(To::buffer, buffer, frame.info(), bytes.data());
}

std::vector<std::uint8_t> samples_of(GstBuffer *buffer, const VideoFrame &frame) {
  std::vector<std::uint8_t> bytes = frame.bytes();
  copy_samples(To::bytes, buffer, frame.info(), bytes.data());
  return bytes;
}

std::vector<std::uint8_t> samples_of(GstBuffer *buffer, const GstCaps *caps) {
  GstVideoInfo info;
  EXPECT_TRUE(gst_video_info_from_caps(&info, caps));
  std::vector<std::uint8_t> bytes(info.size);
  copy_samples(To::bytes, buffer, info, bytes.data());
  return bytes;
}

std::vector<std::uint8_t> samples_of(GstSample *sample) {
  return samples_of(gst_sample_get_buffer(sample), gst_sample_get_caps(sample));
}

bool kept_by_gstreamer(const std::string &format, Size size) {
  if (format == "YUY2" || format == "UYVY") return size.width % 2 == 0;
  return has_cuda_frames(format, size);
}

bool has_cuda_frames(const std::string &format, Size size) {
  const bool odd = size.height % 2 != 0;
  guint major = 0, minor = 0, micro = 0, nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  if (format == "NV21") return !odd || minor < 24;
  if (format != "I420" && format != "YV12") return true;
  if (minor < 24) return !odd;
  return minor > 24 || micro >= 4 || odd;
}

bool is_cuda(GstBuffer *buffer) {
  return gst_buffer_n_memory(buffer) == 1 && gst_is_cuda_memory(gst_buffer_peek_memory(buffer, 0));
}

void copy_from_device(GstCudaContext *context, void *to, const void *from, std::size_t bytes) {
  CUDA_MEMCPY2D copy = {};
  copy.WidthInBytes = copy.srcPitch = copy.dstPitch = bytes;
  copy.Height = 1;
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = reinterpret_cast<CUdeviceptr>(from);
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = to;
  ASSERT_TRUE(gst_cuda_context_push(context));
  EXPECT_EQ(CuMemcpy2D(&copy), CUDA_SUCCESS);
  gst_cuda_context_pop(nullptr);
}

bool is_cuda_format(const std::string &format) {
  // the formats of cudaupload are those of GStreamer's CUDA memory
  GstElementFactory *factory = gst_element_factory_find("cudaupload");
  if (factory == nullptr) return false;
  GstCaps *caps = gst_caps_from_string(("video/x-raw(memory:CUDAMemory), format=" + format).c_str());
  const bool found = gst_element_factory_can_src_any_caps(factory, caps);
  gst_caps_unref(caps);
  gst_object_unref(factory);
  return found;
}

GstCudaContext *context_of(GstElement *element) {
  GstQuery *query = gst_query_new_context(GST_CUDA_CONTEXT_TYPE);
  GstPad *pad = gst_element_get_static_pad(element, "src");
  GstCudaContext *found = nullptr;
  GstContext *context = nullptr;
  if (gst_pad_query(pad, query)) gst_query_parse_context(query, &context);
  if (context != nullptr && gst_structure_get(gst_context_get_structure(context), GST_CUDA_CONTEXT_TYPE,
                                              GST_TYPE_CUDA_CONTEXT, &found, nullptr))
    gst_object_unref(found);
  gst_object_unref(pad);
  gst_query_unref(query);
  return found;
}

}  // namespace cudavision::test
