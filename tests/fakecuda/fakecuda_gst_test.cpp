// SPDX-License-Identifier: LGPL-2.1-or-later
// GStreamer's own CUDA library, cudaupload and cudadownload on the stand-in driver and the emulated runtime.
#define GST_USE_UNSTABLE_API 1
#include <gst/check/gstharness.h>
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/video/video.h>

#include <cstdint>
#include <memory>
#include <random>
#include <sstream>

#include "tests/fakecuda/fakecuda_test_support.h"

namespace {

using fakecuda::take_misuses;

struct Picture {
  GstVideoFormat format = GST_VIDEO_FORMAT_RGB;
  int width = 0, height = 0;

  friend std::ostream &operator<<(std::ostream &out, const Picture &p) {
    return out << gst_video_format_to_string(p.format) << '_' << p.width << 'x' << p.height;
  }
};

// The formats that both cudaupload and the elements support.
constexpr GstVideoFormat kFormats[] = {GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_NV21, GST_VIDEO_FORMAT_I420,
                                       GST_VIDEO_FORMAT_YV12, GST_VIDEO_FORMAT_Y42B, GST_VIDEO_FORMAT_Y444,
                                       GST_VIDEO_FORMAT_RGB,  GST_VIDEO_FORMAT_BGR,  GST_VIDEO_FORMAT_RGBx,
                                       GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_BGRA};
constexpr int kSizes[][2] = {{64, 48}, {63, 48}, {64, 47}, {63, 47}, {516, 6},
                             {17, 5},  {2, 2},   {3, 3},   {1, 1}};

std::vector<Picture> pictures() {
  std::vector<Picture> all;
  for (const GstVideoFormat format : kFormats)
    for (const auto &[width, height] : kSizes) all.push_back({format, width, height});
  return all;
}

template <auto free>
struct Deleter {
  template <class T>
  void operator()(T *object) const {
    free(object);
  }
};
using CudaContext = std::unique_ptr<GstCudaContext, Deleter<gst_object_unref>>;
using Pool = std::unique_ptr<GstBufferPool, Deleter<gst_object_unref>>;
using Buffer = std::unique_ptr<GstBuffer, Deleter<gst_buffer_unref>>;
using Caps = std::unique_ptr<GstCaps, Deleter<gst_caps_unref>>;
using Harness = std::unique_ptr<GstHarness, Deleter<gst_harness_teardown>>;

GstVideoInfo info_of(const Picture &picture) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, picture.format, static_cast<unsigned>(picture.width),
                            static_cast<unsigned>(picture.height));
  info.fps_n = 30;
  info.fps_d = 1;
  return info;
}

Caps caps_of(const Picture &picture) {
  GstVideoInfo info = info_of(picture);
  return Caps(gst_video_info_to_caps(&info));
}

// The value of GST_MAP_CUDA is outside the range of the enumeration.
GstMapFlags map_flags(int flags) { return static_cast<GstMapFlags>(flags); }

class Frame {
 public:
  Frame(const Picture &picture, GstBuffer *buffer, int flags) {
    const GstVideoInfo info = info_of(picture);
    mapped_ = gst_video_frame_map(&frame_, &info, buffer, map_flags(flags)) != FALSE;
    EXPECT_TRUE(mapped_);
  }
  Frame(const Frame &) = delete;
  Frame &operator=(const Frame &) = delete;
  ~Frame() {
    if (mapped_) gst_video_frame_unmap(&frame_);
  }

  int planes() const { return mapped_ ? static_cast<int>(GST_VIDEO_FRAME_N_PLANES(&frame_)) : 0; }
  std::uint8_t *data(int plane) const {
    return static_cast<std::uint8_t *>(GST_VIDEO_FRAME_PLANE_DATA(&frame_, plane));
  }
  std::size_t pitch(int plane) const {
    return static_cast<std::size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame_, plane));
  }
  std::size_t width_bytes(int plane) const {
    const int component = component_of(plane);
    return static_cast<std::size_t>(GST_VIDEO_FRAME_COMP_WIDTH(&frame_, component) *
                                    GST_VIDEO_FRAME_COMP_PSTRIDE(&frame_, component));
  }
  std::size_t height(int plane) const {
    return static_cast<std::size_t>(GST_VIDEO_FRAME_COMP_HEIGHT(&frame_, component_of(plane)));
  }

 private:
  int component_of(int plane) const {
    int component = 0;
    while (static_cast<int>(GST_VIDEO_FRAME_COMP_PLANE(&frame_, component)) != plane) ++component;
    return component;
  }

  GstVideoFrame frame_{};
  bool mapped_ = false;
};

