// SPDX-License-Identifier: LGPL-2.1-or-later
// Completes barriers and warp operations, and reports those that cannot complete.
#include "tests/simt/engine/block.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/simt/engine/device.h"

namespace simt {
namespace {

// Poison value for shuffling from an inactive lane, whose result is undefined on a GPU.
constexpr std::uint64_t kNoValue = 0xdeaddeaddeaddead;

const char *name_of(Operation operation) {
  switch (operation) {
    case Operation::barrier:
      return "__syncthreads";
    case Operation::barrier_or:
      return "__syncthreads_or";
    case Operation::barrier_and:
      return "__syncthreads_and";
    case Operation::barrier_count:
      return "__syncthreads_count";
    case Operation::part_barrier:
      return "a barrier of some warps";
    case Operation::warp_barrier:
      return "__syncwarp";
    case Operation::ballot:
      return "__ballot_sync";
    case Operation::any:
      return "__any_sync";
    case Operation::all:
      return "__all_sync";
    case Operation::shuffle:
      return "__shfl_sync";
    case Operation::shuffle_up:
      return "__shfl_up_sync";
    case Operation::shuffle_down:
      return "__shfl_down_sync";
    case Operation::shuffle_xor:
      return "__shfl_xor_sync";
    case Operation::poll:
      return "a loop that reads a word";
  }
  return "?";
}

bool is_barrier(Operation operation) { return operation <= Operation::barrier_count; }

bool same_place(const std::source_location &a, const std::source_location &b) {
  return a.line() == b.line() && a.column() == b.column() &&
         (a.file_name() == b.file_name() || std::strcmp(a.file_name(), b.file_name()) == 0);
}

bool same_wait(const Request &a, const Request &b) {
  return a.operation == b.operation && a.mask == b.mask && same_place(a.where, b.where);
}

}  // namespace

void Block::resize(dim3 size) {
  const unsigned count = size.x * size.y * size.z;
  states_.resize(count);
  alive_.resize((count + kWarp - 1) / kWarp);
  at_warp_operation_.resize(alive_.size());
  requests_.resize(count);
  results_.resize(count);
  indices_.resize(count);
  for (unsigned i = 0; i < count; ++i) indices_[i] = {i % size.x, i / size.x % size.y, i / (size.x * size.y)};
}

void Block::restart(std::uint32_t number, const std::shared_ptr<const View> &known) {
  if (traces()) clocks_.begin(number, size(), known);
  std::fill(states_.begin(), states_.end(), State::fresh);
  std::fill(at_warp_operation_.begin(), at_warp_operation_.end(), 0u);
  std::fill(alive_.begin(), alive_.end(), ~0u);
  if (size() % kWarp != 0) alive_.back() = bit_of(size()) - 1;
  live_ = runnable_ = size();
  at_barrier_ = 0;
  at_part_ = {};
}

void Block::leave(unsigned thread) {
  states_[thread] = State::done;
  alive_[thread / kWarp] &= ~bit_of(thread);
  --live_;
}

void Block::wait(unsigned thread, const Request &request) {
  requests_[thread] = request;
  if (request.operation == Operation::poll) {
    make_ready(thread);
    return;
  }
  if (is_barrier(request.operation)) {
    states_[thread] = State::at_barrier;
    arrive_at_barrier(request);
    return;
  }
  if (request.operation == Operation::part_barrier) {
    states_[thread] = State::at_part_barrier;
    ++at_part_[request.mask % kPartBarriers];
    return;
  }
  states_[thread] = State::at_warp_operation;
  at_warp_operation_[thread / kWarp] |= bit_of(thread);
  if ((request.mask & bit_of(thread)) == 0) die_of_request(thread, "is not in its own warp mask");
  if (request.width <= 0 || (request.width & (request.width - 1)) != 0 ||
      request.width > static_cast<int>(kWarp))
    die_of_request(thread, "gives a shuffle's width that is not a power of two up to 32");
}

void Block::arrive_at_barrier(const Request &request) {
  if (at_barrier_++ == 0) {
    barrier_ = request;
    true_predicates_ = 0;
    divergent_ = false;
  } else if (!same_wait(request, barrier_)) {
    divergent_ = true;
  }
  true_predicates_ += request.value != 0;
}

Block::Released Block::release() {
  bool progress = false;
  for (unsigned warp = 0; warp < alive_.size(); ++warp) progress |= release_warp(warp);
  if (progress || release_part()) return Released::warps;
  if (at_barrier_ == live_) {
    release_barrier();
    return Released::barrier;
  }
  if (runnable_ == 0) die("divergent warp operation: it cannot complete");
  return Released::nobody;
}

void Block::release_barrier() {
  // CUDA requires all threads of a block to reach the same barrier.
  if (divergent_ || live_ != size()) report_divergent_barrier();
  std::vector<unsigned> met;
  for (unsigned thread = 0; thread < size(); ++thread) {
    if (states_[thread] != State::at_barrier) continue;
    if (traces()) met.push_back(thread);
    make_ready(thread);
    switch (requests_[thread].operation) {
      case Operation::barrier_or:
        results_[thread] = true_predicates_ != 0;
        break;
      case Operation::barrier_and:
        results_[thread] = true_predicates_ == live_;
        break;
      case Operation::barrier_count:
        results_[thread] = true_predicates_;
        break;
      default:
        break;
    }
  }
  if (traces()) clocks_.meet(met);
  at_barrier_ = 0;
  ++device().counters.barriers;
}

// Releases the threads of one numbered barrier (barrier.sync with a count of threads) at which enough threads wait.
bool Block::release_part() {
  const auto waits_with = [this](unsigned thread, const Request &request) {
    return states_[thread] == State::at_part_barrier && same_wait(requests_[thread], request) &&
           requests_[thread].value == request.value;
  };
  for (unsigned first = 0; first < size(); ++first) {
    if (states_[first] != State::at_part_barrier) continue;
    const Request request = requests_[first];
    if (at_part_[request.mask % kPartBarriers] < request.value) continue;
    std::uint64_t waiting = 0;
    for (unsigned thread = first; thread < size(); ++thread) waiting += waits_with(thread, request);
    if (waiting < request.value) continue;
    std::vector<unsigned> met;
    for (unsigned thread = first; thread < size(); ++thread)
      if (waits_with(thread, request)) met.push_back(thread);
    for (const unsigned thread : met) make_ready(thread);
    if (traces()) clocks_.meet(met);
    at_part_[request.mask % kPartBarriers] -= static_cast<unsigned>(waiting);
    return true;
  }
  return false;
}

bool Block::release_warp(unsigned warp) {
  const unsigned first = warp * kWarp;
  unsigned waiting = at_warp_operation_[warp];
  bool progress = false;
  for (unsigned pending = waiting; pending != 0; pending &= pending - 1) {
    const Request &request = requests_[first + static_cast<unsigned>(std::countr_zero(pending))];
    // CUDA allows a mask to name lanes that have exited.
    const unsigned lanes = request.mask & alive_[warp];
    if ((lanes & ~waiting) != 0 || !agree(first, lanes, request)) continue;
    finish_warp_operation(first, lanes);
    waiting &= ~lanes;
    // Keeps the lowest bit, which the loop clears next.
    pending &= ~lanes | (pending & -pending);
    progress = true;
  }
  at_warp_operation_[warp] = waiting;
  return progress;
}

bool Block::agree(unsigned first, unsigned lanes, const Request &request) const {
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
    const Request &other = requests_[first + static_cast<unsigned>(std::countr_zero(rest))];
    if (other.operation != request.operation || other.mask != request.mask) return false;
  }
  return true;
}

