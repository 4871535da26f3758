// SPDX-License-Identifier: LGPL-2.1-or-later
// The range of a parameter, in one place: the algorithm checks it, and the property and its documentation have it.
#pragma once

namespace cudavision {

// Both ends belong to it.
template <typename T>
struct Range {
  T least, most;
};

}  // namespace cudavision
