// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames that an element passes on while the GPU still works on them: from GStreamer 1.24 on, where CUDA memory carries
// its stream. Streams of the stand-in driver are lazy: work runs only when somebody waits for it.
#include <cuda_runtime.h>
#include <gst/cudavision/cudavision.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/elements/canny_reference.h"
#include "tests/elements/cuda_memory.h"
#include "tests/elements/every_element.h"
#include "tests/fakecuda/fakecuda.h"

namespace {

using namespace cudavision::test;
using cudavision::Size;

constexpr bool kFramesCarryStreams = GST_CHECK_VERSION(1, 24, 0);
const char *const kRectify = "cudarectify view=plane homography=\"2 0 0 0 2 0 0 0 1\"";

// The value of GST_MAP_CUDA is outside the range of the C++ enum GstMapFlags.
GstMapFlags on_device(guint access) { return static_cast<GstMapFlags>(access | guint{GST_MAP_CUDA}); }

class CudaMemoryPending : public CudaMemoryTest {};

OwnedObject<GstBufferPool> make_pool(GstCudaContext *context, const VideoFrame &frame, bool with_stream,
                                     guint most = 0) {
  return CudaSource(context).pool(frame, most, with_stream);
}

Owned<GstBuffer> acquire(GstBufferPool *pool, const VideoFrame &frame) {
  GstBuffer *buffer = nullptr;
  EXPECT_EQ(gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr), GST_FLOW_OK);
  write_samples(frame, buffer);
  // Uploads the frame now: pending work of the source would hide what the element leaves pending.
  GstMapInfo map;
  const auto flags = on_device(GST_MAP_READ);
  EXPECT_TRUE(gst_buffer_map(buffer, &map, flags));
  gst_buffer_unmap(buffer, &map);
#if GST_CHECK_VERSION(1, 24, 0)
  gst_cuda_memory_sync(GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffer, 0)));
#endif
  return Owned<GstBuffer>(buffer);
}

// A pool for the frames of an element that has measured how long its first ones take, and now passes frames on: a
// harness is a live source.
OwnedObject<GstBufferPool> pool_after_start(CudaHarness *harness, const VideoFrame &frame, bool with_stream,
                                            guint most = 0) {
  constexpr int kMeasured = 8;
  auto pool = make_pool(context_of(harness->element()), frame, with_stream, most);
  for (int i = 0; i < kMeasured; ++i) EXPECT_NE(harness->exchange(acquire(pool.get(), frame)), nullptr);
  return pool;
}

std::uint64_t waits() { return simt::counters().synchronisations; }

std::vector<std::uint8_t> edges_of(GstBuffer *buffer) {
  const GstCudaVisionTensorMeta *meta = gst_cuda_vision_buffer_get_tensor_meta(buffer, "edges");
  if (meta == nullptr) return {};
  GstMapInfo map;
  if (!gst_buffer_map(meta->data, &map, GST_MAP_READ)) return {};
  std::vector<std::uint8_t> edges(map.data, map.data + map.size);
  gst_buffer_unmap(meta->data, &map);
  return edges;
}

// --- waiting ---

TEST_F(CudaMemoryPending, frame_is_passed_on_without_waiting_where_it_carries_a_stream) {
  CUDAVISION_NEEDS_EMULATION();
  for (const std::string &description :
       every_element({.property = "display",
       .own = {"cudacanny", "cudacanny display=false", "cudahistogram display=false",
               "cudalocalhist display=false", "cudaopticalflow display=false", "cudahog display=false",
               kRectify},
       .left_out = {{"cudabgsub", "the host reads the list of what moves"},
                    {"cudacameracheck", "the host judges what the device measures"},
                    {"cudahough", "the host sorts its lines"},
                    {"cudainpaint", "the host reads which pixels are filled"},
                    {"cudasigma2kp", "the host reads the number of its keypoints"},
                    {"cudavisionoverlay", "has nothing to draw in these frames"},
                    {"cudavisionredact", "the host writes the next boxes where the device reads these"}}})) {
    CudaHarness harness(description);
    const VideoFrame frame("NV12", {64, 48});
    harness.negotiate_cuda(frame);
    const auto pool = pool_after_start(&harness, frame, true);
    for (const bool second : {true, false}) {
      Owned<GstBuffer> in = acquire(pool.get(), frame);
      const simt::Counters before = simt::counters();
      const Owned<GstBuffer> out = harness.exchange(std::move(in));
      const simt::Counters done = simt::counters() - before;
      ASSERT_NE(out, nullptr);
      if (second) {
        EXPECT_EQ(done.synchronisations, kFramesCarryStreams ? 0u : 1u) << description;
      } else {
        EXPECT_EQ(done.allocations + done.host_allocations, 0u) << description;
      }
    }
  }
}

