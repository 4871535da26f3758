// SPDX-License-Identifier: LGPL-2.1-or-later
// Measures what it costs to start an element that reads a file from a stranger.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>

#include "tests/support/emulated.h"

namespace cudavision::test {

// A number of kilobytes in /proc/self/status.
inline long kilobytes_of(const std::string &name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (long number = 0; word == name + ":" && status >> number) return number;
  ADD_FAILURE() << "no " << name;
  return 0;
}

// Whether the work takes no more than SECURITY.md promises, 2 s and 256 MB; a busy machine and a sanitizer get more.
template <typename Work>
testing::AssertionResult is_cheap(const Work &work) {
  std::ofstream("/proc/self/clear_refs") << 5;  // resets VmHWM, the peak of the resident memory
  const long before = kilobytes_of("VmRSS");
  const auto begin = std::chrono::steady_clock::now();
  work();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const long mebibytes = (kilobytes_of("VmHWM") - before) / 1024;
  if (seconds < 10 && mebibytes < (kSanitized ? 768 : 256)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << seconds << " s, " << mebibytes << " MB";
}

}  // namespace cudavision::test
