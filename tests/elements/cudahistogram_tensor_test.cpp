// SPDX-License-Identifier: LGPL-2.1-or-later
// The memory of tensors, tested with cudahistogram: its lifetime, sharing between buffers, and downloads.
#include <gst/app/gstappsink.h>

#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/elements/cuda_memory.h"
#include "tests/elements/histogram_reference.h"
#include "tests/elements/tensor.h"

namespace {

using namespace cudavision::test;
using cudavision::Size;

class TensorMemory : public ElementTest {};

constexpr std::size_t kCounts = 256;
using Counts = std::vector<std::uint32_t>;

struct UnrefMemory {
  void operator()(GstMemory *memory) const { gst_memory_unref(memory); }
};
using OwnedMemory = std::unique_ptr<GstMemory, UnrefMemory>;

VideoFrame frame_of(unsigned seed) { return VideoFrame("GRAY8", {34, 18}, seed); }

// A reference to the data of the tensor without its frame.
Owned<GstBuffer> data_of(const Owned<GstBuffer> &frame) {
  return Owned<GstBuffer>(gst_buffer_ref(tensor_of(frame, "histogram")->data));
}
Counts counts_in(const Owned<GstBuffer> &data) { return elements_of<std::uint32_t>(data.get(), kCounts); }
GstMemory *memory_of(const Owned<GstBuffer> &data) { return gst_buffer_peek_memory(data.get(), 0); }

// --- lifetime ---

TEST_F(TensorMemory, held_frames_keep_their_numbers) {
  Harness histogram("cudahistogram display=false");
  std::vector<Owned<GstBuffer>> held;
  for (unsigned seed = 0; seed < 10; ++seed) held.push_back(buffer_from(&histogram, frame_of(seed)));
  for (int pass = 0; pass < 2; ++pass) {
    for (unsigned seed = 0; seed < 10; ++seed)
      EXPECT_EQ(counts_in(data_of(held[seed])), opencv_counts(frame_of(seed))) << seed;
    buffer_from(&histogram, frame_of(99));
  }
}

TEST_F(TensorMemory, held_numbers_outlive_their_frame) {
  Harness histogram("cudahistogram display=false");
  std::vector<Owned<GstBuffer>> held;
  std::set<GstMemory *> memories;
  for (unsigned seed = 0; seed < 10; ++seed) {
    held.push_back(data_of(buffer_from(&histogram, frame_of(seed))));
    memories.insert(memory_of(held.back()));
  }
  EXPECT_EQ(memories.size(), 10u);
  for (unsigned seed = 0; seed < 10; ++seed)
    EXPECT_EQ(counts_in(held[seed]), opencv_counts(frame_of(seed))) << seed;
}

// References to the memory itself, or to a buffer that shares a part of it, also keep the data.
TEST_F(TensorMemory, held_memory_is_not_written_to_again) {
  Harness histogram("cudahistogram display=false");
  Owned<GstBuffer> data = data_of(buffer_from(&histogram, frame_of(1)));
  const OwnedMemory memory(gst_memory_ref(memory_of(data)));
  data.reset();
  data = data_of(buffer_from(&histogram, frame_of(2)));
  const Owned<GstBuffer> part(gst_buffer_copy_region(data.get(), GST_BUFFER_COPY_MEMORY, 0, 16 * 4));
  data.reset();
  for (unsigned seed = 3; seed < 8; ++seed) buffer_from(&histogram, frame_of(seed));

  GstMapInfo map;
  ASSERT_TRUE(gst_memory_map(memory.get(), &map, GST_MAP_READ));
  const auto *counts = reinterpret_cast<const std::uint32_t *>(map.data);
  EXPECT_EQ(Counts(counts, counts + kCounts), opencv_counts(frame_of(1)));
  gst_memory_unmap(memory.get(), &map);
  Counts first = opencv_counts(frame_of(2));
  first.resize(16);
  EXPECT_EQ(elements_of<std::uint32_t>(part.get(), 16), first);
}

TEST_F(TensorMemory, unreferenced_memory_is_reused) {
  Harness histogram("cudahistogram display=false");
  GstMemory *const first = memory_of(data_of(buffer_from(&histogram, frame_of(0))));
  for (unsigned seed = 1; seed < 20; ++seed) {
    const Owned<GstBuffer> data = data_of(buffer_from(&histogram, frame_of(seed)));
    EXPECT_EQ(memory_of(data), first) << seed;
    EXPECT_EQ(counts_in(data), opencv_counts(frame_of(seed)))
        << "the download of the previous frame is discarded";
  }
}

TEST_F(TensorMemory, held_numbers_survive_new_sizes_and_new_caps) {
  Harness histogram("cudahistogram display=false");
  const Owned<GstBuffer> before = data_of(buffer_from(&histogram, frame_of(1)));
  set(histogram.element(), "bins", "3");
  buffer_from(&histogram, frame_of(2));
  set(histogram.element(), "bins", "256");
  const Owned<GstBuffer> between = data_of(buffer_from(&histogram, frame_of(3)));
  buffer_from(&histogram, VideoFrame("NV12", {50, 40}));
  set(histogram.element(), "roi-x", "5");
  buffer_from(&histogram, VideoFrame("RGB", {50, 40}));
  EXPECT_EQ(counts_in(before), opencv_counts(frame_of(1)));
  EXPECT_EQ(counts_in(between), opencv_counts(frame_of(3)));
}

TEST_F(TensorMemory, numbers_can_be_read_after_the_element_has_stopped_and_gone) {
  Owned<GstBuffer> frame, read_before, read_after;
  {
    Harness histogram("cudahistogram display=false");
    frame = buffer_from(&histogram, frame_of(1));
    read_before = data_of(buffer_from(&histogram, frame_of(2)));
    EXPECT_EQ(counts_in(read_before), opencv_counts(frame_of(2)));
    gst_element_set_state(histogram.element(), GST_STATE_NULL);
    EXPECT_EQ(counts_in(data_of(frame)), opencv_counts(frame_of(1)));
    histogram.restart();
    read_after = data_of(buffer_from(&histogram, frame_of(3)));
  }
  EXPECT_EQ(counts_in(read_before), opencv_counts(frame_of(2)));
  EXPECT_EQ(counts_in(read_after), opencv_counts(frame_of(3)));
  GBytes *bytes = gst_cuda_vision_tensor_meta_get_bytes(tensor_of(frame, "histogram"));
  ASSERT_NE(bytes, nullptr);
  EXPECT_EQ(g_bytes_get_size(bytes), kCounts * sizeof(std::uint32_t));
  g_bytes_unref(bytes);
  if (!kEmulated) return;
  EXPECT_GT(simt::live_allocations(), 0u);
  read_before.reset();
  read_after.reset();
  EXPECT_EQ(simt::live_streams(), 1u) << "the stream of the frame that is still referenced";
  frame.reset();
  EXPECT_EQ(simt::live_allocations(), 0u);
  EXPECT_EQ(simt::live_streams(), 0u);
}

TEST_F(TensorMemory, frames_with_other_owners_are_not_changed) {
  Harness histogram("cudahistogram display=false");
  const VideoFrame frame = frame_of(1);
  histogram.negotiate(frame);
  Owned<GstBuffer> in = frame.buffer();
  const Owned<GstBuffer> held(gst_buffer_ref(in.get()));
  const Owned<GstBuffer> out = histogram.exchange(std::move(in));
  EXPECT_EQ(tensor_count(held), 0);
  EXPECT_EQ(counts_in(data_of(out)), opencv_counts(frame));
}

// --- sharing ---

TEST_F(TensorMemory, copies_of_a_frame_share_its_numbers) {
  Harness histogram("cudahistogram display=false");
  Owned<GstBuffer> frame = buffer_from(&histogram, frame_of(1));
  const Owned<GstBuffer> copy(gst_buffer_copy(frame.get())), deep(gst_buffer_copy_deep(frame.get()));
  const Owned<GstBuffer> data = data_of(frame);
  EXPECT_EQ(tensor_of(copy, "histogram")->data, data.get());
  EXPECT_EQ(tensor_of(deep, "histogram")->data, data.get());
  frame.reset();
  buffer_from(&histogram, frame_of(2));
  EXPECT_EQ(elements_of<std::uint32_t>(tensor_of(copy, "histogram")), opencv_counts(frame_of(1)));
}

Owned<GstSample> sample_from(const Owned<GstElement> &pipeline, const char *sink) {
  return Owned<GstSample>(gst_app_sink_pull_sample(GST_APP_SINK(child(pipeline, sink))));
}
GstCudaVisionTensorMeta *tensor_in(const Owned<GstSample> &sample) {
  return gst_cuda_vision_buffer_get_tensor_meta(gst_sample_get_buffer(sample.get()), "histogram");
}

TEST_F(TensorMemory, branches_of_a_tee_share_the_numbers) {
  const Owned<GstElement> pipeline = parse(
      "videotestsrc num-buffers=3 ! video/x-raw,format=NV12,width=64,height=48 ! cudahistogram backend=" +
      backend() +
      " display=false ! tee name=t ! queue ! appsink name=a sync=false t. ! queue ! appsink name=b "
      "sync=false");
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  for (int i = 0; i < 3; ++i) {
    const Owned<GstSample> a = sample_from(pipeline, "a"), b = sample_from(pipeline, "b");
    ASSERT_TRUE(a && b);
    ASSERT_TRUE(tensor_in(a) != nullptr && tensor_in(b) != nullptr);
    EXPECT_EQ(tensor_in(a)->data, tensor_in(b)->data);
    const Counts counts = elements_of<std::uint32_t>(tensor_in(a));
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0u), 64u * 48);
  }
}

