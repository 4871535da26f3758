// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames in CUDA memory as DLPack's structs, from pools with and without a stream. Streams of the stand-in driver are
// lazy: work runs only when somebody waits for it.
#include <string>
#include <thread>
#include <vector>

#include "tests/elements/canny_reference.h"
#include "tests/elements/cuda_consumer.h"

namespace {

using namespace cudavision::test;

class CudaMemoryDlpackFrame : public CudaMemoryTest {
 protected:
  // The element has made the context of the process, and shares it.
  std::unique_ptr<Harness> canny_;
  const VideoFrame frame_{"NV12", {40, 30}, 3};
  const Owned<GstCaps> caps_ = cuda_caps(frame_);

  void SetUp() override {
    CudaMemoryTest::SetUp();
    canny_ = std::make_unique<Harness>("cudacanny");
  }
  void TearDown() override {
    canny_.reset();
    CudaMemoryTest::TearDown();
  }
  CudaSource source() const { return CudaSource(context_of(canny_->element())); }
  Owned<GstBuffer> written(GstBufferPool *pool, const VideoFrame &frame) const {
    GstBuffer *buffer = nullptr;
    EXPECT_EQ(gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr), GST_FLOW_OK);
    write_samples(frame, buffer);
    return Owned<GstBuffer>(buffer);
  }
};

std::vector<std::uint8_t> luma_bytes(const VideoFrame &frame) {
  std::vector<std::uint8_t> bytes;
  for (int y = 0; y < frame.size().height; ++y)
    for (int x = 0; x < frame.size().width; ++x) bytes.push_back(frame.sample(0, x, y));
  return bytes;
}

// Enqueues a copy of the rows, which have gaps between them, to the host.
void enqueue_read(cudaStream_t stream, const DLTensor &plane, std::vector<std::uint8_t> *to) {
  const auto width = static_cast<std::size_t>(plane.shape[1]),
             height = static_cast<std::size_t>(plane.shape[0]);
  to->assign(width * height, 0);
  EXPECT_EQ(cudaMemcpy2DAsync(to->data(), width, plane.data, static_cast<std::size_t>(plane.strides[0]),
                              width, height, cudaMemcpyDeviceToHost, stream),
            cudaSuccess);
}

TEST_F(CudaMemoryDlpackFrame, planes_lie_on_the_device) {
  for (const bool with_stream : {false, true}) {
    const CudaSource source = this->source();
    const auto pool = source.pool(frame_, 0, with_stream);
    const Owned<GstBuffer> buffer = written(pool.get(), frame_);
    gint device = -1;
    EXPECT_EQ(gst_cuda_vision_frame_get_dlpack_device(buffer.get(), &device), kDLCUDA);
    EXPECT_EQ(device, 0);
    const Consumer consumer(*canny_);
    const Tensor luma = dlpack(buffer.get(), caps_.get(), 0, kNone, consumer.handle()),
                 chroma = dlpack(buffer.get(), caps_.get(), 1, kNone, consumer.handle());
    ASSERT_NE(luma, nullptr);
    ASSERT_NE(chroma, nullptr);
    EXPECT_EQ(luma->dl_tensor.device.device_type, kDLCUDA);
    EXPECT_EQ(luma->flags, kDLPackReadOnly);
    EXPECT_EQ(chroma->dl_tensor.shape[0], 15);
    EXPECT_EQ(chroma->dl_tensor.shape[1], 20);
    EXPECT_EQ(chroma->dl_tensor.shape[2], 2);
    std::vector<std::uint8_t> read;
    enqueue_read(consumer.stream, luma->dl_tensor, &read);
    EXPECT_EQ(cudaStreamSynchronize(consumer.stream), cudaSuccess);
    EXPECT_EQ(read, luma_bytes(frame_));
  }
}

// The consumer's read runs after the work that an element has left pending on the frame.
TEST_F(CudaMemoryDlpackFrame, consumer_waits_for_the_element) {
  CudaHarness canny("cudacanny");
  canny.negotiate_cuda(frame_);
  const CudaSource source(context_of(canny.element()));
  const auto pool = source.pool(frame_, 0, true);
  const Owned<GstBuffer> edges = canny.exchange(written(pool.get(), frame_));
  const Consumer consumer(canny);
  const Tensor luma = dlpack(edges.get(), caps_.get(), 0, kNone, consumer.handle());
  std::vector<std::uint8_t> read;
  enqueue_read(consumer.stream, luma->dl_tensor, &read);
  EXPECT_EQ(cudaStreamSynchronize(consumer.stream), cudaSuccess);
  EXPECT_EQ(read, expected_edges(frame_));
}

