// SPDX-License-Identifier: LGPL-2.1-or-later
// Decides which thread of which block runs next and switches to its fiber.
#include "tests/simt/engine/scheduler.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/simt/engine/block.h"
#include "tests/simt/engine/device.h"
#include "tests/simt/engine/fiber.h"
#include "tests/simt/engine/memory.h"

namespace simt {

uint3 thread_index, block_index;
dim3 block_size, grid_size;

namespace {

constexpr unsigned kNobody = ~0u;
// Stale shared memory must not look like zeros.
constexpr int kStaleByte = 0xcb;
constexpr std::size_t kSharedAlignment = 128;
// A deadlock: each thread has polled a word so often on average, and meanwhile no thread has begun, ended, passed a
// barrier or changed a word with an atomic.
constexpr std::size_t kIdlePollsPerThread = 4096;
// Each thread of a resident block has a stack of its own, and a process can have only so many.
constexpr std::size_t kMaxResidentThreads = 8192;
constexpr std::uint32_t kMaxLogBurst = 10;

// Shared memory of one block. It looks stale (kStaleByte) when the block begins.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes) : bytes_(bytes) {
    // Allocates exactly this size, so that AddressSanitizer's red zone begins right after it.
    if (bytes != 0 && posix_memalign(&memory_, kSharedAlignment, bytes) != 0) std::abort();
    make_stale();
  }
  SharedMemory(const SharedMemory &) = delete;
  SharedMemory &operator=(const SharedMemory &) = delete;
  ~SharedMemory() { std::free(memory_); }

  void make_stale() {
    if (bytes_ == 0) return;
    std::memset(memory_, kStaleByte, bytes_);
    forget(memory_, bytes_);
  }
  void *get() const { return memory_; }

 private:
  void *memory_ = nullptr;
  std::size_t bytes_;
};

struct SharedVariable {
  const void *key;
  std::unique_ptr<SharedMemory> memory;
};

// One of the kernels that run together. The next one starts when all blocks of this one have let it or have ended.
struct Launch {
  const Kernel *kernel;
  Launch *ahead;               // null for the first kernel
  std::uint32_t first_number;  // the number of block 0; all kernels' blocks are numbered together
  std::size_t blocks;
  std::vector<unsigned> block_order = {};  // empty unless the blocks are shuffled
  bool has_started = false;
  std::size_t begun = 0, letting = 0, ended = 0;  // numbers of blocks
  // What the next kernel knows (races.h) when it starts, and when it has waited for this one.
  View at_start = {}, at_end = {};
  std::shared_ptr<const View> known = std::make_shared<const View>();  // when this kernel starts

  bool has_ended() const { return ended == blocks; }
};

// A resident block. When it ends, another one takes its place.
struct Team {
  Launch *launch;
  Block block;
  bool lets_next_start = false;
  uint3 index{};
  std::vector<unsigned> order;  // the order in which the threads take turns
  std::size_t cursor = 0;
  std::vector<Fiber *> fibers;  // one for each thread that has begun
  std::unique_ptr<SharedMemory> dynamic_shared;
  std::vector<SharedVariable> static_shared;  // those that a thread has reached
};

struct Scheduler {
  std::deque<Launch> launches;
  std::vector<std::unique_ptr<Team>> teams;
  std::size_t turn = 0;  // the number of the team that runs
  Team *team = nullptr;
  unsigned current = kNobody;
  std::uint32_t burst = 0;     // how often this team goes on before another one may run
  std::size_t idle_polls = 0;  // since the last progress
  Fiber *host = nullptr;
};

Scheduler &scheduler() {
  static auto &instance = *new Scheduler;
  return instance;
}

bool is_random() { return device().schedule.order >= Order::shuffled; }
bool interleaves() { return device().schedule.order == Order::interleaved; }
// True once in n times.
bool once_in(unsigned n) { return device().shuffler.below(n) == 0; }

void make_order(std::vector<unsigned> &order, std::size_t size) {
  order.resize(size);
  std::iota(order.begin(), order.end(), 0u);
  if (device().schedule.order == Order::reverse) std::reverse(order.begin(), order.end());
  if (is_random()) device().shuffler.shuffle(order);
}

// Lets the team run the next block that has not begun; returns false if there is none.
bool begin_block(Scheduler &s, Team &team) {
  Launch &launch = *team.launch;
  if (launch.begun == launch.blocks) return false;
  std::size_t block = launch.begun++;
  if (!launch.block_order.empty())
    block = launch.block_order[block];
  else if (device().schedule.order == Order::reverse)
    block = launch.blocks - 1 - block;
  const dim3 &grid = launch.kernel->grid;
  const std::size_t row = block / grid.x;
  team.index = {static_cast<unsigned>(block % grid.x), static_cast<unsigned>(row % grid.y),
                static_cast<unsigned>(row / grid.y)};
  team.dynamic_shared->make_stale();
  for (const SharedVariable &variable : team.static_shared) variable.memory->make_stale();
  team.block.restart(launch.first_number + static_cast<std::uint32_t>(block), launch.known);
  team.lets_next_start = false;
  make_order(team.order, team.block.size());
  team.cursor = 0;
  s.idle_polls = 0;
  return true;
}

