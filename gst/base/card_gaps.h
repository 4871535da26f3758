// SPDX-License-Identifier: LGPL-2.1-or-later
// Gaps in the work of many elements on a card, for those that start and stop.
#pragma once

#include "gst/base/counted.h"

namespace cudavision {

// The driver guards a context by a read-write lock. Launches take it for reading; allocations, new streams, new events
// and frees take it for writing. Where many threads launch without a pause, at least one of them holds the lock at any
// time, and a writer waits for ever: of 64 streams that ran as fast as they could, several did not get their first
// event within 20 seconds (measured on an H100). Therefore, where many elements work, all of them pause at the same
// moments: long enough for the launches that are under way to end, often while something starts or stops, and rarely
// otherwise.

// An element that works on a card, from before its start.
using WorkingElement = Counted<struct WorkingKind>;
// So few elements work that they leave gaps by themselves.
inline bool few_elements_work() { return WorkingElement::count() <= 4; }

// Held while one of our elements allocates. All others give way to it.
using AllocatingElement = Counted<struct AllocatingKind>;

// Something starts or stops: for a moment GStreamer, too, may allocate and free memory of the card.
void expect_allocations();

// Called before a frame's work is enqueued. Sleeps through a gap.
void leave_gap();

}  // namespace cudavision