// The consumer releases the plane while its work still reads the memory: it is not written before the work ends.
TEST_F(CudaMemoryDlpackFrame, memory_is_written_again_behind_the_work_of_the_consumer) {
  const VideoFrame next("NV12", {40, 30}, 4);
  for (const bool with_stream : {false, true}) {
    const CudaSource source = this->source();
    const auto pool = source.pool(frame_, 1, with_stream);
    const Consumer consumer(*canny_);
    std::vector<std::uint8_t> read;
    const void *address = nullptr;
    {
      Owned<GstBuffer> buffer = written(pool.get(), frame_);
      Tensor luma = dlpack(buffer.get(), caps_.get(), 0, kNone, consumer.handle());
      buffer.reset();
      address = luma->dl_tensor.data;
      enqueue_read(consumer.stream, luma->dl_tensor, &read);
      std::thread([&] { luma.reset(); }).join();
    }
    const Owned<GstBuffer> again = written(pool.get(), next);
    EXPECT_EQ(dlpack(again.get(), caps_.get(), 0)->dl_tensor.data, address);
    EXPECT_EQ(cudaStreamSynchronize(consumer.stream), cudaSuccess);
    EXPECT_EQ(read, luma_bytes(frame_));
  }
}

TEST_F(CudaMemoryDlpackFrame, copies_and_planes_on_the_host) {
  const CudaSource source = this->source();
  const auto pool = source.pool(frame_, 0, true);
  Owned<GstBuffer> buffer = written(pool.get(), frame_);
  const Consumer consumer(*canny_);
  const Tensor shared = dlpack(buffer.get(), caps_.get(), 0),
               host = dlpack(buffer.get(), caps_.get(), 0, kHost, -1),
               copy = dlpack(buffer.get(), caps_.get(), 0, kCopy, consumer.handle());
  EXPECT_NE(copy->dl_tensor.data, shared->dl_tensor.data);
  EXPECT_EQ(copy->flags, kDLPackIsCopied);
  std::vector<std::uint8_t> read;
  enqueue_read(consumer.stream, copy->dl_tensor, &read);
  EXPECT_EQ(cudaStreamSynchronize(consumer.stream), cudaSuccess);
  EXPECT_EQ(read, luma_bytes(frame_));
  EXPECT_EQ(host->dl_tensor.device.device_type, kDLCPU);
  const auto *bytes = static_cast<const std::uint8_t *>(host->dl_tensor.data);
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 40; ++x) ASSERT_EQ(bytes[y * host->dl_tensor.strides[0] + x], frame_.sample(0, x, y));
}

// If sums of offsets wrapped around, these rows would seem to be within the memory.
TEST_F(CudaMemoryDlpackFrame, offsets_beyond_the_memory_are_refused) {
  const CudaSource source = this->source();
  const auto pool = source.pool(frame_, 0, true);
  for (const gsize offset : {G_MAXSIZE - 3, gsize{1} << 40}) {
    const Owned<GstBuffer> buffer = written(pool.get(), frame_);
    gst_buffer_get_video_meta(buffer.get())->offset[0] = offset;
    EXPECT_NE(error_of([&](GError **error) {
                const Tensor tensor(gst_cuda_vision_frame_to_dlpack(buffer.get(), caps_.get(), 0, kNone,
                                                                    kLegacyStream, error));
                return tensor != nullptr;
              }).find("plane 0 of the frame has 0 bytes"),
              std::string::npos);
    gst_buffer_get_video_meta(buffer.get())->offset[0] = 0;  // the pool uses it again
  }
}

TEST_F(CudaMemoryDlpackFrame, context_of_its_own_and_frames_without_a_layout_are_refused) {
  const CudaSource own;
  const Owned<GstBuffer> buffer = own.buffer(frame_);
  const auto refusal = [&](GstBuffer *refused) {
    return error_of([&](GError **error) {
      const Tensor tensor(
          gst_cuda_vision_frame_to_dlpack(refused, caps_.get(), 0, kNone, kLegacyStream, error));
      return tensor != nullptr;
    });
  };
  EXPECT_NE(refusal(buffer.get()).find("plane 0 of the frame lies in a CUDA context of its own"),
            std::string::npos);
  const Owned<GstBuffer> bare(gst_buffer_new());
  gst_buffer_append_memory(bare.get(), gst_memory_ref(gst_buffer_peek_memory(buffer.get(), 0)));
  EXPECT_EQ(refusal(bare.get()), "the frame has no GstVideoMeta, which tells where its rows lie on the GPU");
}

}  // namespace