// Makes the first blocks of a kernel resident.
void start(Scheduler &s, Launch &launch) {
  const Kernel &kernel = *launch.kernel;
  launch.has_started = true;
  if (is_random()) make_order(launch.block_order, launch.blocks);
  std::size_t resident = interleaves() ? device().schedule.resident : 1;
  const std::size_t threads = std::size_t{kernel.block.x} * kernel.block.y * kernel.block.z;
  std::size_t stacks = kMaxResidentThreads;
  for (const auto &team : s.teams) stacks -= std::min(stacks, std::size_t{team->block.live()});
  resident = std::min(resident, std::max<std::size_t>(stacks / threads, 2));
  const std::size_t teams = kernel.cooperative ? launch.blocks : std::min(resident, launch.blocks);
  for (std::size_t i = 0; i < teams; ++i) {
    Team &team = *s.teams.emplace_back(std::make_unique<Team>(&launch));
    team.block.resize(kernel.block);
    team.fibers.resize(team.block.size());
    team.dynamic_shared = std::make_unique<SharedMemory>(kernel.dynamic_shared_bytes);
    begin_block(s, team);
  }
}

// Starts the next kernel if all blocks of the one ahead let it.
void start_next(Scheduler &s) {
  for (Launch &launch : s.launches) {
    if (launch.has_started) continue;
    if (launch.ahead != nullptr && launch.ahead->letting != launch.ahead->blocks) return;
    if (traces() && launch.ahead != nullptr)
      launch.known = std::make_shared<const View>(launch.ahead->at_start);
    std::erase_if(s.teams,
                  [&s](const auto &team) { return team->launch->has_ended() && team.get() != s.team; });
    s.turn = 0;
    start(s, launch);
    return;
  }
}

// The team's block lets the next kernel start. known: what the calling thread knows, or all threads if the block ended.
void let_start(Team &team, const View &known) {
  if (std::exchange(team.lets_next_start, true)) return;
  ++team.launch->letting;
  team.launch->at_start.join(known);
}

void end_block(Scheduler &s, Team &team) {
  const bool is_traced = traces() && s.launches.size() > 1;
  const View known = is_traced ? team.block.clocks().release_all() : View();
  let_start(team, known);
  team.launch->at_end.join(known);
  ++team.launch->ended;
  start_next(s);
}

// The next thread of the team that can run; kNobody if the team has nothing left to do.
unsigned pick_of_team(Scheduler &s, Team &team) {
  // Now and then goes on with a random warp, so that some warps get far ahead of others.
  if (interleaves() && team.block.runnable() != 0 && once_in(16)) {
    team.cursor = device().shuffler.below(team.block.size());
    team.block.release_warp_of(team.order[team.cursor]);
  }
  for (;;) {
    while (team.block.runnable() != 0 && team.cursor < team.order.size()) {
      const unsigned thread = team.order[team.cursor++];
      if (team.block.can_run(thread)) return thread;
    }
    team.cursor = 0;
    if (team.block.live() == 0) {
      if (!begin_block(s, team)) return kNobody;
      continue;
    }
    const Block::Released released = team.block.release();
    if (released == Block::Released::barrier) s.idle_polls = 0;
    // A new order in every phase tests more orders than one order for all phases.
    if (is_random() && (released == Block::Released::barrier || (interleaves() && once_in(16))))
      device().shuffler.shuffle(team.order);
  }
}

// The next thread of any team that can run. Its team becomes the current one. kNobody if all threads have exited.
unsigned pick(Scheduler &s) {
  if (interleaves() && s.burst-- == 0) {
    // Short and long bursts, so that blocks also get far ahead of one another.
    s.burst = device().shuffler.below(1u << device().shuffler.below(kMaxLogBurst));
    s.turn = device().shuffler.below(static_cast<std::uint32_t>(s.teams.size()));
  }
  s.team = s.teams[s.turn].get();
  for (std::size_t tried = 0; tried < s.teams.size(); ++tried) {
    block_index = s.team->index;
    if (const unsigned thread = pick_of_team(s, *s.team); thread != kNobody) return thread;
    s.turn = (s.turn + 1) % s.teams.size();
    s.team = s.teams[s.turn].get();
  }
  return kNobody;
}

// Called when a thread polls. Aborts after so many polls without progress that no thread can ever go on.
void check_progress(Scheduler &s) {
  std::size_t live = 0;
  for (const auto &team : s.teams) live += team->block.live();
  if (++s.idle_polls < kIdlePollsPerThread * live) return;
  const Launch &launch = *s.team->launch;
  complain(cudaSuccess,
           "deadlock of a device with %zu resident blocks of this kernel: %zu of its %zu blocks have begun, "
           "and wait "
           "for something that none of them does",
           s.teams.size(), launch.begun, launch.blocks);
  for (const auto &team : s.teams)
    if (team->block.live() != 0) team->block.print_waits(team->index);
  std::abort();
}

