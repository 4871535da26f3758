// SPDX-License-Identifier: LGPL-2.1-or-later
// Lazy streams: what is queued runs when the host waits for it, and not before. Needs the device lock.
#pragma once

#include <functional>

#include "tests/simt/cuda_runtime.h"
#include "tests/simt/driver_support.h"

namespace simt {

// Whether it is a stream that the running call may use. Null is one, of the current context.
cudaError_t check_stream(cudaStream_t stream);
// stream must be one.
void enqueue(cudaStream_t stream, std::function<void()> work);
// Runs all that is queued on any stream.
void drain_all();
// Lets the null stream of the current context wait for the context's blocking streams.
void join_streams();
void drain_null_stream();
// What of the streams and events was made in the context.
void count_owned_streams(Context context, Owned *owned);
void release_streams(Context context);
// Forgets all that is queued, as a device does that has failed.
void drop_all();

}  // namespace simt
