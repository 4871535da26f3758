// SPDX-License-Identifier: LGPL-2.1-or-later
// Where an algorithm computes: the backend with its threads (CPU) or its stream (CUDA).
#pragma once

#include "cuda/common/status.h"
#include "cuda/common/workers.h"

// cudaStream_t is a pointer to this type. Declared here because a build without CUDA has no CUDA headers.
struct CUstream_st;

namespace cudavision {

enum class Backend { cpu, cuda };

// When the input of an algorithm is complete in device memory. CPU: not used, the input is read during the call.
enum class Input {
  in_stream_order,  // when the work that was enqueued on the stream before the call is done
  complete,         // at the call: kernels may read it while earlier work of the stream still runs
};

struct Execution {
  Backend backend = Backend::cpu;
  // CPU: the threads. They must outlive every algorithm constructed with them.
  const Workers *workers = nullptr;
  // CUDA: the stream, never the default stream. Its context must be current in every call.
  CUstream_st *stream = nullptr;
  // Set by another thread to stop long work; may be null. `workers` has the same flag.
  const StopFlag *stop = nullptr;
};

}  // namespace cudavision
