// SPDX-License-Identifier: LGPL-2.1-or-later
// The threads of the running block: which of them are ready, and what the others wait for.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tests/simt/cuda_runtime.h"
#include "tests/simt/engine/races.h"

namespace simt {

enum class State : std::uint8_t {
  fresh,
  ready,
  running,
  at_barrier,
  at_part_barrier,
  at_warp_operation,
  done
};

class Block {
 public:
  void resize(dim3 size);
  // Resets all threads to their initial state, to run the block with this number. known: which accesses happened before
  // the block (races.h).
  void restart(std::uint32_t number, const std::shared_ptr<const View> &known);
  BlockClocks &clocks() { return clocks_; }

  unsigned size() const { return static_cast<unsigned>(states_.size()); }
  unsigned live() const { return live_; }
  // The number of threads for which can_run() is true.
  unsigned runnable() const { return runnable_; }
  State state(unsigned thread) const { return states_[thread]; }
  bool can_run(unsigned thread) const { return states_[thread] <= State::ready; }
  const uint3 &index(unsigned thread) const { return indices_[thread]; }

  void run(unsigned thread) {
    states_[thread] = State::running;
    --runnable_;
  }
  void leave(unsigned thread);
  // Makes the thread wait for the barrier or warp operation. With Operation::poll it stays able to run.
  void wait(unsigned thread, const Request &request);
  // The result of the thread's last wait.
  std::uint64_t result(unsigned thread) const { return results_[thread]; }

  enum class Released { warps, barrier, nobody };
  // Makes ready all threads whose barrier or warp operation is complete. If there are none and no thread can run,
  // prints where each thread waits and aborts.
  Released release();
  // Makes ready the threads of this thread's warp whose warp operation is complete. Returns whether there were any.
  bool release_warp_of(unsigned thread) { return release_warp(thread / kWarp); }
  // Prints where each thread waits.
  void print_waits(const uint3 &block) const;

 private:
  static constexpr unsigned kWarp = 32;

  void make_ready(unsigned thread) {
    states_[thread] = State::ready;
    ++runnable_;
  }
  static unsigned bit_of(unsigned thread) { return 1u << thread % kWarp; }
  void arrive_at_barrier(const Request &request);
  void release_barrier();
  bool release_part();
  bool release_warp(unsigned warp);
  bool agree(unsigned first, unsigned lanes, const Request &request) const;
  void finish_warp_operation(unsigned first, unsigned lanes);
  std::uint64_t shuffled_value(unsigned first, unsigned lane, unsigned lanes) const;
  void report_divergent_barrier() const;
  [[noreturn]] void die(const char *message) const;
  [[noreturn]] void die_of_request(unsigned thread, const char *what) const;

  std::vector<State> states_;
  std::vector<unsigned> alive_, at_warp_operation_;  // bit masks of lanes, one for each warp
  std::vector<uint3> indices_;
  std::vector<Request> requests_;
  std::vector<std::uint64_t> results_;
  unsigned live_ = 0, runnable_ = 0;

  // The barrier at which threads are arriving: the request of the first one, and the numbers of arrived threads and of
  // true predicates.
  Request barrier_;
  unsigned at_barrier_ = 0;
  unsigned true_predicates_ = 0;
  bool divergent_ = false;

  BlockClocks clocks_;

  // How many threads wait at each numbered barrier (Operation::part_barrier).
  static constexpr unsigned kPartBarriers = 16;
  std::array<unsigned, kPartBarriers> at_part_{};
};

}  // namespace simt
