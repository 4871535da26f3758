// SPDX-License-Identifier: LGPL-2.1-or-later
// The address that the tests put into maps that have ended.
#pragma once

#include <cstdint>

namespace cudavision::test {

constexpr std::uintptr_t kNowhere = 0xdeaddeaddeaddead;  // no address of a process on x86-64 or arm64

}  // namespace cudavision::test
