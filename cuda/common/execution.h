// SPDX-License-Identifier: LGPL-2.1-or-later
// Where and how a room computes: the backend, and what that backend works with.
#pragma once

#include "cuda/common/status.h"
#include "cuda/common/workers.h"

struct CUstream_st;  // a cudaStream_t points to it; headers that a build without CUDA reads do without CUDA's

namespace cudavision {

enum class Backend { cpu, cuda };

struct Execution {
  Backend backend = Backend::cpu;
  const Workers *workers = nullptr;  // CPU: outlives every room made with it
  CUstream_st *stream = nullptr;     // CUDA: never the default stream; its device is current in every call
};

}  // namespace cudavision