void enter(Scheduler &s, unsigned thread) {
  s.current = thread;
  s.team->block.run(thread);
  block_size = s.team->launch->kernel->block;
  grid_size = s.team->launch->kernel->grid;
  block_index = s.team->index;
  thread_index = s.team->block.index(thread);
}

// The current thread exits. Gives its fiber to the next thread that has not begun, which needs no switch, or
// switches to the fiber of a waiting thread.
void leave(Scheduler &s) {
  Fiber &self = *s.team->fibers[s.current];
  s.team->block.leave(s.current);
  s.idle_polls = 0;
  if (s.team->block.live() == 0) end_block(s, *s.team);
  const unsigned next = pick(s);
  if (next != kNobody && s.team->block.state(next) == State::fresh) {
    s.team->fibers[next] = &self;
    enter(s, next);
    return;
  }
  give_back(self);
  if (next != kNobody) enter(s, next);
  self.switch_to(next == kNobody ? *s.host : *s.team->fibers[next]);
}

void run_threads() {
  for (;;) {
    scheduler().team->launch->kernel->thread_body();
    leave(scheduler());
  }
}

// Makes `next`, which pick() returned, the current thread, with a fiber.
Fiber &prepare(Scheduler &s, unsigned next) {
  if (s.team->block.state(next) == State::fresh) s.team->fibers[next] = &borrow_fiber(run_threads);
  enter(s, next);
  return *s.team->fibers[next];
}

}  // namespace

std::uint64_t rendezvous(const Request &request) {
  Scheduler &s = scheduler();
  const unsigned self = s.current;
  Team &own = *s.team;
  own.block.wait(self, request);
  if (request.operation == Operation::poll) {
    check_progress(s);
    // The thread may be waiting for another block: lets that one run sooner.
    s.burst /= 2;
    if (!interleaves()) s.turn = (s.turn + 1) % s.teams.size();
  }
  Fiber &next = prepare(s, pick(s));
  // The thread that switches back has made this thread the current one.
  if (&next != own.fibers[self]) own.fibers[self]->switch_to(next);
  return own.block.result(self);
}

void before_atomic(const void *address, MemoryOrder order) {
  const bool is_global = count_atomic(address);
  if (!interleaves()) return;
  // Few atomics pass results between blocks, and many count or take minima: the first kind switches more often.
  const unsigned rate = order != MemoryOrder::relaxed ? 2 : is_global ? 8 : 64;
  if (once_in(rate)) rendezvous({.operation = Operation::poll, .where = {}});
}

BlockClocks &running_clocks() { return scheduler().team->block.clocks(); }
unsigned running_thread() { return scheduler().current; }
bool is_on_own_stack(const void *address) {
  return scheduler().team->fibers[scheduler().current]->holds(address);
}

void note_change() { scheduler().idle_polls = 0; }

void *dynamic_shared_memory() { return scheduler().team->dynamic_shared->get(); }

void *static_shared_memory(const void *key, std::size_t bytes) {
  auto &variables = scheduler().team->static_shared;
  for (const SharedVariable &variable : variables)
    if (variable.key == key) return variable.memory->get();
  variables.push_back({key, std::make_unique<SharedMemory>(bytes)});
  return variables.back().memory->get();
}

void let_next_kernel_start() {
  Scheduler &s = scheduler();
  if (s.launches.size() == 1) return;
  let_start(*s.team, traces() ? s.team->block.clocks().release(s.current) : View());
  start_next(s);
}

void wait_for_kernel_ahead(std::source_location where) {
  Scheduler &s = scheduler();
  const Launch *ahead = s.team->launch->ahead;
  if (ahead == nullptr) return;
  while (!ahead->has_ended()) {
    s.burst = 0;  // others run meanwhile
    rendezvous({.operation = Operation::poll, .where = where});
  }
  if (traces()) s.team->block.clocks().acquire(s.current, ahead->at_end);
}

bool overlaps_kernels() { return interleaves(); }

void run_kernels(const std::vector<Kernel> &kernels) {
  Scheduler &s = scheduler();
  Fiber host;
  s.host = &host;
  std::uint32_t number = 0;
  for (const Kernel &kernel : kernels) {
    Launch *ahead = s.launches.empty() ? nullptr : &s.launches.back();
    const std::size_t blocks = std::size_t{kernel.grid.x} * kernel.grid.y * kernel.grid.z;
    s.launches.push_back({.kernel = &kernel, .ahead = ahead, .first_number = number, .blocks = blocks});
    number += static_cast<std::uint32_t>(blocks);
  }
  s.team = nullptr;
  s.turn = 0;
  s.burst = 0;
  begin_tracing();
  start_next(s);
  host.switch_to(prepare(s, pick(s)));
  end_tracing();
  s.teams.clear();
  s.launches.clear();
}

}  // namespace simt
