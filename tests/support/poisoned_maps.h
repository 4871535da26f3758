// SPDX-License-Identifier: LGPL-2.1-or-later
// Where a map leads that has ended, in the tests.
#pragma once

#include <cstdint>

namespace cudavision::test {

constexpr std::uintptr_t kNowhere = 0xdeaddeaddeaddead;  // no address of a process on x86-64 or arm64

}  // namespace cudavision::test
