// SPDX-License-Identifier: LGPL-2.1-or-later
// Contexts: made and destroyed, with a stack for each thread. If the documentation does not say what a call
// returns, the results are those measured on an H200.
#include "tests/fakecuda/driver/driver.h"

namespace fakecuda {
namespace {

void push(CUcontext context) {
  stack().push_back(context);
  ++context->pushes;
  ++driver().counters.pushes;
}

CUcontext pop() {
  const CUcontext context = stack().back();
  stack().pop_back();
  if (context->pushes > 0) --context->pushes;  // the runtime's own context is not pushed
  ++driver().counters.pops;
  return context;
}

// Needs the lock.
CUresult make(CUcontext *context, CUdevice device) {
  Driver &d = driver();
  if (d.contexts_to_fail > 0) {
    --d.contexts_to_fail;
    return d.context_failure;
  }
  *context = &d.contexts.emplace_back();
  (*context)->device = device;
  ++d.counters.contexts_created;
  return CUDA_SUCCESS;
}

CUresult create(CUcontext *context, CUdevice device) {
  const std::lock_guard lock(driver().mutex);
  const CUresult result = make(context, device);
  if (result == CUDA_SUCCESS) push(*context);
  return result;
}

CUresult retain(CUcontext *context, CUdevice device) {
  Driver &d = driver();
  const std::lock_guard lock(d.mutex);
  if (!d.primary_contexts.contains(device)) {
    if (const CUresult result = make(context, device); result != CUDA_SUCCESS) return result;
    d.primary_contexts[device] = *context;
  }
  *context = d.primary_contexts[device];
  ++(*context)->retained;
  return CUDA_SUCCESS;
}

// Takes the context out of use; its objects still exist. Needs the lock.
void end(const std::string &call, CUcontext context) {
  Driver &d = driver();
  context->destroyed = true;
  ++d.counters.contexts_destroyed;
  if (context->pushes > 0)
    d.misuses.push_back(call + ": the context is still pushed, " + std::to_string(context->pushes) +
                        " times");
}

CUresult retire(CUcontext context) {
  Driver &d = driver();
  const std::lock_guard lock(d.mutex);
  if (!is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
  if (context->destroyed) {
    d.misuses.push_back("cuCtxDestroy: the context is destroyed already");
    return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  }
  if (context->retained > 0) {
    d.misuses.push_back("cuCtxDestroy: a primary context is released, not destroyed");
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  if (current_context() == context) pop();  // not done by the last release of a primary context
  end("cuCtxDestroy", context);
  return CUDA_SUCCESS;
}

// Undoes one retain(). The last one ends the primary context, which is then stored in `ended`; otherwise
// `ended` is null.
CUresult release_primary(CUdevice device, CUcontext *ended) {
  Driver &d = driver();
  const std::lock_guard lock(d.mutex);
  const auto primary = d.primary_contexts.find(device);
  if (primary == d.primary_contexts.end()) {
    d.misuses.push_back("cuDevicePrimaryCtxRelease: the primary context is not retained");
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  if (--primary->second->retained > 0) return CUDA_SUCCESS;
  *ended = primary->second;
  d.primary_contexts.erase(primary);
  end("cuDevicePrimaryCtxRelease", *ended);
  return CUDA_SUCCESS;
}

std::string describe(const simt::Owned &owned) {
  return std::to_string(owned.allocations) + " allocations, " + std::to_string(owned.host_allocations) +
         " host allocations, " + std::to_string(owned.streams) + " streams and " +
         std::to_string(owned.events) + " events";
}

// Frees the remaining objects of an ended context and reports them.
void free_leftovers(const std::string &call, CUcontext context) {
  const auto id = reinterpret_cast<simt::Context>(context);
  if (const simt::Owned owned = simt::owned_by(id); owned != simt::Owned{})
    report_misuse(call + ": of the context's own there live " + describe(owned));
  simt::release(id);
}

}  // namespace
}  // namespace fakecuda

using fakecuda::api;
using fakecuda::driver;
using fakecuda::Needs;

CUresult cuCtxCreate(CUcontext *context, unsigned flags, CUdevice device) {
  return api("cuCtxCreate", Needs::initialisation, [=] {
    if (context == nullptr || (flags & ~unsigned{CU_CTX_FLAGS_MASK}) != 0) return CUDA_ERROR_INVALID_VALUE;
    if (device < 0 || device >= simt::device_count()) return CUDA_ERROR_INVALID_DEVICE;
    if (simt::lost() != cudaSuccess) return fakecuda::to_result(simt::lost());
    return fakecuda::create(context, device);
  });
}

CUresult cuCtxDestroy(CUcontext context) {
  return api("cuCtxDestroy", Needs::initialisation, [=] {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult result = fakecuda::retire(context); result != CUDA_SUCCESS) return result;
    fakecuda::free_leftovers("cuCtxDestroy", context);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  return api("cuDevicePrimaryCtxRetain", Needs::initialisation, [=] {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (device < 0 || device >= simt::device_count()) return CUDA_ERROR_INVALID_DEVICE;
    if (simt::lost() != cudaSuccess) return fakecuda::to_result(simt::lost());
    return fakecuda::retain(context, device);
  });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return api("cuDevicePrimaryCtxRelease", Needs::initialisation, [=] {
    CUcontext ended = nullptr;
    const CUresult result = fakecuda::release_primary(device, &ended);
    if (ended != nullptr) fakecuda::free_leftovers("cuDevicePrimaryCtxRelease", ended);
    return result;
  });
}

// A destroyed context can be pushed; calls that need a context then fail.
CUresult cuCtxPushCurrent(CUcontext context) {
  return api("cuCtxPushCurrent", Needs::initialisation, [=] {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(driver().mutex);
    if (!fakecuda::is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
    if (context->destroyed) driver().misuses.push_back("cuCtxPushCurrent: the context is destroyed");
    fakecuda::push(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPopCurrent(CUcontext *context) {
  return api("cuCtxPopCurrent", Needs::initialisation, [=] {
    const std::lock_guard lock(driver().mutex);
    if (fakecuda::stack().empty()) {
      driver().misuses.push_back("cuCtxPopCurrent: no context is pushed on this thread");
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    const CUcontext popped = fakecuda::pop();
    if (context != nullptr) *context = popped;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  return api("cuCtxGetCurrent", Needs::initialisation, [=] {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *context = fakecuda::current_context();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize() {
  return api("cuCtxSynchronize", Needs::context, [] { return cudaDeviceSynchronize(); });
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return api("cuCtxEnablePeerAccess", Needs::context, [=] {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(driver().mutex);
    const CUcontext context = fakecuda::current_context();
    if (!fakecuda::is_context(peer) || peer->destroyed) return CUDA_ERROR_INVALID_CONTEXT;
    if (!driver().peer_access || peer->device == context->device) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    return context->peers.insert(peer).second ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
  });
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  return api("cuCtxDisablePeerAccess", Needs::context, [=] {
    const std::lock_guard lock(driver().mutex);
    if (!fakecuda::is_context(peer)) return CUDA_ERROR_INVALID_CONTEXT;
    const bool enabled = fakecuda::current_context()->peers.erase(peer) != 0;
    return enabled ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
  });
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
  return api("cuCtxGetLimit", Needs::context, [=] {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (limit != CU_LIMIT_STACK_SIZE) return CUDA_ERROR_UNSUPPORTED_LIMIT;
    *value = fakecuda::current_context()->stack_bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return api("cuCtxSetLimit", Needs::context, [=] {
    if (limit != CU_LIMIT_STACK_SIZE) return CUDA_ERROR_UNSUPPORTED_LIMIT;
    fakecuda::current_context()->stack_bytes = value;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
  return api("cuDevicePrimaryCtxGetState", Needs::initialisation, [=] {
    if (device < 0 || device >= simt::device_count()) return CUDA_ERROR_INVALID_DEVICE;
    const std::lock_guard lock(driver().mutex);
    *flags = driver().primary_flags[device];
    *active = driver().primary_contexts.contains(device);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return api("cuDevicePrimaryCtxSetFlags", Needs::initialisation, [=] {
    if (device < 0 || device >= simt::device_count()) return CUDA_ERROR_INVALID_DEVICE;
    if ((flags & ~unsigned{CU_CTX_FLAGS_MASK}) != 0) return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(driver().mutex);
    driver().primary_flags[device] = flags;
    return CUDA_SUCCESS;
  });
}