TEST_F(TensorMemory, conversion_and_scaling_leave_tensor_and_geometry) {
  const Owned<GstElement> pipeline = parse(
      "videotestsrc num-buffers=2 ! video/x-raw,format=NV12,width=64,height=48 ! cudahistogram backend=" +
      backend() +
      " display=false roi-x=10 roi-width=20 ! queue ! videoconvert ! videoscale ! "
      "video/x-raw,format=RGB,width=30,height=20 ! appsink name=a sync=false");
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  for (int i = 0; i < 2; ++i) {
    const Owned<GstSample> sample = sample_from(pipeline, "a");
    ASSERT_TRUE(sample);
    const GstCudaVisionTensorMeta *meta = tensor_in(sample);
    ASSERT_NE(meta, nullptr);
    const Counts counts = elements_of<std::uint32_t>(meta);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0u), 20u * 48);
    EXPECT_EQ(geometry_of(meta).frame_width, 64u);
    EXPECT_EQ(geometry_of(meta).origin_x, 10);
  }
}

TEST_F(TensorMemory, threads_read_the_same_numbers_at_once) {
  Harness histogram("cudahistogram display=false");
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Owned<GstBuffer> data = data_of(buffer_from(&histogram, frame_of(seed)));
    Counts counts[4];
    std::vector<std::thread> readers;
    for (Counts &own : counts) readers.emplace_back([&data, &own] { own = counts_in(data); });
    buffer_from(&histogram, frame_of(seed + 100));  // while the element processes the next frame
    for (std::thread &reader : readers) reader.join();
    for (const Counts &own : counts) EXPECT_EQ(own, opencv_counts(frame_of(seed)));
  }
}

