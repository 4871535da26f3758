// SPDX-License-Identifier: LGPL-2.1-or-later
// For a driver that is built on the emulated runtime: its contexts, and what it needs that the runtime's API does not
// have. Tests of rooms and elements do without.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/simt/cuda_runtime.h"

namespace simt {

#pragma GCC visibility push(default)

// A context of the driver's. The runtime keeps with each object the one that was current when it was made.
using Context = std::uintptr_t;
inline constexpr Context kNoContext = 0;

enum class Object { stream, device_memory, host_memory };

// What the driver says to the calls of the runtime's API. Called with the device lock held: must not call the runtime.
class ContextCheck {
 public:
  // The calling thread's context and its device; kNoContext and 0 without one.
  virtual Context current() const = 0;
  virtual int device() const = 0;
  // Whether the driver itself makes the running call. Its copies may reach into row padding: GStreamer keeps planes there.
  virtual bool is_drivers_own() const = 0;
  // Before a call that needs a context. An error ends the call.
  virtual cudaError_t enter(const char *call) = 0;
  // When a call uses an object that was made in the context `owner`. An error ends the call. Events are not asked for:
  // streams of one context may wait for those of another.
  virtual cudaError_t use(const char *call, Object object, Context owner) = 0;
  // Is cudaSetDevice, for a device that exists.
  virtual cudaError_t set_device(int device) = 0;

 protected:
  ~ContextCheck() = default;
};

// From now on every call asks `check`; with null, the initial state, none does and there is one context.
void set_context_check(ContextCheck *check);

struct Owned {
  std::size_t allocations = 0, host_allocations = 0, streams = 0, events = 0;

  bool operator==(const Owned &) const = default;
};

// What was made in a context and is not yet freed.
Owned owned_by(Context context);
// Frees all that was made in a context, and forgets the work that is queued in it.
void release(Context context);

// 0 where there is none.
int device_count();
// What calls return since lose_device(); cudaSuccess if the device is not lost.
cudaError_t lost();

// A copy of rows on the legacy default stream: runs after all that is queued on the blocking streams of the context,
// and has ended when it returns.
cudaError_t copy_rows_now(void *dst, std::size_t dst_pitch_bytes, const void *src,
                          std::size_t src_pitch_bytes, std::size_t width_bytes, std::size_t height,
                          cudaMemcpyKind kind);
// What is queued on the null stream from now on runs after all that is now queued on the blocking streams of the
// context, as on the legacy default stream.
void join_blocking_streams();
// Rows of width elements, each with the lowest element_bytes (1, 2 or 4) of value.
cudaError_t fill_rows(void *dst, std::size_t pitch_bytes, std::uint32_t value, std::size_t element_bytes,
                      std::size_t width, std::size_t height, cudaStream_t stream);

#pragma GCC visibility pop

}  // namespace simt