// The bytes of the pixels, plane after plane, without row padding.
using Bytes = std::vector<std::uint8_t>;

Bytes bytes_of(const Frame &frame) {
  Bytes bytes;
  for (int plane = 0; plane < frame.planes(); ++plane)
    for (std::size_t y = 0; y < frame.height(plane); ++y) {
      const std::uint8_t *row = frame.data(plane) + y * frame.pitch(plane);
      bytes.insert(bytes.end(), row, row + frame.width_bytes(plane));
    }
  return bytes;
}

void fill_with_noise(const Frame &frame) {
  std::minstd_rand random(7);
  for (int plane = 0; plane < frame.planes(); ++plane)
    for (std::size_t y = 0; y < frame.height(plane); ++y)
      for (std::size_t x = 0; x < frame.width_bytes(plane); ++x)
        frame.data(plane)[y * frame.pitch(plane) + x] = static_cast<std::uint8_t>(random() >> 16);
}

Bytes read(const Picture &picture, GstBuffer *buffer) {
  return bytes_of(Frame(picture, buffer, GST_MAP_READ));
}

bool library_is_older_than(unsigned minor, unsigned micro) {
  unsigned version[4];
  gst_version(&version[0], &version[1], &version[2], &version[3]);
  return version[1] < minor || (version[1] == minor && version[2] < micro);
}

// From 1.24 on (including 1.28) the library allocates NV21 of odd heights one row short: its own copies
// overrun the memory.
bool library_overflows(const Picture &picture) {
  return picture.format == GST_VIDEO_FORMAT_NV21 && picture.height % 2 != 0 && !library_is_older_than(24, 0);
}
constexpr char kOverflows[] = "GStreamer allocates NV21 of odd heights one row short";

// The number of bytes of bytes_of() that survive a map for the CPU. The library misplaces the last plane of I420 and
// YV12 by half a row of the pitch, before 1.24.0 at odd heights, and from 1.24.0 to 1.24.3 at even ones. Its copies
// from and to host memory, which are only as wide as the picture, do not reach the misplaced bytes.
std::size_t right_bytes(const Picture &picture) {
  const Buffer buffer(gst_buffer_new_allocate(nullptr, info_of(picture).size, nullptr));
  const Frame frame(picture, buffer.get(), GST_MAP_READ);
  const bool misplaced =
      (picture.format == GST_VIDEO_FORMAT_I420 || picture.format == GST_VIDEO_FORMAT_YV12) &&
      library_is_older_than(24, 4) && (picture.height % 2 != 0) == library_is_older_than(24, 0);
  std::size_t bytes = 0;
  for (int plane = 0; plane < frame.planes() - misplaced; ++plane)
    bytes += frame.width_bytes(plane) * frame.height(plane);
  return bytes;
}

testing::AssertionResult begins_alike(const Bytes &a, const Bytes &b, std::size_t count) {
  if (a.size() != b.size() || a.size() < count)
    return testing::AssertionFailure() << a.size() << " and " << b.size() << " bytes";
  for (std::size_t i = 0; i < count; ++i)
    if (a[i] != b[i])
      return testing::AssertionFailure() << "byte " << i << ": " << int{a[i]} << " and " << int{b[i]};
  return testing::AssertionSuccess();
}

// Reads a picture from the device as an element does: in the memory's context, with runtime calls.
Bytes read_from_device(const Picture &picture, GstBuffer *buffer, GstCudaContext *context) {
  const Frame frame(picture, buffer, GST_MAP_READ | GST_MAP_CUDA);
  EXPECT_TRUE(gst_cuda_context_push(context));
  Bytes bytes;
  for (int plane = 0; plane < frame.planes(); ++plane) {
    cudaPointerAttributes attributes{};
    EXPECT_EQ(cudaPointerGetAttributes(&attributes, frame.data(plane)), cudaSuccess);
    EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
    const std::size_t width = frame.width_bytes(plane), begin = bytes.size();
    bytes.resize(begin + width * frame.height(plane));
    for (std::size_t y = 0; y < frame.height(plane); ++y)  // row by row: the last plane may lie in padding
      EXPECT_EQ(cudaMemcpyAsync(bytes.data() + begin + y * width, frame.data(plane) + y * frame.pitch(plane),
                                width, cudaMemcpyDeviceToHost),
                cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);  // before the bytes move
  }
  EXPECT_TRUE(gst_cuda_context_pop(nullptr));
  return bytes;
}