TEST_F(TensorMemory, application_that_writes_does_not_affect_later_frames) {
  Harness histogram("cudahistogram display=false");
  for (unsigned seed = 0; seed < 6; ++seed) {
    const Owned<GstBuffer> frame = buffer_from(&histogram, frame_of(seed));
    GstBuffer *data = tensor_of(frame, "histogram")->data;
    EXPECT_EQ(elements_of<std::uint32_t>(data, kCounts), opencv_counts(frame_of(seed))) << seed;
    // A buffer with a single owner can be mapped for writing; if its memory is on a device, the map is a
    // copy. From GStreamer 1.26 on a GstTensor owns the data, too, and GStreamer refuses.
    if (!gst_buffer_is_writable(data)) GTEST_SKIP() << "the data has two owners and cannot be written";
    GstMapInfo map;
    if (!gst_buffer_map(data, &map, GST_MAP_WRITE)) continue;
    std::memset(map.data, 0xff, map.size);
    gst_buffer_unmap(data, &map);
    gst_buffer_resize(data, 0, 8);
  }
}

// --- on a device ---

// GST_MAP_READ | GST_MAP_CUDA. GStreamer's CUDA library defines the latter as a macro, not as a value of the enum.
GstMapFlags map_on_device() {
  guint flags = guint{GST_MAP_READ} | guint{GST_MAP_FLAG_LAST} << 1;
  return static_cast<GstMapFlags>(flags);
}

class Spent {
 public:
  simt::Counters now() const { return simt::counters() - before_; }

 private:
  simt::Counters before_ = simt::counters();
};

TEST_F(TensorMemory, tensor_is_downloaded_once_and_only_when_it_is_read) {
  CUDAVISION_NEEDS_EMULATION();
  Harness histogram("cudahistogram display=false");
  for (unsigned seed = 0; seed < 3; ++seed) {
    const Spent spent;
    const Owned<GstBuffer> frame = buffer_from(&histogram, frame_of(seed));
    const Owned<GstBuffer> copy(gst_buffer_copy(frame.get()));
    EXPECT_EQ(spent.now().device_to_host_copies, 0u);
    EXPECT_EQ(spent.now().synchronisations, 1u);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(counts_in(data_of(i == 1 ? copy : frame)), opencv_counts(frame_of(seed)));
    EXPECT_EQ(spent.now().device_to_host_copies, 1u);
    EXPECT_EQ(spent.now().device_to_host_bytes, kCounts * sizeof(std::uint32_t));
    EXPECT_EQ(spent.now().synchronisations, 2u);
  }
}