TEST_F(CudaMemoryPending, frame_without_a_stream_and_frame_that_is_shared_are_waited_for) {
  CUDAVISION_NEEDS_EMULATION();
  for (const bool shared : {false, true}) {
    CudaHarness harness("cudacanny display=false");
    const VideoFrame frame("NV12", {64, 48});
    harness.negotiate_cuda(frame);
    const auto pool = pool_after_start(&harness, frame, shared);
    Owned<GstBuffer> in = acquire(pool.get(), frame);
    GstMemory *held = shared ? gst_buffer_get_memory(in.get(), 0) : nullptr;
    const std::uint64_t before = waits();
    const Owned<GstBuffer> out = harness.exchange(std::move(in));
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(waits() - before, 1u) << shared;
    if (held != nullptr) gst_memory_unref(held);
  }
}

// The frame of a new one is read, so a tee shares the buffer and not only its memory.
TEST_F(CudaMemoryPending, frame_in_a_shared_buffer_is_waited_for) {
  CUDAVISION_NEEDS_EMULATION();
  for (const bool shared : {false, true}) {
    CudaHarness harness(kRectify);
    const VideoFrame frame("NV12", {64, 48});
    harness.negotiate_cuda(frame);
    const auto pool = pool_after_start(&harness, frame, true);
    Owned<GstBuffer> in = acquire(pool.get(), frame);
    GstBuffer *held = shared ? gst_buffer_ref(in.get()) : nullptr;
    const std::uint64_t before = waits();
    const Owned<GstBuffer> out = harness.exchange(std::move(in));
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(waits() - before, shared || !kFramesCarryStreams ? 1u : 0u) << shared;
    if (held != nullptr) gst_buffer_unref(held);
  }
}

TEST_F(CudaMemoryPending, what_the_host_reads_is_waited_for_once) {
  CUDAVISION_NEEDS_EMULATION();
  for (const char *description :
       {"cudahough display=false", "cudasigma2kp display=false", "cudacanny message=true"}) {
    CudaHarness harness(description);
    const VideoFrame frame("NV12", {64, 48});
    harness.negotiate_cuda(frame);
    const auto pool = pool_after_start(&harness, frame, true);
    Owned<GstBuffer> in = acquire(pool.get(), frame);
    const std::uint64_t before = waits();
    ASSERT_NE(harness.exchange(std::move(in)), nullptr);
    EXPECT_EQ(waits() - before, 1u) << description;
  }
}

TEST_F(CudaMemoryPending, every_frame_is_waited_for_where_many_elements_work) {
  CUDAVISION_NEEDS_EMULATION();
  const VideoFrame frame("NV12", {64, 48});
  std::vector<std::unique_ptr<CudaHarness>> harnesses;
  for (int i = 0; i < 5; ++i) {
    harnesses.push_back(std::make_unique<CudaHarness>("cudacanny display=false"));
    harnesses.back()->negotiate_cuda(frame);
  }
  const auto pool = pool_after_start(harnesses[0].get(), frame, true);
  Owned<GstBuffer> in = acquire(pool.get(), frame);
  const std::uint64_t before = waits();
  ASSERT_NE(harnesses[0]->exchange(std::move(in)), nullptr);
  EXPECT_EQ(waits() - before, 1u);
}