// Computes all results before any lane continues, so that a fast lane cannot overwrite its operand.
void Block::finish_warp_operation(unsigned first, unsigned lanes) {
  const auto for_each_lane = [lanes](const auto &visit) {
    for (unsigned rest = lanes; rest != 0; rest &= rest - 1)
      visit(static_cast<unsigned>(std::countr_zero(rest)));
  };
  const Operation operation = requests_[first + static_cast<unsigned>(std::countr_zero(lanes))].operation;
  const bool is_vote =
      operation == Operation::ballot || operation == Operation::any || operation == Operation::all;
  std::uint64_t result = 0;
  if (is_vote)
    for_each_lane(
        [&](unsigned lane) { result |= std::uint64_t{requests_[first + lane].value != 0} << lane; });
  if (operation == Operation::any) result = result != 0;
  if (operation == Operation::all) result = result == lanes;
  for_each_lane([&](unsigned lane) {
    make_ready(first + lane);
    if (is_vote) results_[first + lane] = result;
    if (operation >= Operation::shuffle) results_[first + lane] = shuffled_value(first, lane, lanes);
  });
  // Votes and shuffles order no accesses to memory.
  if (traces() && operation == Operation::warp_barrier) {
    std::vector<unsigned> met;
    for_each_lane([&](unsigned lane) { met.push_back(first + lane); });
    clocks_.meet(met);
  }
  ++device().counters.warp_operations;
}

