// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA context of an element, and the memory that it proposes upstream.
#include <gst/app/gstappsink.h>
#include <gst/video/video.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/elements/canny_reference.h"
#include "tests/elements/cuda_memory.h"

namespace {

using namespace cudavision::test;
using cudavision::Size;

class CudaMemoryContext : public CudaMemoryTest {};

// --- the context ---

TEST_F(CudaMemoryContext, elements_of_a_pipeline_share_one) {
  if (!have_uploader()) GTEST_SKIP() << "there is no cudaupload";
  const Owned<GstElement> pipeline = parse(
      "videotestsrc num-buffers=3 ! video/x-raw,format=NV12,width=32,height=24 ! cudaupload name=up ! "
      "cudacanny backend=cuda name=canny ! cudahistogram backend=cuda name=histogram ! fakesink");
  ASSERT_EQ(gst_element_set_state(pipeline.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_ASYNC);
  ASSERT_EQ(gst_element_get_state(pipeline.get(), nullptr, nullptr, kPatience), GST_STATE_CHANGE_SUCCESS);
  GstCudaContext *shared = context_of(child(pipeline, "canny"));
  EXPECT_NE(shared, nullptr);
  EXPECT_EQ(context_of(child(pipeline, "histogram")), shared);
  EXPECT_EQ(context_of(child(pipeline, "up")), shared);
}

TEST_F(CudaMemoryContext, application_gives_one) {
  const CudaSource source;
  const Owned<GstElement> element = parse("cudacanny backend=cuda");
  source.give_to(element.get());
  for (int run = 0; run < 2; ++run) {
    ASSERT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
    EXPECT_EQ(context_of(element.get()), source.context());
    gst_element_set_state(element.get(), GST_STATE_NULL);
  }
  set(element.get(), "backend", "cpu");
  gst_element_set_state(element.get(), GST_STATE_PAUSED);
  EXPECT_EQ(context_of(element.get()), nullptr);
}

TEST_F(CudaMemoryContext, application_is_asked_for_one) {
  const CudaSource source;
  const Owned<GstElement> pipeline = parse(
      "videotestsrc num-buffers=2 ! video/x-raw,width=32,height=24 ! cudacanny backend=cuda name=canny ! "
      "fakesink");
  source.give_when_asked(pipeline.get());
  gst_element_set_state(pipeline.get(), GST_STATE_PAUSED);
  ASSERT_EQ(gst_element_get_state(pipeline.get(), nullptr, nullptr, kPatience), GST_STATE_CHANGE_SUCCESS);
  EXPECT_EQ(context_of(child(pipeline, "canny")), source.context());
}

TEST_F(CudaMemoryContext, is_there_from_ready_on_and_never_on_the_cpu) {
  const Owned<GstElement> element = parse("cudacanny backend=cuda");
  for (const GstState state : {GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_NULL}) {
    gst_element_set_state(element.get(), state);
    EXPECT_NE(context_of(element.get()), nullptr) << state << ": who asks in NULL gets it, too";
  }
  for (const GstState state : {GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_NULL}) {
    set(element.get(), "backend", "cpu");
    gst_element_set_state(element.get(), state);
    EXPECT_EQ(context_of(element.get()), nullptr) << state;
  }
}

TEST_F(CudaMemoryContext, that_of_the_frames_is_adopted) {
  const CudaSource first, second;
  CudaHarness harness;
  const VideoFrame frame("NV12", {34, 18});
  harness.negotiate_cuda(frame);
  for (const CudaSource *source : {&first, &second, &second, &first}) {
    const Owned<GstBuffer> out = harness.exchange(source->buffer(frame));
    ASSERT_NE(out, nullptr);
    EXPECT_TRUE(same_bytes(samples_of(out.get(), frame), with_edges(frame)));
    EXPECT_EQ(context_of(harness.element()), source->context());
  }
}

TEST_F(CudaMemoryContext, that_of_the_frames_is_adopted_on_the_device_that_was_asked_for) {
  const CudaSource source;
  CudaHarness harness("cudacanny cuda-device-id=0");
  const VideoFrame frame("NV12", {34, 18});
  harness.negotiate_cuda(frame);
  ASSERT_NE(harness.exchange(source.buffer(frame)), nullptr);
  EXPECT_EQ(context_of(harness.element()), source.context());
}

TEST_F(CudaMemoryContext, one_of_another_device_than_is_asked_for_is_not_taken) {
  CUDAVISION_NEEDS_EMULATION();
  simt::set_device_count(2);
  const CudaSource source(1);
  const Owned<GstElement> element = parse("cudacanny backend=cuda");
  source.give_to(element.get());
  set(element.get(), "cuda-device-id", "0");
  ASSERT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
  EXPECT_NE(context_of(element.get()), source.context());
}

TEST_F(CudaMemoryContext, frames_of_another_device_are_copied_where_one_is_asked_for) {
  CUDAVISION_NEEDS_EMULATION();
  simt::set_device_count(2);
  const CudaSource source(1);
  for (const char *element : {"cudacanny cuda-device-id=0", "cudacanny cuda-device-id=0 display=false"}) {
    CudaHarness harness(element);
    const VideoFrame frame("NV12", {34, 18});
    harness.negotiate_cuda(frame);
    for (int i = 0; i < 2; ++i) {
      const Owned<GstBuffer> out = harness.exchange(source.buffer(frame));
      ASSERT_NE(out, nullptr);
      EXPECT_TRUE(is_cuda(out.get()));
      const bool drawn = std::string(element).find("display") == std::string::npos;
      EXPECT_TRUE(same_bytes(samples_of(out.get(), frame), drawn ? with_edges(frame) : frame));
      EXPECT_NE(context_of(harness.element()), source.context());
    }
  }
}

// --- caps ---

TEST_F(CudaMemoryContext, caps_offer_cuda_memory_first_and_never_gray) {
  const Owned<GstElement> element = parse("cudacanny backend=cuda");
  gst_element_set_state(element.get(), GST_STATE_PAUSED);
  GstPad *pad = gst_element_get_static_pad(element.get(), "sink");
  const Owned<GstCaps> caps(gst_pad_query_caps(pad, nullptr));
  gst_object_unref(pad);
  ASSERT_GT(gst_caps_get_size(caps.get()), 1u);
  EXPECT_TRUE(gst_caps_features_contains(gst_caps_get_features(caps.get(), 0), "memory:CUDAMemory"));
  const Owned<GstCaps> gray(gst_caps_from_string("video/x-raw(memory:CUDAMemory), format=GRAY8"));
  EXPECT_FALSE(gst_caps_can_intersect(caps.get(), gray.get()));
  for (const std::string &format : cuda_formats()) {
    const std::string text = "video/x-raw(memory:CUDAMemory), format=" + format;
    const Owned<GstCaps> one(gst_caps_from_string(text.c_str()));
    EXPECT_TRUE(gst_caps_can_intersect(caps.get(), one.get())) << format;
  }
}

TEST_F(CudaMemoryContext, cpu_backend_offers_system_memory_alone) {
  for (const GstState state : {GST_STATE_NULL, GST_STATE_PAUSED}) {
    for (const char *name : {"sink", "src"}) {
      const Owned<GstElement> element = parse("cudacanny backend=cpu");
      gst_element_set_state(element.get(), state);
      GstPad *pad = gst_element_get_static_pad(element.get(), name);
      const Owned<GstCaps> caps(gst_pad_query_caps(pad, nullptr));
      gst_object_unref(pad);
      const Owned<GstCaps> cuda(gst_caps_from_string("video/x-raw(memory:CUDAMemory)"));
      EXPECT_FALSE(gst_caps_can_intersect(caps.get(), cuda.get())) << name << state;
      EXPECT_FALSE(gst_caps_is_empty(caps.get()));
    }
  }
}

TEST_F(CudaMemoryContext, cpu_backend_refuses_a_stream_in_cuda_memory) {
  if (!have_uploader()) GTEST_SKIP() << "there is no cudaupload";
  EXPECT_NE(why_refused("cudaupload ! video/x-raw(memory:CUDAMemory) ! cudacanny backend=cpu ! fakesink"),
            "");
}

// --- allocation ---

// The active pool that the element proposes for these caps; null if it proposes none.
OwnedObject<GstBufferPool> proposed_pool(const CudaHarness &harness, GstCaps *caps) {
  GstQuery *query = gst_query_new_allocation(caps, TRUE);
  GstBufferPool *pool = nullptr;
  guint size = 0, least = 0, most = 0;
  if (gst_pad_peer_query(harness.get()->srcpad, query) && gst_query_get_n_allocation_pools(query) > 0)
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &least, &most);
  gst_query_unref(query);
  if (pool != nullptr) {
    EXPECT_TRUE(gst_buffer_pool_set_active(pool, TRUE));
  }
  return OwnedObject<GstBufferPool>(pool);
}

Owned<GstBuffer> acquire(GstBufferPool *pool) {
  GstBuffer *buffer = nullptr;
  EXPECT_EQ(gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr), GST_FLOW_OK);
  return Owned<GstBuffer>(buffer);
}

