// SPDX-License-Identifier: LGPL-2.1-or-later
// Failures in turn: every allocation of the plugin's own code fails once, in whatever thread, and on the stand-in
// driver every allocation of device memory. GLib's and GStreamer's own allocations end the process by design.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <string_view>

#include "tests/elements/every_element.h"
#include "tests/elements/harness.h"

namespace {

// The number of the plugin's allocation that fails, counted down; negative: none fails.
std::atomic<long> left = -1;

// caller: an address in the code that allocates.
bool fails_now(const void *caller) {
  Dl_info code;
  return left >= 0 && dladdr(caller, &code) != 0 &&
         std::string_view(code.dli_fname).find("libgstcudavision.so") != std::string_view::npos &&
         left-- == 0;
}

}  // namespace

#if defined(__SANITIZE_ADDRESS__)
// The plugin of a sanitized build shares the program's C++ runtime. These functions replace the runtime's for both.
namespace {

void *allocate(std::size_t size, std::size_t alignment, const void *caller) {
  if (fails_now(caller)) return nullptr;
  const std::size_t whole = size == 0 ? 1 : size;
  return alignment <= alignof(std::max_align_t)
             ? std::malloc(whole)
             : std::aligned_alloc(alignment, (whole + alignment - 1) / alignment * alignment);
}

void *allocate_or_throw(std::size_t size, std::size_t alignment, const void *caller) {
  void *memory = allocate(size, alignment, caller);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

#define CALLER __builtin_return_address(0)
void *operator new(std::size_t size) { return allocate_or_throw(size, 1, CALLER); }
void *operator new[](std::size_t size) { return allocate_or_throw(size, 1, CALLER); }
void *operator new(std::size_t size, const std::nothrow_t &) noexcept { return allocate(size, 1, CALLER); }
void *operator new[](std::size_t size, const std::nothrow_t &) noexcept { return allocate(size, 1, CALLER); }
void *operator new(std::size_t size, std::align_val_t a) {
  return allocate_or_throw(size, std::size_t(a), CALLER);
}
void *operator new[](std::size_t size, std::align_val_t a) {
  return allocate_or_throw(size, std::size_t(a), CALLER);
}
void *operator new(std::size_t size, std::align_val_t a, const std::nothrow_t &) noexcept {
  return allocate(size, std::size_t(a), CALLER);
}
void *operator new[](std::size_t size, std::align_val_t a, const std::nothrow_t &) noexcept {
  return allocate(size, std::size_t(a), CALLER);
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
#else
// The plugin has a C++ runtime of its own, which allocates with the functions of the C library.
extern "C" void *__libc_malloc(std::size_t size);
extern "C" void *__libc_memalign(std::size_t alignment, std::size_t size);
extern "C" void *malloc(std::size_t size) {
  return fails_now(__builtin_return_address(0)) ? nullptr : __libc_malloc(size);
}
extern "C" void *aligned_alloc(std::size_t alignment, std::size_t size) {
  return fails_now(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, size);
}
#endif

namespace {

using namespace cudavision::test;

class Failures : public ElementTest, public testing::WithParamInterface<std::string> {};

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
  gst_element_set_state(element, GST_STATE_PLAYING);
  gst_harness_set_src_caps(harness, caps);
  for (int i = 0; i < 3; ++i) {
    GstBuffer *buffer = frame.buffer().release();
    for (const guint x : {2u, 30u})
      gst_buffer_add_video_region_of_interest_meta(buffer, "person", x, 3, 9, 12);
    outcome.all_frames = gst_harness_push(harness, buffer) == GST_FLOW_OK && outcome.all_frames;
    if (GstBuffer *out = gst_harness_try_pull(harness); out != nullptr) gst_buffer_unref(out);
  }
  gst_harness_push_event(harness, gst_event_new_flush_start());
  gst_harness_push_event(harness, gst_event_new_flush_stop(TRUE));
  gst_harness_push_event(harness, gst_event_new_eos());
  gst_element_set_state(element, GST_STATE_NULL);
  outcome.error = take_error(element);
  gst_harness_teardown(harness);
  return outcome;
}

Owned<GstElement> make(const std::string &use) { return parse(on_backend(use, "n-threads=2")); }

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

INSTANTIATE_TEST_SUITE_P(Elements, Failures, testing::ValuesIn(every_element()));

}  // namespace
