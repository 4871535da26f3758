// SPDX-License-Identifier: LGPL-2.1-or-later
// Months of running in a minute: small frames through all elements, with new caps now and then. Memory, file
// descriptors and threads must not grow. CUDAVISION_SOAK_FRAMES changes the number of frames.
#include <dirent.h>
#include <gst/check/gstharness.h>
#include <gst/video/gstvideometa.h>
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/elements/every_element.h"
#include "tests/elements/support.h"
#include "tests/elements/video_frame.h"

namespace {

using namespace cudavision::test;

class Soak : public ElementTest {};

std::size_t entries_of(const char *folder) {
  std::size_t count = 0;
  DIR *opened = opendir(folder);
  while (opened != nullptr && readdir(opened) != nullptr) ++count;
  if (opened != nullptr) closedir(opened);
  return count;
}

std::size_t resident_bytes() {
  malloc_trim(0);
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * 4096;
}

struct State {
  std::size_t bytes, files, threads, device_allocations, device_bytes;
};

State state_now() {
  return {resident_bytes(), entries_of("/proc/self/fd"), entries_of("/proc/self/task"),
          simt::live_allocations(), simt::live_bytes()};
}

TEST_F(Soak, nothing_grows) {
  const char *given = std::getenv("CUDAVISION_SOAK_FRAMES");
  constexpr long kCycle = 150;  // frames until the same caps come again
  const long cycles = (given != nullptr ? std::atol(given)
                       : kEmulated      ? (kSanitized ? 150 : 450)
                       : kSlow          ? 3000
                                        : 20000) /
                      kCycle;
  const long early_cycle = std::max(1l, cycles / 10), frames = cycles * kCycle;
  // Without labels: ids of tracks grow longer, and longer labels take more memory on the device.
  std::string chain;
  for (const std::string &use : every_element(
           {.own = {
                "cudacanny", "cudahistogram", "cudalocalhist reduce=argmax", "cudasigma2kp", "cudahog",
                "cudahough max-lines=10", "cudaopticalflow",
                "cudainpaint mode=temporal patch-size=5 region-x=4 region-y=4 region-width=4 region-height=4",
                "cudabgsub", "cudacameracheck", "cudavisiontrack", "cudavisionoverlay draw-labels=false",
                "cudavisionjson location=/dev/null"}}))
    chain += (chain.empty() ? "" : " ! ") + on_backend(use, "n-threads=1");
  GstHarness *harness = gst_harness_new_parse(chain.c_str());
  const VideoFrame kinds[] = {VideoFrame("NV12", {32, 24}, 1), VideoFrame("RGB", {40, 32}, 2),
                              VideoFrame("GRAY8", {24, 40}, 3)};
  State early{};
  for (long i = 0; i < frames; ++i) {
    const VideoFrame &frame = kinds[i % kCycle / 50];
    if (i % 50 == 0) gst_harness_set_src_caps(harness, frame.caps().release());
    GstBuffer *buffer = frame.buffer().release();
    // A box that moves and then jumps back, so that tracks begin and end.
    gst_buffer_add_video_region_of_interest_meta(buffer, "box", static_cast<guint>(i % 15), 4, 8, 12);
    ASSERT_EQ(gst_harness_push(harness, buffer), GST_FLOW_OK) << i;
    gst_buffer_unref(gst_harness_pull(harness));
    // The harness keeps all events until they are asked for.
    while (GstEvent *event = gst_harness_try_pull_event(harness)) gst_event_unref(event);
    while (GstEvent *event = gst_harness_try_pull_upstream_event(harness)) gst_event_unref(event);
    if (i + 1 == early_cycle * kCycle) early = state_now();
  }
  const State late = state_now();
  gst_harness_teardown(harness);
  EXPECT_EQ(late.files, early.files);
  EXPECT_EQ(late.threads, early.threads);
  EXPECT_EQ(late.device_allocations, early.device_allocations);
  EXPECT_EQ(late.device_bytes, early.device_bytes);
  if (!kSanitized) {
    EXPECT_LE(late.bytes, early.bytes + (std::size_t{1} << 20));
  }
  std::printf("%ld frames, %zu KB after a tenth of them, %zu KB at the end\n", frames, early.bytes / 1024,
              late.bytes / 1024);
}

}  // namespace