Pool make_pool(GstCudaContext *context, const Picture &picture) {
  Pool pool(gst_cuda_buffer_pool_new(context));
  GstStructure *config = gst_buffer_pool_get_config(pool.get());
  const GstVideoInfo info = info_of(picture);
  gst_buffer_pool_config_set_params(config, caps_of(picture).get(), static_cast<unsigned>(info.size), 0, 0);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  EXPECT_TRUE(gst_buffer_pool_set_config(pool.get(), config)) << picture;
  EXPECT_TRUE(gst_buffer_pool_set_active(pool.get(), TRUE)) << picture;
  return pool;
}

Buffer acquire(const Pool &pool) {
  GstBuffer *buffer = nullptr;
  EXPECT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &buffer, nullptr), GST_FLOW_OK);
  return Buffer(buffer);
}

Buffer make_noise(const Picture &picture) {
  Buffer buffer(gst_buffer_new_allocate(nullptr, info_of(picture).size, nullptr));
  fill_with_noise(Frame(picture, buffer.get(), GST_MAP_WRITE));
  return buffer;
}

class GstCuda : public FakeCuda, public testing::WithParamInterface<Picture> {
 protected:
  // The nvcodec plugin of GStreamer 1.22 leaves a destroyed context pushed on the thread that loads it, once
  // for each codec without a decoder.
  static void SetUpTestSuite() {
    gst_init(nullptr, nullptr);
    if (GstPlugin *plugin = gst_plugin_load_by_name("nvcodec"); plugin != nullptr) gst_object_unref(plugin);
    fakecuda::clear_stack();
    (void)take_misuses();
  }
  void SetUp() override {
    ASSERT_TRUE(gst_cuda_load_library());
    gst_cuda_memory_init_once();
  }
  // Returns true if the elements of the nvcodec plugin exist; they are part of gst-plugins-bad.
  static bool have_elements() {
    GstElementFactory *factory = gst_element_factory_find("cudaupload");
    if (factory != nullptr) gst_object_unref(factory);
    return factory != nullptr;
  }
};

TEST_F(GstCuda, context_is_made_pushed_and_destroyed) {
  CudaContext context(gst_cuda_context_new(0));
  ASSERT_NE(context, nullptr);
  EXPECT_EQ(fakecuda::live_contexts(), 1u);
  EXPECT_EQ(fakecuda::pushed_contexts(), 0u);
  EXPECT_EQ(gst_cuda_context_get_texture_alignment(context.get()), 512);
  CUcontext current = nullptr;
  ASSERT_TRUE(gst_cuda_context_push(context.get()));
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, gst_cuda_context_get_handle(context.get()));
  EXPECT_TRUE(gst_cuda_context_pop(nullptr));
}

TEST_F(GstCuda, runtime_calls_work_inside_its_context_alone) {
  CudaContext context(gst_cuda_context_new(0));
  void *data = nullptr;
  ASSERT_TRUE(gst_cuda_context_push(context.get()));
  EXPECT_EQ(cudaMalloc(&data, 16), cudaSuccess);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
  EXPECT_TRUE(gst_cuda_context_pop(nullptr));
  EXPECT_EQ(cudaMalloc(&data, 16), cudaErrorDeviceUninitialized);
  EXPECT_EQ(take_misuses(), Misuses{"cudaMalloc: no context is pushed on this thread"});
}

TEST_F(GstCuda, second_device_is_a_context_of_its_own) {
  simt::set_device_count(2);
  CudaContext first(gst_cuda_context_new(0)), second(gst_cuda_context_new(1));
  ASSERT_NE(second, nullptr);
  EXPECT_FALSE(gst_cuda_context_can_access_peer(first.get(), second.get()));
  EXPECT_EQ(gst_cuda_context_new(2), nullptr);
  fakecuda::allow_peer_access(true);
  CudaContext third(gst_cuda_context_new(1));
  EXPECT_TRUE(gst_cuda_context_can_access_peer(first.get(), third.get()));
}

