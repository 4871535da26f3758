// SPDX-License-Identifier: LGPL-2.1-or-later
// Gaps in the work of many elements on a card, for those that start.
#pragma once

namespace cudavision {

// The driver guards a context by a lock that launches share and allocations need for themselves. Where many threads
// launch without a pause, at least one of them holds it at any time, and a stream that starts waits for ever: of 64
// streams that ran as fast as they could some did not start within 20 seconds (measured on an H100). So where many
// elements work, all of them pause together for a moment now and then, and while one of them allocates.

// Counts an element among those that work on a card, from before its start.
class WorkingElement {
 public:
  WorkingElement();
  ~WorkingElement();
  WorkingElement(const WorkingElement &) = delete;
  WorkingElement &operator=(const WorkingElement &) = delete;

  // Whether so few elements work that they leave gaps by themselves.
  static bool are_few();
};

// Held while an element allocates.
class AllocatingElement {
 public:
  AllocatingElement();
  ~AllocatingElement();
  AllocatingElement(const AllocatingElement &) = delete;
  AllocatingElement &operator=(const AllocatingElement &) = delete;
};

// Before a frame's work is enqueued: sleeps through a gap.
void leave_gap();

}  // namespace cudavision
