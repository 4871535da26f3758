// SPDX-License-Identifier: LGPL-2.1-or-later
// Order of execution in the emulated streams and events.
#include "tests/simt/simt_test_support.h"

namespace {

__global__ void append_digit_kernel(int *dst, int digit) { *dst = 10 * *dst + digit; }

void append_digit(int *dst, int digit, cudaStream_t stream) {
  const cudaLaunchConfig_t c = config(1, 1, 0, stream);
  ASSERT_EQ(cudaLaunchKernelEx(&c, append_digit_kernel, dst, digit), cudaSuccess);
}

// Two streams, an event, and a number on the device to which kernels append digits.
class SimtStream : public Simt {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaStreamCreate(&a_), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&b_, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaEventCreate(&event_), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&number_, sizeof(int)), cudaSuccess);
    ASSERT_EQ(cudaMemsetAsync(number_, 0, sizeof(int)), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(cudaFree(number_), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(event_), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(a_), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(b_), cudaSuccess);
    Simt::TearDown();
  }
  // Reads the number over a third stream, which runs nothing else.
  int number() const {
    int value = -1;
    EXPECT_EQ(cudaMemcpyAsync(&value, number_, sizeof value, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
    return value;
  }

  cudaStream_t a_ = nullptr, b_ = nullptr;
  cudaEvent_t event_ = nullptr;
  int *number_ = nullptr;
};

TEST_F(SimtStream, queued_work_runs_at_the_synchronise_of_its_stream) {
  append_digit(number_, 1, a_);
  append_digit(number_, 2, b_);
  EXPECT_EQ(number(), 0);
  EXPECT_EQ(cudaStreamSynchronize(b_), cudaSuccess);
  EXPECT_EQ(number(), 2);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(number(), 21);
}

TEST_F(SimtStream, work_that_a_failed_wait_waited_for_never_runs) {
  append_digit(number_, 1, a_);
  append_digit(number_, 2, b_);
  simt::fail_next(simt::Call::synchronise, cudaErrorLaunchFailure);
  EXPECT_EQ(cudaStreamSynchronize(a_), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(number(), 0);
}

TEST_F(SimtStream, lost_device_runs_nothing_and_still_releases) {
  simt::lose_device_after(simt::Call::launch, 2);
  append_digit(number_, 1, a_);
  append_digit(number_, 2, a_);
  const cudaLaunchConfig_t c = config(1, 1, 0, a_);
  EXPECT_EQ(cudaLaunchKernelEx(&c, append_digit_kernel, number_, 3), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaStreamSynchronize(a_), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaStreamSynchronize(b_), cudaErrorLaunchFailure);
  int *data = nullptr, count = 0;
  EXPECT_EQ(cudaMalloc(&data, 4), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  simt::reset();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(number(), 0);

  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  void *host = nullptr;
  ASSERT_EQ(cudaMalloc(&data, 4), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&host, 4), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  simt::lose_device(cudaErrorIllegalAddress);
  EXPECT_EQ(cudaFree(data), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaFreeHost(host), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaEventDestroy(event), cudaErrorIllegalAddress);
  simt::reset();
  EXPECT_EQ(simt::live_allocations(), 1u);
  EXPECT_EQ(simt::live_host_allocations(), 0u);
  EXPECT_EQ(simt::live_streams(), 2u);
  EXPECT_EQ(simt::live_events(), 1u);
}

TEST_F(SimtStream, wait_for_an_event_runs_the_other_stream_up_to_it) {
  append_digit(number_, 1, a_);
  ASSERT_EQ(cudaEventRecord(event_, a_), cudaSuccess);
  append_digit(number_, 3, a_);
  ASSERT_EQ(cudaStreamWaitEvent(b_, event_), cudaSuccess);
  append_digit(number_, 2, b_);
  EXPECT_EQ(cudaStreamSynchronize(b_), cudaSuccess);
  EXPECT_EQ(number(), 12);
  EXPECT_EQ(cudaStreamSynchronize(a_), cudaSuccess);
  EXPECT_EQ(number(), 123);
}

TEST_F(SimtStream, streams_may_wait_for_each_other_in_turn) {
  append_digit(number_, 1, a_);
  ASSERT_EQ(cudaEventRecord(event_, a_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(b_, event_), cudaSuccess);
  append_digit(number_, 2, b_);
  ASSERT_EQ(cudaEventRecord(event_, b_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(a_, event_), cudaSuccess);
  append_digit(number_, 3, a_);
  EXPECT_EQ(cudaStreamSynchronize(a_), cudaSuccess);
  EXPECT_EQ(number(), 123);
}

TEST_F(SimtStream, wait_without_a_record_waits_for_nothing) {
  append_digit(number_, 1, a_);
  ASSERT_EQ(cudaStreamWaitEvent(b_, event_), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(b_), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(event_), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event_), cudaSuccess);
  EXPECT_EQ(number(), 0);
}

TEST_F(SimtStream, event_synchronise_runs_what_came_before_it) {
  append_digit(number_, 1, a_);
  ASSERT_EQ(cudaEventRecord(event_, a_), cudaSuccess);
  append_digit(number_, 2, a_);
  EXPECT_EQ(cudaEventSynchronize(event_), cudaSuccess);
  EXPECT_EQ(number(), 1);
}

TEST_F(SimtStream, polling_comes_to_an_end) {
  append_digit(number_, 1, a_);
  append_digit(number_, 2, a_);
  int polls = 1;
  while (cudaStreamQuery(a_) == cudaErrorNotReady) ++polls;
  EXPECT_EQ(polls, 3);
  EXPECT_EQ(number(), 12);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);

  append_digit(number_, 3, a_);
  ASSERT_EQ(cudaEventRecord(event_, a_), cudaSuccess);
  while (cudaEventQuery(event_) == cudaErrorNotReady) {
  }
  EXPECT_EQ(number(), 123);
}

TEST_F(SimtStream, events_measure_time) {
  cudaEvent_t end = nullptr;
  float milliseconds = -1.0f;
  ASSERT_EQ(cudaEventCreateWithFlags(&end, cudaEventDefault), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, event_, end), cudaErrorInvalidResourceHandle);
  ASSERT_EQ(cudaEventRecord(event_, a_), cudaSuccess);
  append_digit(number_, 1, a_);
  ASSERT_EQ(cudaEventRecord(end, a_), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, event_, end), cudaErrorNotReady);
  ASSERT_EQ(cudaEventSynchronize(end), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, event_, end), cudaSuccess);
  EXPECT_GE(milliseconds, 0.0f);
  EXPECT_EQ(cudaEventDestroy(end), cudaSuccess);
}

TEST_F(SimtStream, destroyed_stream_finishes_its_work) {
  cudaStream_t c = nullptr;
  const simt::Counters before = simt::counters();
  ASSERT_EQ(cudaStreamCreate(&c), cudaSuccess);
  append_digit(number_, 1, c);
  EXPECT_EQ(simt::live_streams(), 3u);
  EXPECT_EQ((simt::counters() - before).streams_created, 1u);
  EXPECT_EQ(cudaStreamDestroy(c), cudaSuccess);
  EXPECT_EQ(simt::live_streams(), 2u);
  EXPECT_EQ((simt::counters() - before).streams_destroyed, 1u);
  EXPECT_EQ(number(), 1);
  EXPECT_EQ(cudaStreamSynchronize(c), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaMemsetAsync(number_, 0, 4, c), cudaErrorInvalidResourceHandle);
}

}  // namespace
