// SPDX-License-Identifier: LGPL-2.1-or-later
// Support for a driver built on the emulated runtime: its contexts, and functions that the runtime API does
// not have. Tests of algorithms and elements do not need it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/simt/cuda_runtime.h"

namespace simt {

#pragma GCC visibility push(default)

// A driver context. The runtime stores with each object the context that was current when it was made.
using Context = std::uintptr_t;
inline constexpr Context kNoContext = 0;

enum class Object { stream, device_memory, host_memory };

// The driver's checks of runtime API calls. Called with the device lock held: must not call the runtime.
class ContextCheck {
 public:
  // The calling thread's context and its device; kNoContext and 0 if there is none.
  virtual Context current() const = 0;
  virtual int device() const = 0;
  // Returns true if the driver itself makes the running call. Its copies may reach into row padding, where
  // GStreamer keeps planes.
  virtual bool is_drivers_own() const = 0;
  // Called before a call that needs a context. An error ends the call.
  virtual cudaError_t enter(const char *call) = 0;
  // Called if a call uses an object made in the context `owner`. An error ends the call. Not called for
  // events: streams of one context may wait for those of another.
  virtual cudaError_t use(const char *call, Object object, Context owner) = 0;
  // Implements cudaSetDevice for an existing device.
  virtual cudaError_t set_device(int device) = 0;

 protected:
  ~ContextCheck() = default;
};

// Makes every call ask `check`. With null, the initial state, nothing is checked and there is one context.
void set_context_check(ContextCheck *check);

struct Owned {
  std::size_t allocations = 0, host_allocations = 0, streams = 0, events = 0;

  bool operator==(const Owned &) const = default;
};

// The objects of a context that are not yet freed.
Owned owned_by(Context context);
// Frees all objects of a context and drops its queued work.
void release(Context context);

// Returns 0 if there is no device.
int device_count();
// The error that calls return since lose_device_after(); cudaSuccess if the device is not lost.
cudaError_t lost();

// Copies rows on the legacy default stream: runs after all work queued on the blocking streams of the
// context, and is complete on return.
cudaError_t copy_rows_now(void *dst, std::size_t dst_pitch_bytes, const void *src,
                          std::size_t src_pitch_bytes, std::size_t width_bytes, std::size_t height,
                          cudaMemcpyKind kind);
// Work queued on the null stream from now on runs after all work now queued on the blocking streams of the
// context, as on the legacy default stream.
void join_blocking_streams();
// Fills rows of width elements with the lowest element_bytes (1, 2 or 4) of value.
cudaError_t fill_rows(void *dst, std::size_t pitch_bytes, std::uint32_t value, std::size_t element_bytes,
                      std::size_t width, std::size_t height, cudaStream_t stream);

#pragma GCC visibility pop

}  // namespace simt
