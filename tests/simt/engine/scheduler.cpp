// SPDX-License-Identifier: LGPL-2.1-or-later
// Decides which thread of which block runs next and switches to its fiber.
#include "tests/simt/engine/scheduler.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "tests/simt/engine/block.h"
#include "tests/simt/engine/device.h"
#include "tests/simt/engine/fiber.h"

namespace simt {

uint3 thread_index, block_index;
dim3 block_size, grid_size;

namespace {

constexpr unsigned kNobody = ~0u;
// Stale shared memory must not look like zeros.
constexpr int kStaleByte = 0xcb;
constexpr std::size_t kSharedAlignment = 128;

class DynamicShared {
 public:
  explicit DynamicShared(std::size_t bytes) : bytes_(bytes) {
    // Allocates exactly this size, so that AddressSanitizer's red zone begins right after it.
    if (bytes != 0 && posix_memalign(&memory_, kSharedAlignment, bytes) != 0) std::abort();
  }
  DynamicShared(const DynamicShared &) = delete;
  DynamicShared &operator=(const DynamicShared &) = delete;
  ~DynamicShared() { std::free(memory_); }

  void make_stale() {
    if (bytes_ != 0) std::memset(memory_, kStaleByte, bytes_);
  }
  void *get() const { return memory_; }

 private:
  void *memory_ = nullptr;
  std::size_t bytes_;
};

// A block that has begun.
struct Team {
  Block block;
  uint3 index{};
  std::vector<unsigned> order;  // the order in which the threads take turns
  std::size_t cursor = 0;
  std::vector<Fiber *> fibers;  // one for each thread that has begun
  bool parked = false;          // all threads wait at the grid's barrier
  std::unique_ptr<DynamicShared> dynamic_shared;
};

struct Scheduler {
  std::vector<Team> teams;  // concurrent blocks: one, or all blocks of a cooperative kernel
  std::vector<unsigned> team_order;
  std::size_t team_cursor = 0;
  Team *team = nullptr;  // the team whose turn it is
  bool cooperative = false;
  unsigned current = kNobody;
  Fiber *host = nullptr;
  const std::function<void()> *thread_body = nullptr;
};

Scheduler &scheduler() {
  static auto &instance = *new Scheduler;
  return instance;
}

void make_order(std::vector<unsigned> &order, std::size_t size) {
  order.resize(size);
  std::iota(order.begin(), order.end(), 0u);
  switch (device().schedule.order) {
    case Order::forward:
      break;
    case Order::reverse:
      std::reverse(order.begin(), order.end());
      break;
    case Order::shuffled:
      device().shuffler.shuffle(order);
      break;
  }
}

// The next ready thread of the team; kNobody if all threads have exited or wait for other blocks.
unsigned pick_of_team(Team &team) {
  for (;;) {
    while (team.cursor < team.order.size()) {
      const unsigned thread = team.order[team.cursor++];
      if (team.block.can_run(thread)) return thread;
    }
    if (team.block.live() == 0) return kNobody;
    const Block::Released released = team.block.release();
    team.parked = released == Block::Released::nobody;
    if (team.parked) return kNobody;
    // A new order in every phase tests more orders than one order for all phases.
    if (released == Block::Released::barrier && device().schedule.order == Order::shuffled)
      device().shuffler.shuffle(team.order);
    team.cursor = 0;
  }
}

// Call this if all teams wait at the grid's barrier or have exited.
void release_grid(Scheduler &s) {
  if (!s.cooperative) s.team->block.die("grid barrier of a kernel that was not launched cooperatively");
  for (Team &team : s.teams) {
    if (team.parked) continue;
    for (const Team &waiting : s.teams)
      if (waiting.parked) {
        block_index = waiting.index;
        waiting.block.die("divergent grid barrier: a block has left");
      }
  }
  for (Team &team : s.teams) {
    block_index = team.index;
    team.block.release_grid_barrier();
    team.parked = false;
    team.cursor = 0;
    if (device().schedule.order == Order::shuffled) device().shuffler.shuffle(team.order);
  }
  if (device().schedule.order == Order::shuffled) device().shuffler.shuffle(s.team_order);
}

// The next ready thread of any team, which becomes the current team. kNobody if all threads have exited.
unsigned pick(Scheduler &s) {
  if (const unsigned thread = pick_of_team(*s.team); thread != kNobody) return thread;
  for (;;) {
    while (s.team_cursor < s.team_order.size()) {
      Team &team = s.teams[s.team_order[s.team_cursor++]];
      if (team.block.live() == 0 || team.parked) continue;
      s.team = &team;
      block_index = team.index;
      if (const unsigned thread = pick_of_team(team); thread != kNobody) return thread;
    }
    bool waiting = false;
    for (const Team &team : s.teams) waiting |= team.parked;
    if (!waiting) return kNobody;
    release_grid(s);
    s.team_cursor = 0;
  }
}

void enter(Scheduler &s, unsigned thread) {
  s.current = thread;
  s.team->block.run(thread);
  block_index = s.team->index;
  thread_index = s.team->block.index(thread);
}

// The current thread exits. Gives its fiber to the next thread that has not begun, which needs no switch, or
// switches to the fiber of a waiting thread.
void leave(Scheduler &s) {
  Fiber &self = *s.team->fibers[s.current];
  s.team->block.leave(s.current);
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
    (*scheduler().thread_body)();
    leave(scheduler());
  }
}

// Runs as many blocks concurrently as there are teams, beginning with this turn. block_of(turn): the number
// of the block.
template <typename BlockOf>
void run_teams(Scheduler &s, const dim3 &grid, std::size_t turn, const BlockOf &block_of) {
  for (Team &team : s.teams) {
    const std::size_t block = block_of(turn++), row = block / grid.x;
    team.index = {static_cast<unsigned>(block % grid.x), static_cast<unsigned>(row % grid.y),
                  static_cast<unsigned>(row / grid.y)};
    team.dynamic_shared->make_stale();
    team.block.restart();
    make_order(team.order, team.block.size());
    team.cursor = 0;
    team.parked = false;
  }
  s.team_order.resize(s.teams.size());
  std::iota(s.team_order.begin(), s.team_order.end(), 0u);
  s.team_cursor = 1;
  s.team = &s.teams[0];
  block_index = s.team->index;
  const unsigned first = pick(s);
  s.team->fibers[first] = &borrow_fiber(run_threads);
  enter(s, first);
  s.host->switch_to(*s.team->fibers[first]);
}

}  // namespace

