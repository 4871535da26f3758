// SPDX-License-Identifier: LGPL-2.1-or-later
// Failures in turn: every allocation of the elements' own code fails once, and on the stand-in driver every
// allocation of device memory. GLib's and GStreamer's own allocations end the process by design, and those of
// oneTBB's threads are left out.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>

#include "tests/elements/harness.h"

namespace {

// The number of the allocation that fails, counted down while the thread is armed.
thread_local long left = -1;
thread_local bool is_armed = false;

bool fails_now() { return is_armed && left >= 0 && left-- == 0; }

void *allocate(std::size_t size, std::size_t alignment) {
  if (fails_now()) return nullptr;
  const std::size_t whole = size == 0 ? 1 : size;
  return alignment <= alignof(std::max_align_t)
             ? std::malloc(whole)
             : std::aligned_alloc(alignment, (whole + alignment - 1) / alignment * alignment);
}

void *allocate_or_throw(std::size_t size, std::size_t alignment) {
  void *memory = allocate(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// These replace the functions of the standard library in the whole process, plugins included.
void *operator new(std::size_t size) { return allocate_or_throw(size, 1); }
void *operator new[](std::size_t size) { return allocate_or_throw(size, 1); }
void *operator new(std::size_t size, const std::nothrow_t &) noexcept { return allocate(size, 1); }
void *operator new[](std::size_t size, const std::nothrow_t &) noexcept { return allocate(size, 1); }
void *operator new(std::size_t size, std::align_val_t a) { return allocate_or_throw(size, std::size_t(a)); }
void *operator new[](std::size_t size, std::align_val_t a) { return allocate_or_throw(size, std::size_t(a)); }
void *operator new(std::size_t size, std::align_val_t a, const std::nothrow_t &) noexcept {
  return allocate(size, std::size_t(a));
}
void *operator new[](std::size_t size, std::align_val_t a, const std::nothrow_t &) noexcept {
  return allocate(size, std::size_t(a));
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void *memory, const std::nothrow_t &) noexcept { std::free(memory); }
void operator delete[](void *memory, const std::nothrow_t &) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void *memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void *memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace {

using namespace cudavision::test;

class Failures : public ElementTest, public testing::WithParamInterface<const char *> {};

// Armed while it exists (RAII): around calls of the element, and not around the test's own code.
class Armed {
 public:
  Armed() { is_armed = true; }
  ~Armed() { is_armed = false; }
};

struct Outcome {
  bool all_frames = true;
  std::optional<Complaint> error;
};

// Starts, negotiates, pushes three frames, flushes, ends the stream, stops.
// inject: called before the start.
Outcome live(
    GstElement *element, const VideoFrame &frame, const std::function<void()> &inject = [] {}) {
  Outcome outcome;
  GstHarness *harness = gst_harness_new_with_element(element, "sink", "src");
  gst_element_set_state(element, GST_STATE_NULL);
  GstCaps *caps = frame.caps().release();
  inject();
  {
    const Armed armed;
    gst_element_set_state(element, GST_STATE_PLAYING);
    gst_harness_set_src_caps(harness, caps);
  }
  for (int i = 0; i < 3; ++i) {
    GstBuffer *buffer = frame.buffer().release();
    for (const guint x : {2u, 30u})
      gst_buffer_add_video_region_of_interest_meta(buffer, "person", x, 3, 9, 12);
    GstFlowReturn result;
    {
      const Armed armed;
      result = gst_harness_push(harness, buffer);
    }
    outcome.all_frames = outcome.all_frames && result == GST_FLOW_OK;
    if (GstBuffer *out = gst_harness_try_pull(harness); out != nullptr) gst_buffer_unref(out);
  }
  {
    const Armed armed;
    gst_harness_push_event(harness, gst_event_new_flush_start());
    gst_harness_push_event(harness, gst_event_new_flush_stop(TRUE));
    gst_harness_push_event(harness, gst_event_new_eos());
    gst_element_set_state(element, GST_STATE_NULL);
  }
  outcome.error = take_error(element);
  gst_harness_teardown(harness);
  return outcome;
}

Owned<GstElement> make(const std::string &description) {
  const bool has_backend =
      !description.starts_with("cudavisionjson") && !description.starts_with("cudavisiontrack");
  return parse(description + (has_backend ? " n-threads=1 backend=" + backend() : ""));
}

TEST_P(Failures, of_memory_are_errors_and_the_element_starts_again) {
  if (kEmulated) GTEST_SKIP() << "the stand-in driver's own allocations would fail, too";
  const VideoFrame frame("NV12", {48, 40});
  long count = 0;
  {  // libraries allocate once in a process
    const Owned<GstElement> element = make(GetParam());
    EXPECT_TRUE(live(element.get(), frame).all_frames);
  }
  for (bool reached = true; reached; ++count) {
    const Owned<GstElement> element = make(GetParam());
    const Outcome failed = live(element.get(), frame, [count] { left = count; });
    reached = left < 0;
    left = -1;
    EXPECT_TRUE(failed.all_frames || failed.error) << "allocation " << count << " failed without an error";
    if (failed.error) {
      EXPECT_TRUE(reached);
      EXPECT_EQ(failed.error->code, GST_RESOURCE_ERROR_NO_SPACE_LEFT) << failed.error->text;
      EXPECT_NE(failed.error->text.find("memory"), std::string::npos) << failed.error->text;
    }
    const Outcome again = live(element.get(), frame);
    EXPECT_TRUE(again.all_frames) << "after allocation " << count << " had failed";
    EXPECT_FALSE(again.error) << again.error->text;
  }
  (void)take_glib_complaints();
  RecordProperty("failures", std::to_string(count - 1));
  std::printf("%ld allocations failed in turn\n", count - 1);
  EXPECT_GT(count, 2);
}

// A failure while the element stops has no consequence, so the calls of a kind are at an end only when several
// runs in succession succeed.
TEST_P(Failures, of_the_driver_are_errors_and_the_element_starts_again) {
  CUDAVISION_NEEDS_EMULATION();
  constexpr int kRunsAtTheEnd = 6;
  constexpr unsigned kEvery = kSanitized ? 11 : 1;  // each run takes a second there
  const VideoFrame frame("NV12", {32, 24});
  unsigned failures = 0;
  for (const auto call :
       {simt::Call::allocation, simt::Call::host_allocation, simt::Call::copy, simt::Call::launch,
        simt::Call::synchronise, simt::Call::create, simt::Call::query}) {
    const bool is_memory = call == simt::Call::allocation || call == simt::Call::host_allocation;
    int successes = 0;
    for (unsigned count = 0; successes < kRunsAtTheEnd; count += kEvery) {
      const Owned<GstElement> element = make(GetParam());
      const cudaError_t error = is_memory ? cudaErrorMemoryAllocation : cudaErrorUnknown;
      const Outcome outcome = live(element.get(), frame, [&] { simt::fail_after(call, count, error); });
      simt::reset();
      successes = outcome.error ? 0 : successes + 1;
      failures += outcome.error.has_value();
      EXPECT_TRUE(outcome.all_frames || outcome.error) << "call " << count << " failed without an error";
      EXPECT_TRUE(live(element.get(), frame).all_frames) << "after call " << count << " had failed";
    }
  }
  (void)take_glib_complaints();
  std::printf("%u CUDA calls failed in turn\n", failures);
}

INSTANTIATE_TEST_SUITE_P(
    Elements, Failures,
    testing::Values(
        "cudacanny gaussian-sigma=1.4 message=true", "cudacanny display=false", "cudahistogram message=true",
        "cudalocalhist", "cudalocalhist reduce=distance message=true",
        "cudasigma2kp orientation=true min-distance=2", "cudahog", "cudahough",
        "cudahough mode=segments gradient-voting=true", "cudaopticalflow message=true",
        "cudainpaint patch-size=5 attach-mask=true region-x=20 region-y=10 region-width=4 region-height=4",
        "cudainpaint mode=temporal patch-size=5 region-x=20 region-y=10 region-width=4 region-height=4",
        "cudavisionjson location=/dev/null source=camera", "cudavisiontrack min-hits=0",
        "cudavisionoverlay message=true"));

}  // namespace
