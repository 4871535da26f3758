// SPDX-License-Identifier: LGPL-2.1-or-later
// Keeps a lock of the CUDA driver free for threads that allocate, while many others launch kernels.
//
// The driver guards a context with a read-write lock. Kernel launches take it for reading. Allocations, frees and the
// creation of streams and events take it for writing. If many threads launch, at least one of them holds the lock at
// any time, and a writer starves: of 64 streams that ran at full speed, several did not get their first event within 20
// seconds (measured on an H100). Therefore no launch begins while a thread of this plugin allocates. GStreamer
// allocates, too, and cannot announce it: for its sake, only some threads launch at the same time.
#pragma once

#include <atomic>

namespace cudavision {

// The gate of a device. The contexts of a device share it. Thread-safe.
class LaunchGate {
 public:
  // At most this many threads launch kernels at the same time. With 12 or more, a pipeline that started beside 64
  // others got no memory from GStreamer within 20 seconds; with 8 or less it took 4 to 7 ms (measured on an H200).
  static constexpr int kMostLaunching = 6;
  // Whether at most this many elements work: see few_elements_work().
  static constexpr int kFewElements = 4;

  // Never destroyed: threads may launch, and wait, while the process exits.
  static LaunchGate &of_device(int device_id);
  // The gate of the device in whose context this thread works, as the last call of set_current() has said; or null.
  static LaunchGate *current();
  // Returns what current() was before.
  static LaunchGate *set_current(LaunchGate *gate);

  // Elements that wait for their frames leave the lock free meanwhile. Only if few elements work may they launch the
  // next frame while the GPU still works on the last one.
  bool few_elements_work() const { return elements_ <= kFewElements; }

 private:
  friend class LaunchTurn;
  friend class Allocation;
  friend class WorkingElement;

  void begin_launch();
  void end_launch();
  void end_allocation();

  std::atomic<int> elements_ = 0, launching_ = 0, allocating_ = 0;
};

// Exists while an element works on the device.
class WorkingElement {
 public:
  explicit WorkingElement(LaunchGate &gate) : gate_(gate) { ++gate.elements_; }
  ~WorkingElement() { --gate_.elements_; }
  WorkingElement(const WorkingElement &) = delete;
  WorkingElement &operator=(const WorkingElement &) = delete;

  LaunchGate &gate() const { return gate_; }

 private:
  LaunchGate &gate_;
};

// Exists while a thread launches the kernels of a frame. The constructor waits while a thread allocates, and while
// kMostLaunching threads launch. Without one of these reasons it takes no lock and makes no system call.
class LaunchTurn {
 public:
  explicit LaunchTurn(LaunchGate &gate) : gate_(gate) { gate.begin_launch(); }
  ~LaunchTurn() { gate_.end_launch(); }
  LaunchTurn(const LaunchTurn &) = delete;
  LaunchTurn &operator=(const LaunchTurn &) = delete;

 private:
  LaunchGate &gate_;
};

// Exists while a thread calls a function of the driver that needs the lock for writing. It does not wait: the launches
// that have begun end soon. It may be made during a LaunchTurn of the same thread, but not the other way round. Without
// a gate it does nothing.
class Allocation {
 public:
  explicit Allocation(LaunchGate *gate = LaunchGate::current()) : gate_(gate) {
    if (gate_ != nullptr) ++gate_->allocating_;
  }
  ~Allocation() {
    if (gate_ != nullptr) gate_->end_allocation();
  }
  Allocation(const Allocation &) = delete;
  Allocation &operator=(const Allocation &) = delete;

 private:
  LaunchGate *gate_;
};

}  // namespace cudavision
