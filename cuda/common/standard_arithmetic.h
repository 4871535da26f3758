// SPDX-License-Identifier: LGPL-2.1-or-later
// The floating-point environment in which all results are computed.
#pragma once

#include <cfenv>
#include <cstdint>

namespace cudavision {

// Sets the default floating-point environment of the calling thread, and restores the old one when destroyed, so that
// results do not depend on the application: it may have changed the rounding mode or made divisions by zero raise a
// signal, and GStreamer's threads inherit that. Libraries built with -ffast-math make the processor treat denormal
// numbers as zero, for the whole process, and GStreamer loads such libraries when it writes its registry.
class StandardArithmetic {
 public:
  StandardArithmetic() : replaces_(!is_in_force()) {
    if (!replaces_) return;
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~StandardArithmetic() {
    if (replaces_) std::fesetenv(&before_);
  }
  StandardArithmetic(const StandardArithmetic &) = delete;
  StandardArithmetic &operator=(const StandardArithmetic &) = delete;

 private:
  // Reads the two control registers, which takes a hundredth of the time of the functions of <cfenv>: those take a
  // twentieth of the time of a small frame.
  static bool is_in_force() {
#if defined(__x86_64__)
    constexpr unsigned kDefault = 0x1f80, kExceptionsSoFar = 0x3f;
    constexpr std::uint16_t kDefaultOfX87 = 0x37f;
    std::uint16_t x87 = 0;
    asm volatile("fnstcw %0" : "=m"(x87));
    return x87 == kDefaultOfX87 && (__builtin_ia32_stmxcsr() & ~kExceptionsSoFar) == kDefault;
#else
    return false;
#endif
  }

  const bool replaces_;
  std::fenv_t before_;
};

}  // namespace cudavision
