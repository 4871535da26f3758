// SPDX-License-Identifier: LGPL-2.1-or-later
// The state of the stand-in driver, and the common frame of its calls.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tests/fakecuda/fakecuda.h"
#include "tests/fakecuda/include/cuda.h"
#include "tests/simt/cuda_runtime.h"
#include "tests/simt/driver_support.h"
#include "tests/simt/simt.h"

struct CUctx_st {
  CUdevice device = 0;
  bool destroyed = false;
  std::size_t retained = 0;  // retain count of a primary context
  std::size_t pushes = 0;    // number of entries on the stacks of all threads
  std::size_t stack_bytes = 1024;
  std::set<CUcontext> peers;
};

namespace fakecuda {

struct Driver {
  std::mutex mutex;
  bool initialised = false;
  bool peer_access = false;
  unsigned contexts_to_fail = 0;
  CUresult context_failure = CUDA_SUCCESS;
  // Includes destroyed contexts: a handle is never reused.
  std::deque<CUctx_st> contexts;
  std::map<CUdevice, CUctx_st> runtime_contexts;   // made by cudaSetDevice
  std::map<CUdevice, CUcontext> primary_contexts;  // retained ones, each one of `contexts`
  std::map<CUdevice, unsigned> primary_flags;
  std::vector<std::string> misuses;
  Counters counters;
};

// The state of the driver. Its mutex is taken after the emulated runtime's, and never held during a runtime call.
Driver &driver();

// The stack of contexts of this thread, the current one last.
std::vector<CUcontext> &stack();
CUcontext current_context();
// Returns true if the context exists and is not the runtime's own. Needs the lock.
bool is_context(CUcontext context);
void report_misuse(const std::string &text);

// The check that the runtime calls for each of its calls. The driver's own calls pass.
simt::ContextCheck *runtime_check();

class DriverCall {
 public:
  DriverCall();
  DriverCall(const DriverCall &) = delete;
  DriverCall &operator=(const DriverCall &) = delete;
  ~DriverCall();

 private:
  cudaError_t last_error_;
};

enum class Needs { nothing, initialisation, no_destroyed_context, context };

// Returns CUDA_SUCCESS if the call may proceed.
CUresult admit(const char *call, Needs needs);
CUresult to_result(cudaError_t error);
inline CUresult to_result(CUresult result) { return result; }

// Runs the body of a driver call. The body returns a CUresult or the result of a runtime call.
template <class Body>
CUresult api(const char *name, Needs needs, Body body) {
  if (const CUresult result = admit(name, needs); result != CUDA_SUCCESS) return result;
  const DriverCall scope;
  return to_result(body());
}

}  // namespace fakecuda