TEST_F(TensorMemory, device_map_returns_the_pointer_without_a_copy) {
  CUDAVISION_NEEDS_EMULATION();
  Harness histogram("cudahistogram display=false");
  const Owned<GstBuffer> data = data_of(buffer_from(&histogram, frame_of(1)));
  const Spent spent;
  GstMapInfo first, second;
  ASSERT_TRUE(gst_buffer_map(data.get(), &first, map_on_device()));
  ASSERT_TRUE(gst_memory_map(memory_of(data), &second, map_on_device()));
  EXPECT_EQ(first.data, second.data);
  EXPECT_EQ(first.size, kCounts * sizeof(std::uint32_t));
  EXPECT_EQ(spent.now(), simt::Counters{});
  Counts counts(kCounts);
  copy_from_device(context_of(histogram.element()), counts.data(), first.data, first.size);
  EXPECT_EQ(counts, opencv_counts(frame_of(1)));
  gst_memory_unmap(memory_of(data), &second);
  gst_buffer_unmap(data.get(), &first);
}

TEST_F(TensorMemory, device_memory_cannot_be_mapped_for_writing_on_the_cpu) {
  CUDAVISION_NEEDS_EMULATION();
  Harness histogram("cudahistogram display=false");
  const Owned<GstBuffer> frame = buffer_from(&histogram, frame_of(1));
  GstMemory *memory = gst_buffer_peek_memory(tensor_of(frame, "histogram")->data, 0);
  GstMapInfo map;
  for (const GstMapFlags flags : {GST_MAP_WRITE, GST_MAP_READWRITE})
    EXPECT_FALSE(gst_memory_map(memory, &map, flags));
  EXPECT_EQ(counts_in(data_of(frame)), opencv_counts(frame_of(1)));
}

TEST_F(TensorMemory, numbers_stay_on_the_device_after_an_application_wrote) {
  CUDAVISION_NEEDS_EMULATION();
  Harness histogram("cudahistogram display=false");
  for (unsigned seed = 0; seed < 4; ++seed) {
    const Owned<GstBuffer> frame = buffer_from(&histogram, frame_of(seed));
    GstBuffer *data = tensor_of(frame, "histogram")->data;
    EXPECT_TRUE(gst_memory_is_type(gst_buffer_peek_memory(data, 0), "CudaVisionTensorMemory")) << seed;
    if (!gst_buffer_is_writable(data)) GTEST_SKIP() << "the data has two owners and cannot be written";
    GstMapInfo map;
    ASSERT_TRUE(gst_buffer_map(data, &map, GST_MAP_WRITE))
        << "the buffer maps a copy, because its memory cannot be mapped for writing";
    gst_buffer_unmap(data, &map);
  }
}

TEST_F(TensorMemory, concurrent_readers_download_once) {
  CUDAVISION_NEEDS_EMULATION();
  Harness histogram("cudahistogram display=false");
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Owned<GstBuffer> data = data_of(buffer_from(&histogram, frame_of(seed)));
    const Spent spent;
    std::vector<std::thread> readers;
    for (int i = 0; i < 4; ++i)
      readers.emplace_back([&data, seed] { EXPECT_EQ(counts_in(data), opencv_counts(frame_of(seed))); });
    for (std::thread &reader : readers) reader.join();
    EXPECT_EQ(spent.now().device_to_host_copies, 1u);
  }
}

TEST_F(TensorMemory, failed_download_fails_the_map_and_the_next_one_tries_again) {
  CUDAVISION_NEEDS_EMULATION();
  Harness histogram("cudahistogram display=false");
  const Owned<GstBuffer> data = data_of(buffer_from(&histogram, frame_of(1)));
  GstMapInfo map;
  for (const simt::Call call : {simt::Call::copy, simt::Call::synchronise}) {
    simt::fail_next(call, cudaErrorLaunchTimeout);
    EXPECT_FALSE(gst_memory_map(memory_of(data), &map, GST_MAP_READ));
  }
  EXPECT_EQ(counts_in(data), opencv_counts(frame_of(1)));
}

TEST_F(TensorMemory, too_little_device_memory_for_a_tensor_is_an_error) {
  CUDAVISION_NEEDS_EMULATION();
  Harness histogram("cudahistogram display=false");
  const VideoFrame frame = frame_of(1);
  histogram.negotiate(frame);
  simt::fail_allocations_after(0);  // the first tensor is allocated with the first frame
  EXPECT_EQ(histogram.exchange(frame.buffer(), GST_FLOW_ERROR), nullptr);
  EXPECT_TRUE(
      is(take_error(histogram.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, "tensor"));
  simt::reset();
  histogram.restart();
  EXPECT_EQ(counts_in(data_of(buffer_from(&histogram, frame))), opencv_counts(frame));
}

}  // namespace
