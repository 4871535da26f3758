// SPDX-License-Identifier: LGPL-2.1-or-later
// What an element may ask of the GPU for one frame, counted by the emulated CUDA.
#pragma once

#include "tests/elements/harness.h"

namespace cudavision::test {

struct FrameBudget {
  unsigned launches, uploads, downloads;
};

inline simt::Counters spent_on(Harness *harness, const VideoFrame &frame) {
  const simt::Counters before = simt::counters();
  harness->work(frame);
  return simt::counters() - before;
}

// Expectations for a frame after the element has allocated everything: one wait, no allocation, no memset.
inline void expect_spent(const simt::Counters &spent, FrameBudget budget) {
  EXPECT_EQ(spent.launches, budget.launches);
  EXPECT_EQ(spent.host_to_device_copies, budget.uploads);
  EXPECT_EQ(spent.device_to_host_copies, budget.downloads);
  EXPECT_EQ(spent.device_to_device_copies + spent.memsets, 0u);
  EXPECT_EQ(spent.synchronisations, 1u);
  EXPECT_EQ(spent.allocations + spent.host_allocations + spent.frees + spent.host_frees, 0u);
}

// Tests the second frame of an element that allocates only at its first frame.
inline void expect_budget(Harness *harness, const VideoFrame &frame, FrameBudget budget) {
  harness->work(frame);
  expect_spent(spent_on(harness, frame), budget);
}

}  // namespace cudavision::test