TEST_F(CudaMemoryContext, pool_of_the_elements_own_context_is_proposed) {
  for (const std::string &format : cuda_formats()) {
    if (!has_cuda_frames(format, {67, 33})) continue;
    CudaHarness harness;
    const VideoFrame frame(format, {67, 33});
    harness.negotiate_cuda(frame);
    const OwnedObject<GstBufferPool> pool = proposed_pool(harness, cuda_caps(frame).get());
    ASSERT_NE(pool, nullptr) << format;
    Owned<GstBuffer> buffer = acquire(pool.get());
    ASSERT_TRUE(is_cuda(buffer.get()));
    EXPECT_EQ(GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffer.get(), 0))->context,
              context_of(harness.element()));
    write_samples(frame, buffer.get());
    const Owned<GstBuffer> out = harness.exchange(std::move(buffer));
    ASSERT_NE(out, nullptr);
    EXPECT_TRUE(same_bytes(samples_of(out.get(), frame), with_edges(frame)));
    gst_buffer_pool_set_active(pool.get(), FALSE);
  }
}

TEST_F(CudaMemoryContext, pool_of_pinned_memory_is_proposed_for_system_memory) {
  for (const std::string &format : kFormats) {
    CudaHarness harness;
    const VideoFrame frame(format, {67, 33});
    harness.negotiate(frame);
    const OwnedObject<GstBufferPool> pool = proposed_pool(harness, frame.caps().get());
    ASSERT_NE(pool, nullptr) << format;
    Owned<GstBuffer> buffer = acquire(pool.get());
    ASSERT_FALSE(is_cuda(buffer.get()));
    gst_buffer_fill(buffer.get(), 0, frame.bytes().data(), frame.bytes().size());
    GstMapInfo map;
    ASSERT_TRUE(gst_buffer_map(buffer.get(), &map, GST_MAP_READ));
    EXPECT_TRUE(!kEmulated || simt::is_page_locked(map.data));
    gst_buffer_unmap(buffer.get(), &map);
    const std::size_t locked = simt::live_host_allocations();
    const Owned<GstBuffer> out = harness.exchange(std::move(buffer));
    ASSERT_NE(out, nullptr);
    EXPECT_TRUE(same_bytes(bytes_of(out.get()), with_edges(frame)));
    EXPECT_EQ(simt::live_host_allocations(), locked) << "pinned frames need no staging";
    gst_buffer_pool_set_active(pool.get(), FALSE);
  }
}

