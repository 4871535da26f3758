// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames in CUDA memory are processed in place, whoever made them.
#include "tests/elements/cuda_memory.h"

#include <gst/cudavision/cudavision.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/elements/canny_reference.h"
#include "tests/elements/histogram_reference.h"
#include "tests/elements/tensor.h"

namespace {

using namespace cudavision::test;
using cudavision::Size;

// --- every format ---

class CudaMemoryFormats : public CudaMemoryTest, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(, CudaMemoryFormats, testing::ValuesIn(cuda_formats()),
                         [](const auto &format) { return format.param; });

TEST_P(CudaMemoryFormats, edges_are_drawn_where_the_frame_lies) {
  const CudaSource source;
  CudaHarness harness;
  unsigned seed = 1;
  for (const Size size : {Size{1, 1}, Size{2, 2}, Size{3, 5}, Size{34, 18}, Size{67, 33}, Size{64, 64}}) {
    if (!has_cuda_frames(GetParam(), size)) continue;
    const VideoFrame frame(GetParam(), size, seed++);
    harness.negotiate_cuda(frame);
    Owned<GstBuffer> buffer = source.buffer(frame);
    const GstMemory *const memory = gst_buffer_peek_memory(buffer.get(), 0);
    const Owned<GstBuffer> out = harness.exchange(std::move(buffer));
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), memory);
    EXPECT_TRUE(same_bytes(samples_of(out.get(), frame), with_edges(frame)));
  }
}

TEST_P(CudaMemoryFormats, overlay_of_a_region_is_that_of_system_memory) {
  const CudaSource source;
  CudaHarness harness("cudacanny output=overlay color=0x80ff8000 roi-x=5 roi-y=3 roi-width=21 roi-height=17");
  const VideoFrame frame(GetParam(), {41, 30}, 7);
  harness.negotiate_cuda(frame);
  const Owned<GstBuffer> out = harness.exchange(source.buffer(frame));
  ASSERT_NE(out, nullptr);
  EXPECT_TRUE(same_bytes(samples_of(out.get(), frame), with_overlay(frame, 0x80ff8000, {}, {5, 3, 21, 17})));
}

TEST_P(CudaMemoryFormats, display_off_leaves_the_frame_and_attaches_the_edges) {
  const CudaSource source;
  CudaHarness harness("cudacanny display=false");
  const VideoFrame frame(GetParam(), {41, 30}, 8);
  harness.negotiate_cuda(frame);
  const Owned<GstBuffer> out = harness.exchange(source.buffer(frame));
  ASSERT_NE(out, nullptr);
  const cv::Mat edges = opencv_edges(luma_of(frame), {});
  EXPECT_EQ(elements_of<std::uint8_t>(tensor_of(out, "edges")),
            std::vector<std::uint8_t>(edges.begin<std::uint8_t>(), edges.end<std::uint8_t>()));
  EXPECT_TRUE(same_bytes(samples_of(out.get(), frame), frame));
}

TEST_P(CudaMemoryFormats, histogram_of_the_channels_is_that_of_system_memory) {
  const CudaSource source;
  CudaHarness cuda("cudahistogram mode=channels"), system("cudahistogram mode=channels");
  const VideoFrame frame(GetParam(), {41, 30}, 9);
  cuda.negotiate_cuda(frame);
  const Owned<GstBuffer> out = cuda.exchange(source.buffer(frame));
  const Owned<GstBuffer> expected = buffer_from(&system, frame);
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(elements_of<std::uint32_t>(tensor_of(out, "histogram")),
            elements_of<std::uint32_t>(tensor_of(expected, "histogram")));
  EXPECT_EQ(samples_of(out.get(), frame), samples_of(expected.get(), frame));
}

// --- shared memory ---

class CudaMemory : public CudaMemoryTest {};

TEST_F(CudaMemory, memory_that_another_buffer_shares_is_not_overwritten) {
  const CudaSource source;
  CudaHarness harness;
  const VideoFrame frame("NV12", {34, 18});
  harness.negotiate_cuda(frame);
  const Owned<GstBuffer> held = source.buffer(frame);
  const Owned<GstBuffer> out = harness.exchange(Owned<GstBuffer>(gst_buffer_copy(held.get())));
  ASSERT_NE(out, nullptr);
  EXPECT_TRUE(is_cuda(out.get()));
  EXPECT_TRUE(same_bytes(samples_of(out.get(), frame), with_edges(frame)));
  EXPECT_TRUE(same_bytes(samples_of(held.get(), frame), frame));
}

TEST_F(CudaMemory, display_off_shares_the_memory) {
  const CudaSource source;
  CudaHarness harness("cudacanny display=false");
  const VideoFrame frame("NV12", {34, 18});
  harness.negotiate_cuda(frame);
  const Owned<GstBuffer> held = source.buffer(frame);
  const Owned<GstBuffer> out = harness.exchange(Owned<GstBuffer>(gst_buffer_copy(held.get())));
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), gst_buffer_peek_memory(held.get(), 0));
}

