// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds data races of kernels that are compiled with -fsanitize=thread: pairs of accesses of two threads to the same
// byte, at least one of which writes, not both atomic, and neither of which happens before the other one.
//
// Happens-before is that of PTX's memory model as far as kernels here use it: the order of a thread's program, barriers
// of a block, of some of its warps and of a warp, and an acquire that reads what a release, or a chain of atomics behind
// it, has written. It is kept in vector clocks, as by FastTrack (C. Flanagan and S. Freund, PLDI 2009).
//
// In the interleaved order, a load of a word that atomics have written may return an older value, if the newer ones do not
// happen before it, and if no load that happens before it has returned a newer one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/simt/cuda_runtime.h"

namespace simt {

using Time = std::uint32_t;

// What a thread knows: for each block and each of its threads, up to which clock its accesses happened before.
class View {
 public:
  using Clocks = std::shared_ptr<const std::vector<Time>>;

  bool knows(std::uint32_t block, unsigned thread, Time clock) const;
  void join(const View &other);
  void join(std::uint32_t block, const Clocks &clocks);
  // A copy of the clocks of a block; zeros if nothing is known.
  std::vector<Time> clocks_of(std::uint32_t block, unsigned threads) const;

 private:
  struct Entry {
    std::uint32_t block;
    Clocks clocks;
  };
  std::vector<Entry> entries_;  // by increasing block
};

// The clocks of the threads of a resident block.
class BlockClocks {
 public:
  void begin(std::uint32_t block, unsigned threads, const std::shared_ptr<const View> &known);
  // The threads pass a barrier together.
  void meet(const std::vector<unsigned> &threads);

  std::uint32_t block() const { return block_; }
  Time clock(unsigned thread) const { return threads_[thread].clock; }
  bool knows(unsigned thread, std::uint32_t block, unsigned other, Time clock) const;

  // What another thread learns of this one by acquiring what this one releases now.
  View release(unsigned thread);
  void acquire(unsigned thread, const View &view);
  // order: what earlier fences have released, to which this one adds.
  void fence(unsigned thread, View *order);
  // What is learnt by waiting for the whole block, which has ended.
  View release_all() const;
  // Of the last fence, for a write that follows it; null if there was none.
  const View *fenced(unsigned thread) const { return threads_[thread].fenced.get(); }
  // A relaxed read, which a later fence turns into an acquire.
  void note_read(unsigned thread, const View &view) { threads_[thread].read.join(view); }

 private:
  struct Thread {
    std::shared_ptr<const View> view;
    Time clock = 1;
    std::shared_ptr<const View> fenced;
    View read;
  };
  std::uint32_t block_ = 0;
  std::vector<Thread> threads_;
};

// True if a part of the program is compiled with the compiler's calls of this detector.
bool traces();
// Forgets all accesses: kernels do not race with those that have ended before they start.
void begin_tracing();
void end_tracing();
// Memory gets another use: what was accessed there does not count any more.
void forget(const void *address, std::size_t bytes);

}  // namespace simt
