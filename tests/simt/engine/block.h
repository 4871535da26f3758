// SPDX-License-Identifier: LGPL-2.1-or-later
// The threads of the running block: which of them are ready, and what the others wait for.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/simt/cuda_runtime.h"

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
  // Resets all threads to their initial state.
  void restart();

  unsigned size() const { return static_cast<unsigned>(states_.size()); }
  unsigned live() const { return live_; }
  State state(unsigned thread) const { return states_[thread]; }
  bool can_run(unsigned thread) const { return states_[thread] <= State::ready; }
  const uint3 &index(unsigned thread) const { return indices_[thread]; }

  void run(unsigned thread) { states_[thread] = State::running; }
  void leave(unsigned thread);
  void wait(unsigned thread, const Request &request);
  // The result of the thread's last wait.
  std::uint64_t result(unsigned thread) const { return results_[thread]; }

  enum class Released { warps, barrier, nobody };
  // Call this if no thread is ready. Makes at least one thread ready, or else prints where each thread waits
  // and aborts. Makes no thread ready if all of them wait at the grid's barrier, which needs the other
  // blocks.
  Released release();
  // Call this if all blocks wait at the grid's barrier.
  void release_grid_barrier();
  [[noreturn]] void die(const char *message) const;

 private:
  static constexpr unsigned kWarp = 32;

  void arrive_at_barrier(const Request &request);
  void release_barrier();
  bool release_part();
  bool release_warp(unsigned first);
  bool agree(unsigned first, unsigned lanes, const Request &request) const;
  void finish_warp_operation(unsigned first, unsigned lanes);
  std::uint64_t shuffled_value(unsigned first, unsigned lane, unsigned lanes) const;
  void report_divergent_barrier() const;
  [[noreturn]] void die_of_request(unsigned thread, const char *what) const;

  std::vector<State> states_;
  std::vector<uint3> indices_;
  std::vector<Request> requests_;
  std::vector<std::uint64_t> results_;
  unsigned live_ = 0;

  // The barrier that is filling: its first thread, the number of arrived threads and of true predicates.
  Request barrier_;
  unsigned at_barrier_ = 0;
  unsigned true_predicates_ = 0;
  bool divergent_ = false;
};

}  // namespace simt
