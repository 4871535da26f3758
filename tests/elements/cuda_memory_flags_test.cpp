// SPDX-License-Identifier: LGPL-2.1-or-later
// The flags of the context that all pipelines of a process share. The test calls the stand-in driver itself,
// so only the program with emulated kernels has it.
#include "tests/elements/cuda_memory.h"
#include "tests/fakecuda/fakecuda.h"

namespace {

using namespace cudavision::test;

class CudaMemoryFlags : public CudaMemoryTest {};

TEST_F(CudaMemoryFlags, threads_that_wait_for_it_sleep_unless_somebody_uses_it_already) {
  {
    const Owned<GstElement> element = parse("cudacanny backend=cuda");
    gst_element_set_state(element.get(), GST_STATE_READY);
    EXPECT_EQ(fakecuda::primary_flags(0), unsigned{CU_CTX_SCHED_BLOCKING_SYNC});
  }
  fakecuda::reset();
  CUcontext theirs = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&theirs, 0), CUDA_SUCCESS);
  {
    const Owned<GstElement> element = parse("cudacanny backend=cuda");
    gst_element_set_state(element.get(), GST_STATE_READY);
    EXPECT_EQ(gst_cuda_context_get_handle(context_of(element.get())), theirs);
    EXPECT_EQ(fakecuda::primary_flags(0), 0u);
  }
  EXPECT_EQ(fakecuda::live_contexts(), 1u) << "they still use it";
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

}  // namespace