TEST_F(CudaMemoryContext, buffers_of_a_proposed_pool_outlive_the_element) {
  const VideoFrame frame("NV12", {34, 18});
  Owned<GstBuffer> cuda, pinned;
  {
    CudaHarness harness;
    for (const bool in_cuda : {true, false}) {
      const Owned<GstCaps> caps = in_cuda ? cuda_caps(frame) : frame.caps();
      gst_harness_set_src_caps(harness.get(), gst_caps_ref(caps.get()));
      const OwnedObject<GstBufferPool> pool = proposed_pool(harness, caps.get());
      ASSERT_NE(pool, nullptr);
      (in_cuda ? cuda : pinned) = acquire(pool.get());
      gst_buffer_pool_set_active(pool.get(), FALSE);
    }
  }
  for (GstBuffer *buffer : {cuda.get(), pinned.get()}) {
    write_samples(frame, buffer);
    EXPECT_TRUE(same_bytes(samples_of(buffer, frame), frame));
  }
  const gsize row = static_cast<gsize>(frame.info().stride[0]);
  const Owned<GstBuffer> part(gst_buffer_copy_region(pinned.get(), GST_BUFFER_COPY_MEMORY, row, 34));
  pinned.reset();  // the part keeps its memory
  const auto second_row = frame.bytes().begin() + static_cast<std::ptrdiff_t>(row);
  EXPECT_EQ(bytes_of(part.get()), std::vector<std::uint8_t>(second_row, second_row + 34));
}