// videoflip does not take frames that stay on the GPU.
TEST_F(CudaMemory, frames_that_are_to_be_turned_are_told_and_not_marked) {
  const CudaSource source;
  for (const bool is_turned : {false, true}) {
    CudaHarness harness("cudahog model=people display=false");
    const VideoFrame frame("NV12", {80, 140});
    harness.negotiate_cuda(frame);
    const char *tag = is_turned ? "rotate-90" : "rotate-0";
    gst_harness_push_event(harness.get(),
                           gst_event_new_tag(gst_tag_list_new(GST_TAG_IMAGE_ORIENTATION, tag, nullptr)));
    const Owned<GstBuffer> out = harness.exchange(source.buffer(frame));
    ASSERT_NE(out, nullptr);
    EXPECT_TRUE(is_cuda(out.get()));
    EXPECT_EQ(gst_cuda_vision_buffer_get_n_results(out.get(), "person") < 0, is_turned);
    const auto warning = take_warning(harness.element());
    EXPECT_EQ(warning && warning->text.find("image-orientation=rotate-90") != std::string::npos, is_turned);
  }
}

TEST_F(CudaMemory, pool_of_two_buffers_does_not_starve) {
  const CudaSource source;
  for (const char *element : {"cudacanny", "cudacanny display=false", "cudahistogram"}) {
    CudaHarness harness(element);
    const VideoFrame frame("NV12", {34, 18});
    harness.negotiate_cuda(frame);
    const OwnedObject<GstBufferPool> pool = source.pool(frame, 2);
    GstBufferPoolAcquireParams no_wait = {};
    no_wait.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT;
    Owned<GstBuffer> last;  // a frame held by a sink
    for (int i = 0; i < 20; ++i) {
      GstBuffer *buffer = nullptr;
      ASSERT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &buffer, &no_wait), GST_FLOW_OK) << element << i;
      write_samples(frame, buffer);
      last = harness.exchange(Owned<GstBuffer>(buffer));
      ASSERT_NE(last, nullptr);
    }
    gst_buffer_pool_set_active(pool.get(), FALSE);
  }
}

TEST_F(CudaMemory, nothing_is_copied_to_or_from_the_host) {
  CUDAVISION_NEEDS_EMULATION();
  const CudaSource source;
  for (const char *element : {"cudacanny display=false", "cudacanny", "cudahistogram display=false"}) {
    for (const char *format : {"NV12", "RGB"}) {
      CudaHarness harness(element);
      const VideoFrame frame(format, {67, 33});
      harness.negotiate_cuda(frame);
      ASSERT_NE(harness.exchange(source.buffer(frame)), nullptr);
      Owned<GstBuffer> second = source.buffer(frame);
      const simt::Counters before = simt::counters();
      const Owned<GstBuffer> out = harness.exchange(std::move(second));
      const simt::Counters done = simt::counters() - before;
      ASSERT_NE(out, nullptr);
      EXPECT_GT(done.launches, 0u);
      EXPECT_EQ(done.host_to_device_bytes, 0u) << element << " " << format;
      EXPECT_EQ(done.device_to_host_bytes, 0u) << element << " " << format;
      EXPECT_EQ(done.device_to_device_bytes, 0u) << element << " " << format;
      EXPECT_EQ(done.allocations, 0u) << element << " " << format;
    }
  }
}

// --- memory that differs from the caps ---

TEST_F(CudaMemory, memory_is_decided_buffer_by_buffer) {
  const CudaSource source;
  CudaHarness harness;
  const VideoFrame frame("RGB", {35, 19});
  for (const bool cuda : {true, false}) {
    if (cuda)
      harness.negotiate_cuda(frame);
    else
      harness.negotiate(frame);
    for (const bool buffer_in_cuda : {!cuda, cuda, !cuda}) {
      const Owned<GstBuffer> out = harness.exchange(buffer_in_cuda ? source.buffer(frame) : frame.buffer());
      ASSERT_NE(out, nullptr);
      EXPECT_EQ(is_cuda(out.get()), buffer_in_cuda);
      EXPECT_TRUE(same_bytes(samples_of(out.get(), frame), with_edges(frame))) << cuda << buffer_in_cuda;
    }
  }
}

TEST_F(CudaMemory, caps_change_between_the_memories) {
  const CudaSource source;
  CudaHarness harness;
  unsigned seed = 1;
  for (const Size size : {Size{34, 18}, Size{21, 40}, Size{34, 18}}) {
    const VideoFrame frame("I420", size, seed++);
    harness.negotiate_cuda(frame);
    Owned<GstBuffer> out = harness.exchange(source.buffer(frame));
    ASSERT_NE(out, nullptr);
    EXPECT_TRUE(same_bytes(samples_of(out.get(), frame), with_edges(frame)));
    harness.negotiate(frame);
    out = harness.exchange(frame.buffer());
    ASSERT_NE(out, nullptr);
    EXPECT_TRUE(same_bytes(bytes_of(out.get()), with_edges(frame)));
  }
}

TEST_F(CudaMemory, cpu_backend_reads_and_writes_cuda_memory_through_the_host) {
  const CudaSource source;
  const Owned<GstElement> element = parse("cudacanny backend=cpu");
  GstHarness *harness = gst_harness_new_with_element(element.get(), "sink", "src");
  const VideoFrame frame("NV12", {34, 18});
  gst_harness_set_src_caps(harness, frame.caps().release());
  ASSERT_EQ(gst_harness_push(harness, source.buffer(frame).release()), GST_FLOW_OK);
  const Owned<GstBuffer> out(gst_harness_pull(harness));
  EXPECT_TRUE(same_bytes(samples_of(out.get(), frame), with_edges(frame)));
  gst_harness_teardown(harness);
}

}  // namespace
