// SPDX-License-Identifier: LGPL-2.1-or-later
// The control panel of the stand-in CUDA driver, for tests. Memory, streams and failures are the emulated runtime's:
// simt.h counts them and plants them for both.
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
// Waits up to ten seconds until none does: threads of GStreamer let go of elements a little after their pipeline is gone.
bool no_context_lives();
// On the stacks of all threads together.
std::size_t pushed_contexts();
// Takes all contexts off the stack of this thread, for what was left there by others.
void clear_stack();
// Devices on which cudaSetDevice made the runtime's own context.
std::size_t runtime_contexts();
// How often primary contexts are retained, on all devices together.
std::size_t retained_primary_contexts();
// What cuDevicePrimaryCtxSetFlags set for the device, 0 at first.
unsigned primary_flags(int device);

// Since the process began.
struct Counters {
  std::uint64_t contexts_created = 0, contexts_destroyed = 0, pushes = 0, pops = 0;

  bool operator==(const Counters &) const = default;
};

Counters counters();

// --- what was done wrong ---

// Each misuse is one line: "cudaMalloc: no context is pushed on this thread". README.md lists them.
std::vector<std::string> misuses();
// Returns the misuses, and forgets them.
std::vector<std::string> take_misuses();

// --- what the driver is like ---

// Whether two devices may access each other's memory; they may not at first.
void allow_peer_access(bool allowed);
// The next `count` contexts cannot be made, by cuCtxCreate or by cuDevicePrimaryCtxRetain.
void fail_contexts(unsigned count, CUresult error);
// Takes back allow_peer_access and fail_contexts, and forgets the misuses.
void reset();

#pragma GCC visibility pop

}  // namespace fakecuda
