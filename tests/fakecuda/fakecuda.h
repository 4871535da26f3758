// SPDX-License-Identifier: LGPL-2.1-or-later
// The control panel of the stand-in CUDA driver, for tests. Memory, streams and failures are those of the
// emulated runtime: simt.h counts and injects them for both.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fakecuda {

#pragma GCC visibility push(default)

// --- contexts ---

std::size_t live_contexts();
// Waits up to ten seconds until no context exists: GStreamer's threads release elements a little after their
// pipeline is gone.
bool no_context_lives();
// Number of entries on the stacks of all threads.
std::size_t pushed_contexts();
// Empties the stack of this thread, for entries left by other code.
void clear_stack();
// Number of devices on which cudaSetDevice made the runtime's own context.
std::size_t runtime_contexts();
// Sum of the retain counts of the primary contexts of all devices.
std::size_t retained_primary_contexts();
// The flags that cuDevicePrimaryCtxSetFlags set for the device; initially 0.
unsigned primary_flags(int device);

// Counted since the start of the process.
struct Counters {
  std::uint64_t contexts_created = 0, contexts_destroyed = 0, pushes = 0, pops = 0;

  bool operator==(const Counters &) const = default;
};

Counters counters();

// --- misuses ---

// Each misuse is one line: "cudaMalloc: no context is pushed on this thread". README.md lists them.
std::vector<std::string> misuses();
// Returns the misuses and forgets them.
std::vector<std::string> take_misuses();

// --- the driver's behaviour ---

// Allows or forbids that two devices access each other's memory; initially forbidden.
void allow_peer_access(bool allowed);
// Makes the next `count` calls of cuCtxCreate or cuDevicePrimaryCtxRetain that make a context fail.
void fail_contexts(unsigned count, CUresult error);
// Undoes allow_peer_access and fail_contexts, and forgets the misuses.
void reset();

#pragma GCC visibility pop

}  // namespace fakecuda
