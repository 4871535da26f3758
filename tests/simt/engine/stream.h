// SPDX-License-Identifier: LGPL-2.1-or-later
// Lazy streams: what is queued runs when the host waits for it, and not before. Needs the device lock.
#pragma once

#include <functional>

#include "../cuda_runtime.h"

namespace simt {

bool is_stream(cudaStream_t stream);
// stream must be one.
void enqueue(cudaStream_t stream, std::function<void()> work);
// Runs all that is queued on any stream.
void drain_all();
// Forgets all that is queued, as a device does that has failed.
void drop_all();

}  // namespace simt
