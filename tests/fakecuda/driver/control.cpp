// SPDX-License-Identifier: LGPL-2.1-or-later
// The control panel, the stacks of contexts, and the checks of the runtime's calls.
#include <chrono>
#include <thread>
#include <utility>

#include "tests/fakecuda/driver/driver.h"

namespace fakecuda {
namespace {

thread_local int driver_calls = 0;  // nesting depth of this thread's driver calls

struct Stack {
  std::vector<CUcontext> contexts;

  // Empties the stack and returns the number of its entries. Needs the lock.
  std::size_t clear() {
    std::size_t pushed = 0;
    for (const CUcontext context : contexts) pushed += is_context(context) && context->pushes-- > 0;
    contexts.clear();
    return pushed;
  }

  // A thread that ends releases its stack, as on a real driver.
  ~Stack() {
    const std::lock_guard lock(driver().mutex);
    if (const std::size_t left = clear(); left != 0)
      driver().misuses.push_back("a thread ended with " + std::to_string(left) + " contexts pushed");
  }
};

class RuntimeCheck final : public simt::ContextCheck {
 public:
  simt::Context current() const override { return reinterpret_cast<simt::Context>(current_context()); }

  int device() const override {
    const CUcontext context = current_context();
    return context == nullptr ? 0 : context->device;
  }

  bool is_drivers_own() const override { return driver_calls > 0; }

  cudaError_t enter(const char *call) override {
    if (driver_calls > 0) return cudaSuccess;
    const CUcontext context = current_context();
    if (context == nullptr) {
      report_misuse(std::string(call) + ": no context is pushed on this thread");
      return cudaErrorDeviceUninitialized;
    }
    const std::lock_guard lock(driver().mutex);
    if (!context->destroyed) return cudaSuccess;
    driver().misuses.push_back(std::string(call) + ": the current context is destroyed");
    return cudaErrorContextIsDestroyed;
  }

  cudaError_t use(const char *call, simt::Object object, simt::Context owner) override {
    if (driver_calls > 0 || owner == current()) return cudaSuccess;
    switch (object) {
      case simt::Object::stream:
        report_misuse(std::string(call) + ": the stream was made in another context");
        return cudaErrorInvalidResourceHandle;
      // On one device, memory of another context works, although it should not be used.
      case simt::Object::device_memory:
        report_misuse(std::string(call) + ": the memory was made in another context");
        break;
      case simt::Object::host_memory:
        report_misuse(std::string(call) + ": the host memory was made in another context");
        break;
    }
    return cudaSuccess;
  }

  // From CUDA 12 on, cudaSetDevice makes the runtime's own context and replaces the current one by it.
  cudaError_t set_device(int device) override {
    Driver &d = driver();
    auto &contexts = stack();
    const std::lock_guard lock(d.mutex);
    if (!contexts.empty() && is_context(contexts.back()) && !contexts.back()->destroyed) {
      d.misuses.push_back("cudaSetDevice: would take the place of the context that is pushed");
      return cudaErrorIncompatibleDriverContext;
    }
    CUctx_st &primary = d.runtime_contexts[device];
    primary.device = device;
    if (contexts.empty())
      contexts.push_back(nullptr);
    else if (is_context(contexts.back()))
      --contexts.back()->pushes;
    contexts.back() = &primary;
    return cudaSuccess;
  }
};

}  // namespace

Driver &driver() {
  // Never destroyed: threads may end after main().
  static auto &instance = *new Driver;
  return instance;
}

Stack &this_stack() {
  thread_local Stack stack;
  return stack;
}

std::vector<CUcontext> &stack() { return this_stack().contexts; }

void clear_stack() {
  Stack &stack = this_stack();
  const std::lock_guard lock(driver().mutex);
  stack.clear();
}

CUcontext current_context() { return stack().empty() ? nullptr : stack().back(); }

bool is_context(CUcontext context) {
  for (const CUctx_st &known : driver().contexts)
    if (&known == context) return true;
  return false;
}

void report_misuse(const std::string &text) {
  const std::lock_guard lock(driver().mutex);
  driver().misuses.push_back(text);
}

simt::ContextCheck *runtime_check() {
  static RuntimeCheck check;
  return &check;
}

DriverCall::DriverCall() : last_error_(cudaPeekAtLastError()) { ++driver_calls; }

// Clears a runtime error that the driver call has caused: cudaGetLastError() does not return errors of driver calls.
DriverCall::~DriverCall() {
  --driver_calls;
  if (last_error_ == cudaSuccess) (void)cudaGetLastError();
}

CUresult admit(const char *call, Needs needs) {
  if (needs == Needs::nothing) return CUDA_SUCCESS;
  Driver &d = driver();
  const CUcontext context = current_context();
  const std::lock_guard lock(d.mutex);
  if (!d.initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (needs == Needs::initialisation) return CUDA_SUCCESS;
  if (context != nullptr && context->destroyed) {
    d.misuses.push_back(std::string(call) + ": the current context is destroyed");
    return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  }
  if (context != nullptr || needs == Needs::no_destroyed_context) return CUDA_SUCCESS;
  d.misuses.push_back(std::string(call) + ": no context is pushed on this thread");
  return CUDA_ERROR_INVALID_CONTEXT;
}

CUresult to_result(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidConfiguration:
      return CUDA_ERROR_INVALID_VALUE;
    default:
      return static_cast<CUresult>(error);  // the other errors have the same value in both
  }
}

std::size_t live_contexts() {
  const std::lock_guard lock(driver().mutex);
  std::size_t live = 0;
  for (const CUctx_st &context : driver().contexts) live += !context.destroyed;
  return live;
}

bool no_context_lives() {
  using namespace std::chrono_literals;
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (live_contexts() != 0 && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
  return live_contexts() == 0;
}

std::size_t pushed_contexts() {
  const std::lock_guard lock(driver().mutex);
  std::size_t pushed = 0;
  for (const CUctx_st &context : driver().contexts) pushed += context.pushes;
  return pushed;
}

std::size_t runtime_contexts() {
  const std::lock_guard lock(driver().mutex);
  return driver().runtime_contexts.size();
}

std::size_t retained_primary_contexts() {
  const std::lock_guard lock(driver().mutex);
  std::size_t retained = 0;
  for (const auto &[device, context] : driver().primary_contexts) retained += context->retained;
  return retained;
}

unsigned primary_flags(int device) {
  const std::lock_guard lock(driver().mutex);
  return driver().primary_flags[device];
}

Counters counters() {
  const std::lock_guard lock(driver().mutex);
  return driver().counters;
}

std::vector<std::string> misuses() {
  const std::lock_guard lock(driver().mutex);
  return driver().misuses;
}

std::vector<std::string> take_misuses() {
  const std::lock_guard lock(driver().mutex);
  return std::exchange(driver().misuses, {});
}

void allow_peer_access(bool allowed) {
  const std::lock_guard lock(driver().mutex);
  driver().peer_access = allowed;
}

void fail_contexts(unsigned count, CUresult error) {
  const std::lock_guard lock(driver().mutex);
  driver().contexts_to_fail = count;
  driver().context_failure = error;
}

void reset() {
  const std::lock_guard lock(driver().mutex);
  driver().peer_access = false;
  driver().contexts_to_fail = 0;
  driver().primary_flags.clear();
  driver().misuses.clear();
}

}  // namespace fakecuda
