// SPDX-License-Identifier: LGPL-2.1-or-later
// The floating-point environment in which all results are computed.
#pragma once

#include <cfenv>

namespace cudavision {

// Sets the default floating-point environment of the calling thread, and restores the old one when destroyed, so that
// results do not depend on the application: it may have changed the rounding mode or made divisions by zero raise a
// signal, and GStreamer's threads inherit that. Libraries built with -ffast-math make the processor treat denormal
// numbers as zero, for the whole process, and GStreamer loads such libraries when it writes its registry.
class StandardArithmetic {
 public:
  StandardArithmetic() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~StandardArithmetic() { std::fesetenv(&before_); }
  StandardArithmetic(const StandardArithmetic &) = delete;
  StandardArithmetic &operator=(const StandardArithmetic &) = delete;

 private:
  std::fenv_t before_;
};

}  // namespace cudavision
