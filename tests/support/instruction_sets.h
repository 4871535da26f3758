// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs the CPU backend on each instruction set for which it is compiled, instead of the best one alone.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>

namespace cudavision::test {

// Calls work() with each instruction set of this processor in turn.
template <typename Work>
void on_every_instruction_set(const Work &work) {
  const auto choose = [](std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  };
  for (std::int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    SCOPED_TRACE(hwy::TargetName(target));
    choose(target);
    work();
  }
  choose(0);  // all of them again
}

}  // namespace cudavision::test
