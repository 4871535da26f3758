// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames in CUDA memory, made and read with GStreamer's own library.
#pragma once

#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

#if GST_CHECK_VERSION(1, 24, 0)
#include <gst/cuda/gstcudastream.h>
#endif

#include <string>
#include <vector>

#include "tests/elements/harness.h"

namespace cudavision::test {

struct UnrefObject {
  template <typename T>
  void operator()(T *object) const {
    gst_object_unref(object);
  }
};
template <typename T>
using OwnedObject = std::unique_ptr<T, UnrefObject>;

// Every format of the elements' pads that CUDA memory has.
const std::vector<std::string> &cuda_formats();

// A test on the CUDA backend.
class CudaMemoryTest : public ElementTest {
 protected:
  void SetUp() override;
};

// Whether GStreamer has cudaupload and cudadownload: not where the driver lacks its libraries for video.
bool have_uploader();

Owned<GstCaps> cuda_caps(const VideoFrame &frame);

// A device with a context and buffers of the test's own.
class CudaSource {
 public:
  explicit CudaSource(guint device_id = 0);
  explicit CudaSource(GstCudaContext *context);  // in this context

  GstCudaContext *context() const { return context_.get(); }
  // Gives the context to an element or a pipeline, as an application does.
  void give_to(GstElement *element) const;
  // Gives it to every element of the pipeline that asks, as long as this source exists.
  void give_when_asked(GstElement *pipeline) const;
  // A pool of buffers of these caps, active; most: how many it ever makes, 0 for any number.
  // with_stream: the buffers carry a stream of the pool's own, where GStreamer can do that (1.24).
  OwnedObject<GstBufferPool> pool(const VideoFrame &frame, guint most = 0, bool with_stream = false) const;
  // The samples of the frame in CUDA memory.
  Owned<GstBuffer> buffer(const VideoFrame &frame) const;

 private:
  OwnedObject<GstCudaContext> context_;
};

// Writes the samples of the frame into a buffer of any memory and layout.
void write_samples(const VideoFrame &frame, GstBuffer *buffer);
// The bytes of the frame with the samples of the buffer instead of its own.
std::vector<std::uint8_t> samples_of(GstBuffer *buffer, const VideoFrame &frame);
// The samples of a frame of any memory as the caps lay them out; zero between them.
std::vector<std::uint8_t> samples_of(GstSample *sample);
// Whether GStreamer makes frames of this kind whole. Planar 4:2:0 has its third plane half outside the rows of
// the allocation: up to 1.22 at odd heights, from 1.24.0 to 1.24.3 at even ones. NV21 of odd heights is allocated
// one row short from 1.24 on.
bool has_cuda_frames(const std::string &format, Size size);
// Whether cudaupload and cudadownload keep all samples of such a frame, too: they leave out the last chroma of
// packed 4:2:2 at odd widths.
bool kept_by_gstreamer(const std::string &format, Size size);
bool is_cuda(GstBuffer *buffer);

// The context with which the element answers, null when it has none; the element keeps it.
GstCudaContext *context_of(GstElement *element);

// A harness whose caps ask for CUDA memory.
class CudaHarness : public Harness {
 public:
  using Harness::Harness;

  void negotiate_cuda(const VideoFrame &frame) {
    gst_harness_set_src_caps(get(), cuda_caps(frame).release());
  }
};

}  // namespace cudavision::test