TEST_F(GstCuda, failures_of_the_driver_are_those_of_the_library) {
  const Picture picture{GST_VIDEO_FORMAT_NV12, 64, 48};
  simt::set_device_count(0);
  EXPECT_EQ(gst_cuda_context_new(0), nullptr);
  simt::set_device_count(1);
  fakecuda::fail_contexts(1, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(gst_cuda_context_new(0), nullptr);
  CudaContext context(gst_cuda_context_new(0));
  const Pool pool = make_pool(context.get(), picture);
  simt::fail_allocations_after(0);
  GstBuffer *none = nullptr;
  EXPECT_NE(gst_buffer_pool_acquire_buffer(pool.get(), &none, nullptr), GST_FLOW_OK);
  EXPECT_TRUE(gst_buffer_pool_set_active(pool.get(), FALSE));
}

TEST_F(GstCuda, lost_device_leaks_nothing) {
  const Picture picture{GST_VIDEO_FORMAT_NV12, 64, 48};
  CudaContext context(gst_cuda_context_new(0));
  const Pool pool = make_pool(context.get(), picture);
  {
    const Buffer buffer = acquire(pool);
    fill_with_noise(Frame(picture, buffer.get(), GST_MAP_WRITE));
    simt::lose_device();
    GstMapInfo map;
    EXPECT_FALSE(gst_buffer_map(buffer.get(), &map, map_flags(GST_MAP_READ | GST_MAP_CUDA)));
  }
  EXPECT_TRUE(gst_buffer_pool_set_active(pool.get(), FALSE));
  EXPECT_EQ(simt::live_allocations(), 0u);
  EXPECT_EQ(simt::live_host_allocations(), 0u);
}

TEST_P(GstCuda, what_the_cpu_wrote_is_on_the_device_and_comes_back) {
  const Picture &picture = GetParam();
  if (library_overflows(picture)) GTEST_SKIP() << kOverflows;
  CudaContext context(gst_cuda_context_new(0));
  const Pool pool = make_pool(context.get(), picture);
  Buffer buffer = acquire(pool);
  fill_with_noise(Frame(picture, buffer.get(), GST_MAP_WRITE));
  const Bytes written = read(picture, buffer.get());
  const simt::Counters before = simt::counters();
  const Bytes on_device = read_from_device(picture, buffer.get(), context.get());
  EXPECT_TRUE(begins_alike(on_device, written, right_bytes(picture)));
  EXPECT_EQ((simt::counters() - before).host_to_device_copies, 1u) << "the upload by the library";
  {
    const Frame frame(picture, buffer.get(), GST_MAP_READ | GST_MAP_WRITE | GST_MAP_CUDA);
    ASSERT_GT(frame.pitch(0), frame.width_bytes(0));
    ASSERT_TRUE(gst_cuda_context_push(context.get()));
    EXPECT_EQ(cudaMemset2DAsync(frame.data(0), frame.pitch(0), 0x5a, frame.width_bytes(0), 1), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
    EXPECT_TRUE(gst_cuda_context_pop(nullptr));
    EXPECT_EQ(frame.height(0), static_cast<std::size_t>(picture.height));
  }
  Bytes expected = written;
  const std::size_t row = Frame(picture, buffer.get(), GST_MAP_READ).width_bytes(0);
  std::fill_n(expected.begin(), row, std::uint8_t{0x5a});
  EXPECT_TRUE(begins_alike(read(picture, buffer.get()), expected, right_bytes(picture)));
  buffer.reset();
  EXPECT_TRUE(gst_buffer_pool_set_active(pool.get(), FALSE));
}

TEST_P(GstCuda, upload_and_download_give_the_input) {
  if (!have_elements()) GTEST_SKIP() << "GStreamer's nvcodec plugin is not installed";
  const Picture &picture = GetParam();
  if (library_overflows(picture)) GTEST_SKIP() << kOverflows;
  {
    const Harness harness(
        gst_harness_new_parse("cudaupload ! video/x-raw(memory:CUDAMemory) ! cudadownload"));
    gst_harness_set_sink_caps(harness.get(), caps_of(picture).release());
    gst_harness_set_src_caps(harness.get(), caps_of(picture).release());
    Buffer src = make_noise(picture);
    const Bytes expected = read(picture, src.get());
    for (int i = 0; i < 2; ++i) {
      ASSERT_EQ(gst_harness_push(harness.get(), gst_buffer_ref(src.get())), GST_FLOW_OK);
      const Buffer dst(gst_harness_pull(harness.get()));
      ASSERT_NE(dst, nullptr);
      EXPECT_EQ(read(picture, dst.get()), expected);
    }
  }
}

// A pipeline on its own threads, and the frames that arrive at its end.
class Pipeline {
 public:
  Pipeline(const Picture &picture, const std::string &middle) : picture_(picture) {
    std::ostringstream text;
    text << "videotestsrc num-buffers=3 pattern=smpte75 ! video/x-raw,format="
         << gst_video_format_to_string(picture.format) << ",width=" << picture.width
         << ",height=" << picture.height << middle << " ! fakesink name=sink signal-handoffs=true";
    pipeline_.reset(gst_parse_launch(text.str().c_str(), nullptr));
    GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline_.get()), "sink");
    g_signal_connect(sink, "handoff",
                     G_CALLBACK(+[](GstElement *, GstBuffer *buffer, GstPad *, gpointer self) {
                       auto *pipeline = static_cast<Pipeline *>(self);
                       pipeline->frames_.push_back(read(pipeline->picture_, buffer));
                     }),
                     this);
    gst_object_unref(sink);
  }

  // Plays to the end and returns to NULL. Returns false if an error was posted.
  bool play() {
    gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
    GstBus *bus = gst_element_get_bus(pipeline_.get());
    GstMessage *message =
        gst_bus_timed_pop_filtered(bus, 600 * GST_SECOND, map_message(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
    const bool ended = message != nullptr && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    if (message != nullptr) gst_message_unref(message);
    gst_object_unref(bus);
    gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
    return ended;
  }
  const std::vector<Bytes> &frames() const { return frames_; }

 private:
  static GstMessageType map_message(int types) { return static_cast<GstMessageType>(types); }

  Picture picture_;
  std::vector<Bytes> frames_;
  std::unique_ptr<GstElement, Deleter<gst_object_unref>> pipeline_;
};

constexpr char kThereAndBack[] =
    " ! cudaupload ! video/x-raw(memory:CUDAMemory) ! queue ! cudadownload ! video/x-raw";

TEST_P(GstCuda, pipeline_with_upload_and_download_gives_what_it_gives_without) {
  if (!have_elements()) GTEST_SKIP() << "GStreamer's nvcodec plugin is not installed";
  if (library_overflows(GetParam())) GTEST_SKIP() << kOverflows;
  Pipeline straight(GetParam(), ""), there_and_back(GetParam(), kThereAndBack);
  ASSERT_TRUE(straight.play());
  const simt::Counters before = simt::counters();
  ASSERT_TRUE(there_and_back.play());
  EXPECT_EQ(straight.frames().size(), 3u);
  EXPECT_EQ(there_and_back.frames(), straight.frames());
  const simt::Counters counted = simt::counters() - before;
  EXPECT_EQ(counted.host_to_device_bytes, counted.device_to_host_bytes);
  EXPECT_EQ(counted.host_to_device_bytes, 3 * straight.frames()[0].size());
}

TEST_F(GstCuda, pipeline_ends_in_an_error_when_the_device_is_lost_and_plays_again) {
  if (!have_elements()) GTEST_SKIP() << "GStreamer's nvcodec plugin is not installed";
  Pipeline pipeline({GST_VIDEO_FORMAT_NV12, 64, 48}, kThereAndBack);
  simt::lose_device_after(simt::Call::copy, 3);
  EXPECT_FALSE(pipeline.play());
  EXPECT_EQ(fakecuda::live_contexts(), 1u) << "the bin keeps it";
  EXPECT_EQ(simt::live_allocations(), 0u);
  EXPECT_EQ(simt::live_streams(), 0u);
  simt::reset();
  EXPECT_TRUE(pipeline.play());
}

std::string picture_name(const testing::TestParamInfo<Picture> &info) {
  std::ostringstream name;
  name << info.param;
  return name.str();
}

INSTANTIATE_TEST_SUITE_P(, GstCuda, testing::ValuesIn(pictures()), picture_name);

}  // namespace
