// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds data races in kernels that are compiled with -fsanitize=thread. A race is a pair of accesses of two threads to
// the same byte, at least one a write and at least one not atomic, of which neither happens before the other.
//
// Happens-before is that of PTX's memory model, as far as kernels here use it: program order; barriers of a block, of
// some of its warps and of a warp; and an acquire that reads what a release, or a chain of atomics behind the release,
// has written. Vector clocks represent it, as in FastTrack (C. Flanagan and S. Freund, PLDI 2009).
//
// In the interleaved order (simt.h), a load of a word that atomics have written may return an older value, unless the
// write of a newer value, or another load that returned a newer one, happens before the load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/simt/cuda_runtime.h"

namespace simt {

using Time = std::uint32_t;

// What a thread knows: for each thread of each block, the clock up to which that thread's accesses happened before.
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
  // These threads of the block pass a barrier together.
  void meet(const std::vector<unsigned> &threads);

  std::uint32_t block() const { return block_; }
  Time clock(unsigned thread) const { return threads_[thread].clock; }
  bool knows(unsigned thread, std::uint32_t block, unsigned other, Time clock) const;

  // The thread releases: returns what another thread will know by acquiring from it.
  View release(unsigned thread);
  void acquire(unsigned thread, const View &view);
  // order: what all earlier fences have released; the fence acquires it and adds to it.
  void fence(unsigned thread, View *order);
  // What a thread knows after waiting for the end of the whole block.
  View release_all() const;
  // What the thread's last fence released, for the atomic writes that follow the fence; null if there was no fence.
  const View *fenced(unsigned thread) const { return threads_[thread].fenced.get(); }
  // Notes what a relaxed read saw: a later fence turns the read into an acquire.
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

// True if a part of the program is compiled with -fsanitize=thread, so that accesses are traced.
bool traces();
// Begins to trace kernels, with no accesses known: kernels do not race with kernels that have ended before.
void begin_tracing();
void end_tracing();
// Forgets the accesses to this memory, which gets another use.
void forget(const void *address, std::size_t bytes);

}  // namespace simt
