// SPDX-License-Identifier: LGPL-2.1-or-later
// Lazy streams: queued work runs only when the host waits for it. All functions need the device lock.
#pragma once

#include <functional>

#include "tests/simt/cuda_runtime.h"
#include "tests/simt/driver_support.h"

namespace simt {

// Returns an error unless the running call may use the stream. Null is the current context's stream.
cudaError_t check_stream(cudaStream_t stream);
// stream must be valid.
void enqueue(cudaStream_t stream, std::function<void()> work);
// Runs all work queued on any stream.
void drain_all();
// Makes the null stream of the current context wait for the context's blocking streams.
void join_streams();
void drain_null_stream();
// Adds the streams and events that were made in the context to `owned`.
void count_owned_streams(Context context, Owned *owned);
void release_streams(Context context);
// Drops all queued work, as a failed device does.
void drop_all();

}  // namespace simt
