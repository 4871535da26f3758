// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes and reads frames in CUDA memory with GStreamer's own library.
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

// The formats of the elements' pads that CUDA memory supports.
const std::vector<std::string> &cuda_formats();

// A test on the CUDA backend.
class CudaMemoryTest : public ElementTest {
 protected:
  void SetUp() override;
};

// Returns true if GStreamer has cudaupload and cudadownload, which need the driver's video libraries.
bool have_uploader();

Owned<GstCaps> cuda_caps(const VideoFrame &frame);

// A CUDA context with buffers that belong to the test.
class CudaSource {
 public:
  explicit CudaSource(guint device_id = 0);
  explicit CudaSource(GstCudaContext *context);  // uses this context

  GstCudaContext *context() const { return context_.get(); }
  // Sets the context on an element or a pipeline, as an application does.
  void give_to(GstElement *element) const;
  // Gives the context to every element of the pipeline that asks for one, while this source exists.
  void give_when_asked(GstElement *pipeline) const;
  // An active pool of buffers for these caps. most: the maximum number of buffers, 0 for no limit.
  // with_stream: the buffers carry a stream of the pool, if GStreamer supports that (1.24).
  OwnedObject<GstBufferPool> pool(const VideoFrame &frame, guint most = 0, bool with_stream = false) const;
  // A buffer in CUDA memory with the samples of the frame.
  Owned<GstBuffer> buffer(const VideoFrame &frame) const;

 private:
  OwnedObject<GstCudaContext> context_;
};

// Writes the samples of the frame into a buffer of any memory and layout.
void write_samples(const VideoFrame &frame, GstBuffer *buffer);
// The bytes of the frame, with its samples replaced by those of the buffer.
std::vector<std::uint8_t> samples_of(GstBuffer *buffer, const VideoFrame &frame);
// The samples of a frame in any memory, laid out as in the caps, with zeros between them.
std::vector<std::uint8_t> samples_of(GstBuffer *buffer, const GstCaps *caps);
std::vector<std::uint8_t> samples_of(GstSample *sample);
// Returns true if GStreamer allocates frames of this kind completely. In planar 4:2:0, half of the third
// plane lies outside the rows of the allocation: up to 1.22 at odd heights, from 1.24.0 to 1.24.3 at even
// ones. NV21 of odd heights is allocated one row short from 1.24 on.
bool has_cuda_frames(const std::string &format, Size size);
// Returns true if cudaupload and cudadownload also keep all samples of such a frame. They omit the last
// chroma sample of packed 4:2:2 at odd widths.
bool kept_by_gstreamer(const std::string &format, Size size);
bool is_cuda(GstBuffer *buffer);
void copy_from_device(GstCudaContext *context, void *to, const void *from, std::size_t bytes);
// Returns true if this version of GStreamer has frames of the format in CUDA memory.
bool is_cuda_format(const std::string &format);

// The context in the element's answer to a context query; null if it has none. The element keeps the reference.
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
