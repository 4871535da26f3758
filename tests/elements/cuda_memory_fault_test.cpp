// SPDX-License-Identifier: LGPL-2.1-or-later
// A failure in the driver ends in an error that names it. After NULL everything works again.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/elements/canny_reference.h"
#include "tests/elements/cuda_memory.h"
#include "tests/fakecuda/fakecuda.h"

namespace {

using namespace cudavision::test;
using cudavision::Size;

class CudaMemoryFault : public CudaMemoryTest {};

const VideoFrame &the_frame() {
  static const VideoFrame frame("RGB", {35, 19});
  return frame;
}

void expect_work(CudaHarness *harness) {
  const CudaSource source;
  harness->negotiate_cuda(the_frame());
  const Owned<GstBuffer> out = harness->exchange(source.buffer(the_frame()));
  ASSERT_NE(out, nullptr);
  EXPECT_TRUE(same_bytes(samples_of(out.get(), the_frame()), with_edges(the_frame())));
}

void restart(CudaHarness *harness) {
  simt::reset();
  gst_element_set_state(harness->element(), GST_STATE_NULL);
  harness->restart();
}

// --- while a frame is processed ---

struct Fault {
  const char *name;
  std::function<void()> plant;
  std::string words;
};

TEST_F(CudaMemoryFault, of_a_frame_is_an_error_and_the_element_works_again) {
  CUDAVISION_NEEDS_EMULATION();
  const std::vector<Fault> faults = {
      {"launch", [] { simt::fail_next(simt::Call::launch, cudaErrorLaunchFailure); }, "launch"},
      {"wait", [] { simt::fail_next(simt::Call::synchronise, cudaErrorIllegalAddress); },
       "cudaEventSynchronize"},
      {"lost device", [] { simt::lose_device(); }, "failed"},
  };
  for (const Fault &fault : faults) {
    SCOPED_TRACE(fault.name);
    CudaHarness harness;
    expect_work(&harness);
    {
      const CudaSource source;
      // The first frame moves the element to the source's context, which allocates everything again.
      ASSERT_NE(harness.exchange(source.buffer(the_frame())), nullptr);
      Owned<GstBuffer> buffer = source.buffer(the_frame());
      fault.plant();
      EXPECT_EQ(harness.exchange(std::move(buffer), GST_FLOW_ERROR), nullptr);
    }
    EXPECT_TRUE(
        is(take_error(harness.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED, fault.words));
    EXPECT_FALSE(take_error(harness.element())) << "one error is enough";
    restart(&harness);
    expect_work(&harness);
  }
}

TEST_F(CudaMemoryFault, lack_of_memory_is_an_error_that_says_so) {
  CUDAVISION_NEEDS_EMULATION();
  for (unsigned served = 0; served < 3; ++served) {
    SCOPED_TRACE(served);
    CudaHarness harness;
    harness.negotiate_cuda(the_frame());
    const CudaSource source;
    Owned<GstBuffer> buffer = source.buffer(the_frame());
    simt::fail_allocations_after(served);  // moving to the source's context allocates
    EXPECT_EQ(harness.exchange(std::move(buffer), GST_FLOW_ERROR), nullptr);
    EXPECT_TRUE(is(take_error(harness.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                   "bytes of device memory"));
    restart(&harness);
    expect_work(&harness);
  }
}

TEST_F(CudaMemoryFault, lack_of_pinned_memory_is_an_error_that_says_so) {
  CUDAVISION_NEEDS_EMULATION();
  CudaHarness harness;
  harness.negotiate(the_frame());
  simt::fail_next(simt::Call::host_allocation, cudaErrorMemoryAllocation);
  EXPECT_EQ(harness.exchange(the_frame().buffer(), GST_FLOW_ERROR), nullptr);
  EXPECT_TRUE(is(take_error(harness.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                 "bytes of page-locked memory"));
  restart(&harness);
  harness.negotiate(the_frame());
  EXPECT_TRUE(same_bytes(harness.work(the_frame()), with_edges(the_frame())));
}

TEST_F(CudaMemoryFault, context_of_a_frame_that_cannot_be_used_is_an_error) {
  CUDAVISION_NEEDS_EMULATION();
  CudaHarness harness;
  harness.negotiate_cuda(the_frame());
  const CudaSource source;
  Owned<GstBuffer> buffer = source.buffer(the_frame());
  simt::fail_next(simt::Call::create, cudaErrorLaunchFailure);  // creating the element's stream fails
  EXPECT_EQ(harness.exchange(std::move(buffer), GST_FLOW_ERROR), nullptr);
  EXPECT_TRUE(is(take_error(harness.element()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED, "tream"));
  restart(&harness);
  expect_work(&harness);
}

// --- at the start ---

// With `backend=cuda` the element does not start and posts an error with these words. Afterwards it starts.
void expect_no_start(const std::string &properties, int code, const std::string &words) {
  const Owned<GstElement> cuda = parse("cudacanny backend=cuda " + properties);
  EXPECT_EQ(gst_element_set_state(cuda.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  EXPECT_TRUE(is(take_error(cuda.get()), GST_RESOURCE_ERROR, code, words));
  simt::reset();
  set(cuda.get(), "cuda-device-id", "-1");
  gst_element_set_state(cuda.get(), GST_STATE_NULL);
  EXPECT_EQ(gst_element_set_state(cuda.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
}

TEST_F(CudaMemoryFault, no_device_is_an_error_or_the_cpu) {
  CUDAVISION_NEEDS_EMULATION();
  simt::set_device_count(0);
  expect_no_start("", GST_RESOURCE_ERROR_NOT_FOUND, "CUDA");
  simt::set_device_count(0);
  const Owned<GstElement> element = parse("cudacanny");
  EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
  EXPECT_EQ(text(element.get(), "active-backend"), "cpu");
  simt::reset();
  gst_element_set_state(element.get(), GST_STATE_NULL);
  EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
  EXPECT_EQ(text(element.get(), "active-backend"), "cuda");
}

TEST_F(CudaMemoryFault, device_that_is_not_there_is_named) {
  CUDAVISION_NEEDS_EMULATION();
  expect_no_start("cuda-device-id=1", GST_RESOURCE_ERROR_NOT_FOUND,
                  "there is no CUDA device 1: this machine has 1");
}

TEST_F(CudaMemoryFault, context_that_cannot_be_made_is_named) {
  CUDAVISION_NEEDS_EMULATION();
  fakecuda::fail_contexts(2, CUDA_ERROR_OUT_OF_MEMORY);  // the attempts in READY and at the start
  expect_no_start("", GST_RESOURCE_ERROR_FAILED, "no context could be made on CUDA device 0");
}

TEST_F(CudaMemoryFault, stream_that_cannot_be_made_is_named) {
  CUDAVISION_NEEDS_EMULATION();
  simt::fail_next(simt::Call::create, cudaErrorDevicesUnavailable);
  expect_no_start("", GST_RESOURCE_ERROR_FAILED, "tream");
}

TEST_F(CudaMemoryFault, kernels_that_the_device_cannot_run_are_named) {
  CUDAVISION_NEEDS_EMULATION();
  const CudaSource source;
  const Owned<GstElement> element = parse("cudacanny backend=cuda");
  source.give_to(element.get());
  simt::fail_next(simt::Call::query, cudaErrorNoKernelImageForDevice);
  EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  EXPECT_TRUE(is(take_error(element.get()), GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
                 "no code for this device in this build"));
}

// --- in a pipeline ---
// The stand-in driver recovers from a lost context. A real driver does not; its pipeline must be made again.

TEST_F(CudaMemoryFault, pipeline_plays_again_after_each_kind) {
  CUDAVISION_NEEDS_EMULATION();
  if (!have_uploader()) GTEST_SKIP() << "there is no cudaupload";
  const std::vector<std::pair<const char *, std::function<void()>>> faults = {
      {"launch", [] { simt::fail_after(simt::Call::launch, 3, cudaErrorLaunchFailure); }},
      {"wait", [] { simt::fail_after(simt::Call::synchronise, 2, cudaErrorIllegalAddress); }},
      {"memory", [] { simt::set_memory_limit(20000); }},
      {"lost device", [] { simt::lose_device_after(simt::Call::launch, 4); }},
      {"no device", [] { simt::set_device_count(0); }},
  };
  for (const auto &[name, plant] : faults) {
    SCOPED_TRACE(name);
    const Owned<GstElement> pipeline = parse(
        "videotestsrc num-buffers=3 ! video/x-raw,format=NV12,width=32,height=24 ! cudacanny backend=cuda ! "
        "cudaupload ! cudahistogram backend=cuda ! cudadownload ! fakesink");
    plant();
    EXPECT_FALSE(plays_to_the_end(pipeline));
    gst_element_set_state(pipeline.get(), GST_STATE_NULL);
    simt::reset();
    EXPECT_TRUE(plays_to_the_end(pipeline));
  }
}

}  // namespace
