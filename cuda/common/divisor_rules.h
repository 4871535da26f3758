// SPDX-License-Identifier: LGPL-2.1-or-later
// Divides by a number that is known only at run time, but used many times. A division takes a multiplication and a
// shift; a GPU has no instruction for integer divisions.
#pragma once

#include <cstdint>

#include "cuda/common/host_device.h"

namespace cudavision {

class Divisor {
 public:
  CUDAVISION_HOST_DEVICE explicit Divisor(int divisor)
      : factor_((kOne + static_cast<std::uint32_t>(divisor) - 1) / static_cast<std::uint32_t>(divisor)) {}

  // Returns value / divisor, rounded down. value must be at least 0, and value * divisor less than 2^31. Why this is
  // exact: factor_ / 2^31 exceeds 1 / divisor by less than 1 / 2^31, so the result before rounding exceeds value /
  // divisor by less than value / 2^31, which is less than 1 / divisor: too little to reach the next integer.
  CUDAVISION_HOST_DEVICE int quotient_of(int value) const {
    return static_cast<int>((static_cast<std::uint64_t>(static_cast<std::uint32_t>(value)) * factor_) >> 31);
  }

 private:
  static constexpr std::uint32_t kOne = std::uint32_t{1} << 31;
  std::uint32_t factor_;  // 2^31 / divisor, rounded up
};

}  // namespace cudavision