// What the lane gets from a shuffle. The source lane is as the PTX manual defines it for shfl.sync.
std::uint64_t Block::shuffled_value(unsigned first, unsigned lane, unsigned lanes) const {
  const Request &request = requests_[first + lane];
  const auto width = static_cast<unsigned>(request.width);
  const unsigned begin = lane & ~(width - 1), last = begin + width - 1, operand = request.lane % kWarp;
  unsigned source = lane;
  switch (request.operation) {
    case Operation::shuffle:
      source = begin + operand % width;
      break;
    case Operation::shuffle_up:
      source = lane >= begin + operand ? lane - operand : lane;
      break;
    case Operation::shuffle_down:
      source = lane + operand <= last ? lane + operand : lane;
      break;
    default:
      source = (lane ^ operand) <= last ? lane ^ operand : lane;
      break;
  }
  if ((lanes >> source & 1) != 0) return requests_[first + source].value;
  if (device().report.bad_masks++ == 0)
    complain(cudaSuccess,
             "lane %u of block (%u,%u,%u) reads from lane %u, which takes no part in %s at %s:%u", lane,
             blockIdx.x, blockIdx.y, blockIdx.z, source, name_of(request.operation),
             request.where.file_name(), request.where.line());
  return kNoValue;
}

void Block::report_divergent_barrier() const {
  if (device().report.divergent_barriers++ != 0) return;
  complain(cudaSuccess, "divergent barrier in block (%u,%u,%u) at %s:%u: %u of %u threads have left%s",
           blockIdx.x, blockIdx.y, blockIdx.z, barrier_.where.file_name(), barrier_.where.line(),
           size() - live_, size(), divergent_ ? ", others wait at another barrier" : "");
}

void Block::die_of_request(unsigned thread, const char *what) const {
  const Request &request = requests_[thread];
  complain(cudaSuccess, "thread %u %s, in %s, mask %08x, at %s:%u", thread, what, name_of(request.operation),
           request.mask, request.where.file_name(), request.where.line());
  die("invalid warp operation");
}

void Block::die(const char *message) const {
  complain(cudaSuccess, "%s", message);
  print_waits(blockIdx);
  std::abort();
}

void Block::print_waits(const uint3 &block) const {
  std::fprintf(stderr, "  block (%u,%u,%u):\n", block.x, block.y, block.z);
  const auto waits = [this](unsigned thread) {
    const State state = states_[thread];
    if (state == State::ready) return requests_[thread].operation == Operation::poll;
    return state >= State::at_barrier && state <= State::at_warp_operation;
  };
  for (unsigned begin = 0, end = 0; begin < size(); begin = end) {
    for (end = begin + 1; end < size() && end % kWarp != 0 && states_[end] == states_[begin] &&
                          (!waits(begin) || same_wait(requests_[end], requests_[begin]));)
      ++end;
    if (!waits(begin)) continue;
    const Request &request = requests_[begin];
    std::fprintf(stderr, "  threads %u to %u wait in %s", begin, end - 1, name_of(request.operation));
    if (!is_barrier(request.operation) && request.operation != Operation::poll)
      std::fprintf(stderr, ", mask %08x,", request.mask);
    std::fprintf(stderr, " at %s:%u\n", request.where.file_name(), request.where.line());
  }
}

}  // namespace simt
