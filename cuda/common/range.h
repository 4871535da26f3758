// SPDX-License-Identifier: LGPL-2.1-or-later
// The range of a parameter. It is defined once, next to the parameter, and used by validation and by the
// property of the element.
#pragma once

namespace cudavision {

// The closed interval [least, most].
template <typename T>
struct Range {
  T least, most;
};

}  // namespace cudavision