std::uint64_t rendezvous(const Request &request) {
  Scheduler &s = scheduler();
  const unsigned self = s.current;
  Team &own = *s.team;
  own.block.wait(self, request);
  const unsigned next = pick(s);
  Team &team = *s.team;
  if (team.block.state(next) == State::fresh) team.fibers[next] = &borrow_fiber(run_threads);
  enter(s, next);
  // The thread that switches back has made this thread the current one.
  if (&team != &own || next != self) own.fibers[self]->switch_to(*team.fibers[next]);
  return own.block.result(self);
}

void *dynamic_shared_memory() { return scheduler().team->dynamic_shared->get(); }

void run_kernel(const Kernel &kernel) {
  Scheduler &s = scheduler();
  Fiber host;
  block_size = kernel.block;
  grid_size = kernel.grid;
  s.host = &host;
  s.thread_body = &kernel.thread_body;
  const std::size_t count = std::size_t{kernel.grid.x} * kernel.grid.y * kernel.grid.z;
  std::vector<unsigned> shuffled;
  if (device().schedule.order == Order::shuffled) make_order(shuffled, count);
  const auto block_of = [&](std::size_t turn) {
    if (!shuffled.empty()) return std::size_t{shuffled[turn]};
    return device().schedule.order == Order::reverse ? count - 1 - turn : turn;
  };
  s.cooperative = kernel.cooperative;
  s.teams.resize(kernel.cooperative ? count : 1);
  for (Team &team : s.teams) {
    team.block.resize(kernel.block);
    team.fibers.resize(team.block.size());
    team.dynamic_shared = std::make_unique<DynamicShared>(kernel.dynamic_shared_bytes);
  }
  for (std::size_t turn = 0; turn < count; turn += s.teams.size()) run_teams(s, kernel.grid, turn, block_of);
  for (Team &team : s.teams) team.dynamic_shared.reset();
}

}  // namespace simt
