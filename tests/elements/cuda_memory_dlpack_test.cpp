// SPDX-License-Identifier: LGPL-2.1-or-later
// Tensors on a device as DLPack's structs: their device, the order of work, when memory is used again, their context.
#include <cuda_runtime.h>
#include <gst/cudavision/cudavision.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/elements/canny_reference.h"
#include "tests/elements/cuda_consumer.h"

namespace {

using namespace cudavision::test;

class CudaMemoryDlpack : public CudaMemoryTest {};

// The edges of a frame, which the element has left on the device.
struct Edges {
  explicit Edges(Harness *canny, unsigned seed = 3) : frame("GRAY8", {40, 30}, seed) {
    canny->negotiate(frame);
    buffer = canny->exchange(frame.buffer());
    meta = gst_cuda_vision_buffer_get_tensor_meta(buffer.get(), "edges");
  }
  std::vector<std::uint8_t> expected() const { return expected_edges(frame); }

  VideoFrame frame;
  Owned<GstBuffer> buffer;
  const GstCudaVisionTensorMeta *meta;
};

std::string refusal(const GstCudaVisionTensorMeta *meta, GstCudaVisionDlpackFlags flags, gint64 stream) {
  return error_of([&](GError **error) {
    const Tensor tensor(gst_cuda_vision_tensor_meta_to_dlpack(meta, flags, stream, error));
    return tensor != nullptr;
  });
}

TEST_F(CudaMemoryDlpack, lies_on_the_device) {
  Harness canny("cudacanny display=false");
  const Edges edges(&canny);
  gint device = -1;
  EXPECT_EQ(gst_cuda_vision_tensor_meta_get_dlpack_device(edges.meta, &device), kDLCUDA);
  EXPECT_EQ(device, 0);
  const Tensor tensor = dlpack(edges.meta);
  EXPECT_EQ(tensor->dl_tensor.device.device_type, kDLCUDA);
  EXPECT_EQ(tensor->flags, kDLPackReadOnly);
  EXPECT_EQ(tensor->dl_tensor.shape[0], 30);
  const Consumer consumer(canny);
  EXPECT_EQ(read_on(nullptr, tensor->dl_tensor), edges.expected());
}

TEST_F(CudaMemoryDlpack, streams_of_consumers_read_the_numbers) {
  Harness canny("cudacanny display=false");
  const Consumer consumer(canny);
  for (unsigned seed = 1; seed < 20; ++seed) {
    const Edges edges(&canny, seed);
    const Tensor tensor = dlpack(edges.meta, kNone, consumer.handle());
    ASSERT_EQ(read_on(consumer.stream, tensor->dl_tensor), edges.expected()) << seed;
  }
}

// The consumer releases the tensor while its work still reads the memory: it is not written before the work ends.
TEST_F(CudaMemoryDlpack, memory_is_written_again_behind_the_work_of_the_consumer) {
  Harness canny("cudacanny display=false");
  const Consumer consumer(canny);
  std::vector<std::uint8_t> read(40 * 30), expected;
  void *address = nullptr;
  {
    const Edges edges(&canny, 1);
    expected = edges.expected();
    Tensor tensor = dlpack(edges.meta, kNone, consumer.handle());
    address = tensor->dl_tensor.data;
    EXPECT_EQ(cudaMemcpyAsync(read.data(), address, read.size(), cudaMemcpyDeviceToHost, consumer.stream),
              cudaSuccess);
    std::thread([&] { tensor.reset(); }).join();
  }
  const Edges next(&canny, 2);  // in the same memory
  EXPECT_EQ(dlpack(next.meta)->dl_tensor.data, address);
  EXPECT_EQ(cudaStreamSynchronize(consumer.stream), cudaSuccess);
  EXPECT_EQ(read, expected);
}

TEST_F(CudaMemoryDlpack, memory_of_a_tensor_that_is_held_is_not_used_again) {
  Harness canny("cudacanny display=false");
  const Consumer consumer(canny);
  Tensor held;
  std::vector<std::uint8_t> expected;
  {
    const Edges edges(&canny, 1);
    held = dlpack(edges.meta, kNone, consumer.handle());
    expected = edges.expected();
  }
  for (unsigned seed = 2; seed < 6; ++seed) {
    const Edges edges(&canny, seed);
    EXPECT_NE(dlpack(edges.meta)->dl_tensor.data, held->dl_tensor.data);
  }
  EXPECT_EQ(read_on(consumer.stream, held->dl_tensor), expected);
}

TEST_F(CudaMemoryDlpack, outlives_the_element) {
  auto canny = std::make_unique<Harness>("cudacanny display=false");
  auto edges = std::make_unique<Edges>(canny.get());
  const std::vector<std::uint8_t> expected = edges->expected();
  Tensor tensor = dlpack(edges->meta);
  const Consumer consumer(*canny);
  edges.reset(), canny.reset();
  EXPECT_EQ(read_on(nullptr, tensor->dl_tensor), expected);
  tensor.reset();
}

// The copy runs on the element's stream, and only the consumer waits for that stream.
TEST_F(CudaMemoryDlpack, copy_is_finished_before_the_consumer_reads_it) {
  Harness canny("cudacanny display=false");
  const Edges edges(&canny);
  const Consumer consumer(canny);
  const Tensor copy = dlpack(edges.meta, kCopy, consumer.handle());
  EXPECT_EQ(read_on(consumer.stream, copy->dl_tensor), edges.expected());
  EXPECT_EQ(copy->dl_tensor.device.device_type, kDLCUDA);
  EXPECT_EQ(copy->flags, kDLPackIsCopied);
  EXPECT_NE(copy->dl_tensor.data, dlpack(edges.meta)->dl_tensor.data);
}

TEST_F(CudaMemoryDlpack, can_be_read_on_the_host) {
  Harness canny("cudacanny display=false");
  const Edges edges(&canny);
  const Tensor host = dlpack(edges.meta, kHost, -1);
  EXPECT_EQ(host->dl_tensor.device.device_type, kDLCPU);
  EXPECT_EQ(std::memcmp(host->dl_tensor.data, edges.expected().data(), 40 * 30), 0);
}

TEST_F(CudaMemoryDlpack, part_of_the_memory_is_handed_over_as_it_is) {
  Harness canny("cudacanny display=false");
  const Edges edges(&canny);
  const void *whole = dlpack(edges.meta)->dl_tensor.data;
  GstMemory *memory = gst_buffer_peek_memory(edges.meta->data, 0);
  // Does what gst_memory_resize() does, which from GStreamer 1.26 on refuses memory with other owners.
  memory->offset += 40, memory->size = 29 * 40;
  EXPECT_NE(refusal(edges.meta, kNone, kLegacyStream).find("has 1160 bytes instead of 1200"),
            std::string::npos);
  EXPECT_NE(refusal(edges.meta, kCopy, kLegacyStream).find("has 1160 bytes instead of 1200"),
            std::string::npos);
  const_cast<GstCudaVisionTensorMeta *>(edges.meta)->dims[0] = 29;
  const std::vector<std::uint8_t> all = edges.expected(), expected(all.begin() + 40, all.end());
  const Consumer consumer(canny);
  const Tensor shared = dlpack(edges.meta), copy = dlpack(edges.meta, kCopy);
  EXPECT_EQ(shared->dl_tensor.data, static_cast<const std::uint8_t *>(whole) + 40);
  EXPECT_EQ(read_on(nullptr, shared->dl_tensor), expected);
  EXPECT_EQ(read_on(nullptr, copy->dl_tensor), expected);
}

TEST_F(CudaMemoryDlpack, what_is_no_stream_is_refused) {
  Harness canny("cudacanny display=false");
  const Edges edges(&canny);
  for (const gint64 stream : {gint64{0}, gint64{-2}, G_MININT64})
    EXPECT_NE(refusal(edges.meta, kNone, stream).find("is none: 1 is the legacy default stream"),
              std::string::npos);
  EXPECT_EQ(dlpack(edges.meta, kNone, -1)->dl_tensor.device.device_type, kDLCUDA);
}

TEST_F(CudaMemoryDlpack, context_of_its_own_is_refused) {
  const CudaSource source;
  Harness canny("cudacanny display=false");
  canny.restart();
  source.give_to(canny.element());
  canny.restart();
  const Edges edges(&canny);
  ASSERT_EQ(context_of(canny.element()), source.context());
  EXPECT_NE(refusal(edges.meta, kNone, kLegacyStream).find("lies in a CUDA context of its own"),
            std::string::npos);
  EXPECT_EQ(std::memcmp(dlpack(edges.meta, kHost)->dl_tensor.data, edges.expected().data(), 40 * 30), 0);
}

}  // namespace
