// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs the CPU backend on each instruction set for which it is compiled, instead of the best one alone.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>

#include "tests/support/part.h"

namespace cudavision::test {

// Calls work() with each instruction set of this processor in turn. Where this version of Highway has it, that includes
// its fallback of one lane, which today's processors never choose by themselves.
template <typename Work>
void on_every_instruction_set(const Work &work) {
  const auto choose = [](std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  };
  const std::int64_t all = (hwy::SupportedTargets() | HWY_SCALAR) & HWY_TARGETS;
  for (std::int64_t left = all; left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    if (!is_made(target == (all & -all) || left == target)) continue;  // first part: best and least one
    SCOPED_TRACE(hwy::TargetName(target));
    choose(target);
    work();
  }
  choose(0);  // all of them again
}

}  // namespace cudavision::test