// Makes the downstream element propose `pool` (or no pool), with 3 to 5 buffers.
void answer_with(const CudaHarness &harness, GstBufferPool *pool) {
  const auto answer = [](GstPad *pad, GstObject *parent, GstQuery *query) -> gboolean {
    if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION) return gst_pad_query_default(pad, parent, query);
    gst_query_add_allocation_pool(query, static_cast<GstBufferPool *>(pad->querydata), 100000, 3, 5);
    return TRUE;
  };
  gst_pad_set_query_function_full(harness.get()->sinkpad, answer, pool, nullptr);
}

TEST_F(CudaMemoryContext, pool_of_downstream_comes_first) {
  const VideoFrame frame("NV12", {34, 18});
  CudaHarness harness;
  harness.negotiate(frame);
  const OwnedObject<GstBufferPool> theirs(gst_video_buffer_pool_new());
  answer_with(harness, theirs.get());
  GstQuery *query = gst_query_new_allocation(frame.caps().get(), TRUE);
  ASSERT_TRUE(gst_pad_peer_query(harness.get()->srcpad, query));
  ASSERT_EQ(gst_query_get_n_allocation_pools(query), 1u);
  GstBufferPool *pool = nullptr;
  gst_query_parse_nth_allocation_pool(query, 0, &pool, nullptr, nullptr, nullptr);
  EXPECT_EQ(pool, theirs.get());
  gst_clear_object(&pool);
  gst_query_unref(query);
}

TEST_F(CudaMemoryContext, sizes_of_downstream_are_kept_where_it_has_no_pool) {
  const VideoFrame frame("NV12", {34, 18});
  CudaHarness harness;
  harness.negotiate(frame);
  answer_with(harness, nullptr);
  GstQuery *query = gst_query_new_allocation(frame.caps().get(), TRUE);
  ASSERT_TRUE(gst_pad_peer_query(harness.get()->srcpad, query));
  ASSERT_EQ(gst_query_get_n_allocation_pools(query), 1u);
  GstBufferPool *pool = nullptr;
  guint size = 0, least = 0, most = 0;
  gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &least, &most);
  EXPECT_NE(pool, nullptr);
  EXPECT_EQ(size, 100000u);
  EXPECT_EQ(least, 3u);
  EXPECT_EQ(most, 5u);
  gst_clear_object(&pool);
  gst_query_unref(query);
}

TEST_F(CudaMemoryContext, no_pool_is_proposed_to_who_needs_none) {
  const VideoFrame frame("NV12", {34, 18});
  CudaHarness harness;
  for (const bool cuda : {true, false}) {
    const Owned<GstCaps> caps = cuda ? cuda_caps(frame) : frame.caps();
    gst_harness_set_src_caps(harness.get(), gst_caps_ref(caps.get()));
    GstQuery *query = gst_query_new_allocation(caps.get(), FALSE);
    EXPECT_TRUE(gst_pad_peer_query(harness.get()->srcpad, query));
    EXPECT_EQ(gst_query_get_n_allocation_pools(query), 0u);
    EXPECT_EQ(gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr) != FALSE, cuda);
    gst_query_unref(query);
  }
}

TEST_F(CudaMemoryContext, cpu_backend_proposes_nothing) {
  const Owned<GstElement> element = parse("cudacanny backend=cpu");
  GstHarness *harness = gst_harness_new_with_element(element.get(), "sink", "src");
  const VideoFrame frame("NV12", {34, 18});
  gst_harness_set_src_caps(harness, frame.caps().release());
  GstQuery *query = gst_query_new_allocation(frame.caps().get(), TRUE);
  gst_pad_peer_query(harness->srcpad, query);
  EXPECT_EQ(gst_query_get_n_allocation_pools(query), 0u);
  gst_query_unref(query);
  gst_harness_teardown(harness);
}

}  // namespace
