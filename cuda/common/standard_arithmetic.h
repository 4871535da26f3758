// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic that all results are computed with.
#pragma once

#include <cfenv>

namespace cudavision {

// Sets the default floating-point mode of the thread while it exists (RAII), so that results are the same whatever the
// host has set: its threads may round upwards or end in a signal at a division by zero, and GStreamer's threads inherit
// that. Libraries built with -ffast-math make the processor treat denormal numbers as zero, for the whole process, and
// GStreamer loads such libraries when it writes its registry.
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
