// SPDX-License-Identifier: LGPL-2.1-or-later
// The amount of memory that a backend can use.
#include "cuda/common/available_memory.h"

#include <unistd.h>

#include "cuda/common/backends.h"
#if CUDAVISION_HAVE_CUDA
#include "cuda/common/check.h"
#endif

namespace cudavision {
namespace {

Status available_on_host(const Execution &, std::size_t *bytes) {
  *bytes =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return {};
}

#if CUDAVISION_HAVE_CUDA
Status available_on_device(const Execution &, std::size_t *bytes) {
  std::size_t total_bytes = 0;
  return CUDAVISION_CHECK_CUDA(cudaMemGetInfo(bytes, &total_bytes));
}
#endif

}  // namespace

Status available_memory(const Execution &execution, std::size_t *bytes) {
  return run_on_backend(execution, available_on_host, CUDAVISION_IF_CUDA(available_on_device), bytes);
}

}  // namespace cudavision
