// SPDX-License-Identifier: LGPL-2.1-or-later
// Splits the repetitions of tests, with other thread orders or instruction sets, into two parts.
#pragma once

#include <cstdlib>
#include <string_view>

namespace cudavision::test {

// is_first: whether the repetition belongs to the first part, which `tests/run.sh` makes; `tests/run.sh rest` makes the
// others. Without the environment variable CUDAVISION_TEST_PART a test makes all of them.
inline bool is_made(bool is_first) {
  const char *part = std::getenv("CUDAVISION_TEST_PART");
  if (part == nullptr || *part == '\0') return true;
  return (std::string_view(part) == "first") == is_first;
}

}  // namespace cudavision::test
