// SPDX-License-Identifier: LGPL-2.1-or-later
// Gaps in the work of many elements on a card, for those that start.
#pragma once

#include "base/counted.h"

namespace cudavision {

// The driver guards a context by a lock that launches share and allocations need for themselves. Where many threads
// launch without a pause, at least one of them holds it at any time, and a stream that starts waits for ever: of 64
// streams that ran as fast as they could some did not start within 20 seconds (measured on an H100). So where many
// elements work, all of them pause together for a moment now and then, and while one of them allocates.

// An element that works on a card, from before its start.
using WorkingElement = Counted<struct WorkingKind>;
// So few elements work that they leave gaps by themselves.
inline bool few_elements_work() { return WorkingElement::count() <= 4; }

// Held while an element allocates.
using AllocatingElement = Counted<struct AllocatingKind>;

// Before a frame's work is enqueued: sleeps through a gap.
void leave_gap();

}  // namespace cudavision
