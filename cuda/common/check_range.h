// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks that a parameter lies in its range.
#pragma once

#include <string>
#include <type_traits>

#include "cuda/common/number_text.h"
#include "cuda/common/range.h"
#include "cuda/common/status.h"

namespace cudavision {

// Fails unless least <= value <= most; NaN always fails. The error text contains the name, the limits and the
// value.
template <typename T>
Status check_range(const char *name, T value, std::type_identity_t<T> least, std::type_identity_t<T> most) {
  if (value >= least && value <= most) return {};
  return invalid_argument(std::string(name) + " must be between " + text_of(least) + " and " + text_of(most) +
                          ", not " + text_of(value));
}
template <typename T>
Status check_range(const char *name, std::type_identity_t<T> value, Range<T> range) {
  return check_range(name, value, range.least, range.most);
}

}  // namespace cudavision
