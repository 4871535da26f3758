// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts what an algorithm asks of the GPU in one frame, with the counters of the emulated CUDA.
#pragma once

#include <gtest/gtest.h>

#include "tests/support/emulated.h"

namespace cudavision::test {

// Counts from its construction on.
class Budget {
 public:
  // Expects `count` kernel launches and no allocation, copy, memset or synchronisation.
  void expect_launches_alone(unsigned count) const {
    const simt::Counters spent = simt::counters() - before_;
    EXPECT_EQ(spent.launches, count);
    EXPECT_EQ(spent.allocations + spent.host_allocations + spent.frees + spent.host_frees, 0u);
    EXPECT_EQ(spent.host_to_device_copies + spent.device_to_host_copies + spent.device_to_device_copies, 0u);
    EXPECT_EQ(spent.memsets, 0u);
    EXPECT_EQ(spent.synchronisations, 0u);
  }
  // Call it after waiting for the stream: atomics are counted when kernels run.
  simt::Counters spent() const { return simt::counters() - before_; }

 private:
  simt::Counters before_ = simt::counters();
};

}  // namespace cudavision::test