// An element leaves at most two frames pending; then it waits for the older one.
TEST_F(CudaMemoryPending, host_does_not_run_ahead_of_the_card) {
  CUDAVISION_NEEDS_EMULATION();
  if (!kFramesCarryStreams) GTEST_SKIP() << "GStreamer older than 1.24: every frame is waited for";
  CudaHarness harness("cudacanny display=false");
  const VideoFrame frame("NV12", {64, 48});
  harness.negotiate_cuda(frame);
  const auto pool = pool_after_start(&harness, frame, true);
  std::vector<Owned<GstBuffer>> in, out;
  for (int i = 0; i < 6; ++i) in.push_back(acquire(pool.get(), frame));
  const std::uint64_t before = waits();
  for (Owned<GstBuffer> &buffer : in) out.push_back(harness.exchange(std::move(buffer)));
  EXPECT_EQ(waits() - before, 4u);
}

// --- frames are not used or overwritten too early ---

TEST_F(CudaMemoryPending, what_the_host_maps_is_complete) {
  CUDAVISION_NEEDS_EMULATION();
  CudaHarness drawing("cudacanny"), attaching("cudacanny display=false");
  const VideoFrame frame("NV12", {64, 48});
  for (CudaHarness *harness : {&drawing, &attaching}) {
    harness->negotiate_cuda(frame);
    const auto pool = pool_after_start(harness, frame, true);
    const Owned<GstBuffer> out = harness->exchange(acquire(pool.get(), frame));
    ASSERT_NE(out, nullptr);
    if (harness == &drawing) {
      EXPECT_TRUE(same_bytes(samples_of(out.get(), frame), with_edges(frame)));
    } else {
      EXPECT_EQ(edges_of(out.get()), expected_edges(frame));
    }
  }
}

TEST_F(CudaMemoryPending, tensor_that_is_mapped_on_the_device_is_complete) {
  CUDAVISION_NEEDS_EMULATION();
  CudaHarness harness("cudacanny display=false");
  const VideoFrame frame("NV12", {64, 48});
  harness.negotiate_cuda(frame);
  GstCudaContext *context = context_of(harness.element());
  const auto pool = pool_after_start(&harness, frame, true);
  const Owned<GstBuffer> out = harness.exchange(acquire(pool.get(), frame));
  ASSERT_NE(out, nullptr);
  GstBuffer *data = gst_cuda_vision_buffer_get_tensor_meta(out.get(), "edges")->data;
  GstMapInfo map;
  ASSERT_TRUE(gst_buffer_map(data, &map, on_device(GST_MAP_READ)));
  std::vector<std::uint8_t> edges(map.size);
  ASSERT_TRUE(gst_cuda_context_push(context));
  cudaStream_t other = nullptr;  // not ordered with the element's work
  EXPECT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(edges.data(), map.data, map.size, cudaMemcpyDeviceToHost, other), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
  gst_cuda_context_pop(nullptr);
  gst_buffer_unmap(data, &map);
  EXPECT_EQ(edges, expected_edges(frame));
}

// Each element of a chain has its own stream, which waits for the one before it.
TEST_F(CudaMemoryPending, chain_of_elements_gives_what_it_gives_in_system_memory) {
  CUDAVISION_NEEDS_EMULATION();
  const char *const elements[] = {"cudacanny display=false", "cudahistogram", "cudacanny output=overlay"};
  const VideoFrame frame("NV12", {64, 48});
  Owned<GstBuffer> plain = frame.buffer();
  for (const char *element : elements) {
    Harness harness(element);
    harness.negotiate(frame);
    plain = harness.exchange(std::move(plain));
    ASSERT_NE(plain, nullptr);
  }
  CudaHarness first(elements[0]), second(elements[1]), third(elements[2]);
  const CudaSource source(context_of(first.element()));
  const auto pool = make_pool(source.context(), frame, true);
  for (CudaHarness *harness : {&first, &second, &third}) {
    harness->negotiate_cuda(frame);
    (void)pool_after_start(harness, frame, true);
  }
  for (int i = 0; i < 3; ++i) {
    Owned<GstBuffer> buffer = acquire(pool.get(), frame);
    const std::uint64_t before = waits();
    for (CudaHarness *harness : {&first, &second, &third}) {
      buffer = harness->exchange(std::move(buffer));
      ASSERT_NE(buffer, nullptr);
    }
    const std::uint64_t waited = waits() - before;
    EXPECT_EQ(waited, !kFramesCarryStreams || i == 2 ? 3u : 0u) << "each element lets two frames be pending";
    EXPECT_EQ(samples_of(buffer.get(), frame), samples_of(plain.get(), frame)) << i;
    EXPECT_EQ(edges_of(buffer.get()), expected_edges(frame));
  }
}

