// SPDX-License-Identifier: LGPL-2.1-or-later
// Common pauses of all elements that work on a GPU, so that other elements can start and stop.
#pragma once

#include "gst/base/counted.h"

namespace cudavision {

// The driver guards a context with a read-write lock. Kernel launches take it for reading. Allocations, frees
// and the creation of streams and events take it for writing. If many threads launch without a pause, at
// least one of them holds the lock at any time, and a writer starves: of 64 streams that ran at full speed,
// several did not get their first event within 20 seconds (measured on an H100). Therefore, if many elements
// work, all of them pause at the same moments. A pause is long enough for the launches in progress to
// complete. Pauses are frequent while an element starts or stops, and rare otherwise.

// Exists while an element works on a GPU, from just before its start.
using WorkingElement = Counted<struct WorkingKind>;
// Returns true if so few elements work that they leave pauses by themselves.
inline bool few_elements_work() { return WorkingElement::count() <= 4; }

// Exists while an element of this plugin allocates. All other elements give way to it.
using AllocatingElement = Counted<struct AllocatingKind>;

// Announces that an element starts or stops. For a short time GStreamer may also allocate and free GPU
// memory.
void expect_allocations();

// Sleeps until the current pause has ended. Called before the work of a frame is enqueued.
void pause_launches();

}  // namespace cudavision
