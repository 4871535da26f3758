// SPDX-License-Identifier: LGPL-2.1-or-later
// Decides which thread of which block runs next, and switches to its fiber.
#include "scheduler.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "block.h"
#include "device.h"
#include "fiber.h"

namespace simt {

uint3 thread_index, block_index;
dim3 block_size, grid_size;

namespace {

constexpr unsigned kNobody = ~0u;
// Stale shared memory must not look like zeros.
constexpr int kStaleByte = 0xcb;
constexpr std::size_t kSharedAlignment = 128;

struct Scheduler {
  Block block;
  std::vector<unsigned> order;  // in which the threads take turns
  std::size_t cursor = 0;
  std::vector<Fiber *> fibers;  // of each thread that has begun
  unsigned current = kNobody;
  Fiber *host = nullptr;
  const std::function<void()> *thread_body = nullptr;
  void *dynamic_shared = nullptr;
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

// The next thread that can run; kNobody when all have left.
unsigned pick(Scheduler &s) {
  for (;;) {
    while (s.cursor < s.order.size()) {
      const unsigned thread = s.order[s.cursor++];
      if (s.block.can_run(thread)) return thread;
    }
    if (s.block.live() == 0) return kNobody;
    const Block::Released released = s.block.release();
    // A new order in every phase shows more than one for all.
    if (released == Block::Released::barrier && device().schedule.order == Order::shuffled)
      device().shuffler.shuffle(s.order);
    s.cursor = 0;
  }
}

void enter(Scheduler &s, unsigned thread) {
  s.current = thread;
  s.block.run(thread);
  thread_index = s.block.index(thread);
}

// The present thread has left: gives its fiber to the next fresh thread, which costs no switch, or goes to
// the fiber of one that waited.
void leave(Scheduler &s) {
  Fiber &self = *s.fibers[s.current];
  s.block.leave(s.current);
  const unsigned next = pick(s);
  if (next != kNobody && s.block.state(next) == State::fresh) {
    s.fibers[next] = &self;
    enter(s, next);
    return;
  }
  give_back(self);
  if (next != kNobody) enter(s, next);
  self.switch_to(next == kNobody ? *s.host : *s.fibers[next]);
}

void run_threads() {
  for (;;) {
    (*scheduler().thread_body)();
    leave(scheduler());
  }
}

void run_block(Scheduler &s) {
  s.block.restart();
  make_order(s.order, s.block.size());
  s.cursor = 0;
  const unsigned first = pick(s);
  s.fibers[first] = &borrow_fiber(run_threads);
  enter(s, first);
  s.host->switch_to(*s.fibers[first]);
}

class DynamicShared {
 public:
  explicit DynamicShared(std::size_t bytes) : bytes_(bytes) {
    // Of exactly this size, so that AddressSanitizer's red zone begins right behind it.
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

std::vector<unsigned> shuffled_blocks(std::size_t count) {
  std::vector<unsigned> blocks;
  if (device().schedule.order == Order::shuffled) make_order(blocks, count);
  return blocks;
}

}  // namespace

std::uint64_t rendezvous(const Request &request) {
  Scheduler &s = scheduler();
  const unsigned self = s.current;
  s.block.wait(self, request);
  const unsigned next = pick(s);
  if (s.block.state(next) == State::fresh) s.fibers[next] = &borrow_fiber(run_threads);
  enter(s, next);
  // Whoever switches back has made this thread the current one again.
  if (next != self) s.fibers[self]->switch_to(*s.fibers[next]);
  return s.block.result(self);
}

void *dynamic_shared_memory() { return scheduler().dynamic_shared; }

void run_kernel(const Kernel &kernel) {
  Scheduler &s = scheduler();
  Fiber host;
  DynamicShared dynamic_shared(kernel.dynamic_shared_bytes);
  block_size = kernel.block;
  grid_size = kernel.grid;
  s.block.resize(kernel.block);
  s.fibers.resize(s.block.size());
  s.host = &host;
  s.thread_body = &kernel.thread_body;
  s.dynamic_shared = dynamic_shared.get();

  const std::size_t count = std::size_t{kernel.grid.x} * kernel.grid.y * kernel.grid.z;
  const std::vector<unsigned> shuffled = shuffled_blocks(count);
  for (std::size_t turn = 0; turn < count; ++turn) {
    std::size_t i = turn;
    if (device().schedule.order == Order::reverse) i = count - 1 - turn;
    if (!shuffled.empty()) i = shuffled[turn];
    const std::size_t row = i / kernel.grid.x;
    block_index = {static_cast<unsigned>(i % kernel.grid.x), static_cast<unsigned>(row % kernel.grid.y),
                   static_cast<unsigned>(row / kernel.grid.y)};
    dynamic_shared.make_stale();
    run_block(s);
  }
}

}  // namespace simt