#if GST_CHECK_VERSION(1, 24, 0)
// Overwrites the frame as its next owner would, on the stream of the memory. With on_its_stream false it uses
// another stream without waiting, which is the injected fault.
void overwrite(GstBuffer *buffer, GstCudaContext *context, bool on_its_stream) {
  auto *memory = GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffer, 0));
  GstMapInfo map;
  ASSERT_TRUE(gst_buffer_map(buffer, &map, on_device(GST_MAP_WRITE)));
  ASSERT_TRUE(gst_cuda_context_push(context));
  cudaStream_t other = nullptr;
  EXPECT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  const cudaStream_t stream =
      on_its_stream ? gst_cuda_stream_get_handle(gst_cuda_memory_get_stream(memory)) : other;
  EXPECT_EQ(cudaMemsetAsync(map.data, 0, map.size, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
  gst_cuda_context_pop(nullptr);
  gst_buffer_unmap(buffer, &map);
}

TEST_F(CudaMemoryPending, frame_that_goes_back_to_its_pool_is_not_overwritten_too_early) {
  CUDAVISION_NEEDS_EMULATION();
  const VideoFrame frame("NV12", {64, 48});
  for (const bool on_its_stream : {true, false}) {
    CudaHarness harness("cudacanny display=false");
    harness.negotiate_cuda(frame);
    GstCudaContext *context = context_of(harness.element());
    const auto pool = pool_after_start(&harness, frame, true, 1);
    Owned<GstBuffer> out = harness.exchange(acquire(pool.get(), frame));
    ASSERT_NE(out, nullptr);
    GstBuffer *tensor = gst_buffer_ref(gst_cuda_vision_buffer_get_tensor_meta(out.get(), "edges")->data);
    out.reset();  // the pool's only buffer, which is reused at once
    GstBuffer *next = nullptr;
    ASSERT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &next, nullptr), GST_FLOW_OK);
    overwrite(next, context, on_its_stream);
    gst_buffer_unref(next);
    GstMapInfo map;
    ASSERT_TRUE(gst_buffer_map(tensor, &map, GST_MAP_READ));
    const std::vector<std::uint8_t> edges(map.data, map.data + map.size);
    gst_buffer_unmap(tensor, &map);
    gst_buffer_unref(tensor);
    if (on_its_stream) {
      EXPECT_EQ(edges, expected_edges(frame));
    } else {
      EXPECT_NE(edges, expected_edges(frame)) << "this test would not see early reuse";
    }
  }
}

// --- errors ---

TEST_F(CudaMemoryPending, error_of_a_pending_frame_is_posted_at_the_end_of_the_stream) {
  CUDAVISION_NEEDS_EMULATION();
  CudaHarness harness("cudacanny display=false");
  const VideoFrame frame("NV12", {64, 48});
  harness.negotiate_cuda(frame);
  const auto pool = pool_after_start(&harness, frame, true);
  Owned<GstBuffer> out = harness.exchange(acquire(pool.get(), frame));
  ASSERT_NE(out, nullptr);
  simt::fail_next(simt::Call::synchronise, cudaErrorLaunchFailure);
  gst_harness_push_event(harness.get(), gst_event_new_eos());
  EXPECT_TRUE(is(take_error(harness.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
                 "cudaErrorLaunchFailure"));
}
#endif

}  // namespace
