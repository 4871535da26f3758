// SPDX-License-Identifier: LGPL-2.1-or-later
// CUDA's atomic functions, with exactly CUDA's overloads, so that code that CUDA rejects fails to compile here too.
#pragma once

#include <cstddef>
#include <cstring>
#include <source_location>
#include <type_traits>

#include "tests/simt/emulated/synchronisation.h"

namespace simt {

enum class MemoryOrder : unsigned char { relaxed, acquire, release, acq_rel };
enum class AtomicKind : unsigned char { load, store, update };

#pragma GCC visibility push(default)
// Called before each atomic store and update: counts it, and in the interleaved order may let other threads run first.
void before_atomic(const void *address, MemoryOrder order);
// Tells the race detector of an atomic. Returns the older value that a load is to return; null if the load is to
// return what the memory holds, and for stores and updates.
const void *trace_atomic(const void *address, std::size_t bytes, AtomicKind kind, MemoryOrder order);
// Called when an atomic changes memory: a thread that polls may now go on, so this is not a deadlock.
void note_change();
#pragma GCC visibility pop

// Plain accesses that the compiler does not instrument: trace_atomic() has told the race detector of them.
template <class T>
[[gnu::noinline, gnu::no_sanitize("thread")]] T unseen_load(const T *address) {
  return *static_cast<const volatile T *>(address);
}
template <class T>
[[gnu::noinline, gnu::no_sanitize("thread")]] void unseen_store(T *address, T value) {
  *static_cast<volatile T *>(address) = value;
}

// One thread runs at a time, so a plain read and write is atomic.
template <class T, class Update>
T atomic_update(T *address, Update update, MemoryOrder order = MemoryOrder::relaxed) {
  before_atomic(address, order);
  trace_atomic(address, sizeof(T), AtomicKind::update, order);
  const T old = unseen_load(address), now = update(old);
  if (std::memcmp(&old, &now, sizeof old) != 0) note_change();
  unseen_store(address, now);
  return old;
}

// Loads and stores through which blocks communicate, such as ld.acquire and st.relaxed. load() lets other threads run
// first, so that a loop can wait for their stores.
template <class T>
T load(const T *address, MemoryOrder order, std::source_location where = std::source_location::current()) {
  rendezvous({.operation = Operation::poll, .where = where});
  T value = unseen_load(address);
  if (const void *older = trace_atomic(address, sizeof(T), AtomicKind::load, order); older != nullptr)
    std::memcpy(&value, older, sizeof value);
  return value;
}
template <class T>
void store(T *address, T value, MemoryOrder order) {
  before_atomic(address, order);
  trace_atomic(address, sizeof(T), AtomicKind::store, order);
  note_change();
  unseen_store(address, value);
}

inline unsigned incremented(unsigned old, unsigned last) { return old >= last ? 0u : old + 1u; }
// PTX's atom.inc with a memory order, which CUDA C++ has no function for.
inline unsigned atomic_increment(unsigned *address, unsigned last, MemoryOrder order) {
  return atomic_update(
      address, [last](unsigned old) { return incremented(old, last); }, order);
}

// Integers wrap around on a GPU; signed overflow in C++ would be undefined.
template <class T>
T wrapping_add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  } else {
    return a + b;
  }
}

}  // namespace simt

#define SIMT_ATOMIC(Function, T, expression)                                         \
  inline T Function(T *address, T value) {                                           \
    return simt::atomic_update(address, [value](T old) -> T { return expression; }); \
  }
#define SIMT_ATOMIC_CAS(T)                                                                         \
  inline T atomicCAS(T *address, T compare, T value) {                                             \
    return simt::atomic_update(address, [=](T old) -> T { return old == compare ? value : old; }); \
  }

#define SIMT_ATOMIC_ADD(T) SIMT_ATOMIC(atomicAdd, T, simt::wrapping_add(old, value))
#define SIMT_ATOMIC_SUB(T) \
  SIMT_ATOMIC(atomicSub, T, static_cast<T>(static_cast<unsigned>(old) - static_cast<unsigned>(value)))
#define SIMT_ATOMIC_EXCH(T) SIMT_ATOMIC(atomicExch, T, (static_cast<void>(old), value))
#define SIMT_ATOMIC_ORDER_AND_BITS(T)                  \
  SIMT_ATOMIC(atomicMin, T, value < old ? value : old) \
  SIMT_ATOMIC(atomicMax, T, value > old ? value : old) \
  SIMT_ATOMIC(atomicAnd, T, old &value)                \
  SIMT_ATOMIC(atomicOr, T, old | value)                \
  SIMT_ATOMIC(atomicXor, T, old ^ value)

SIMT_ATOMIC_ADD(int)
SIMT_ATOMIC_ADD(unsigned)
SIMT_ATOMIC_ADD(unsigned long long)
SIMT_ATOMIC_ADD(float)
SIMT_ATOMIC_ADD(double)
SIMT_ATOMIC_SUB(int)
SIMT_ATOMIC_SUB(unsigned)
SIMT_ATOMIC_EXCH(int)
SIMT_ATOMIC_EXCH(unsigned)
SIMT_ATOMIC_EXCH(unsigned long long)
SIMT_ATOMIC_EXCH(float)
SIMT_ATOMIC_ORDER_AND_BITS(int)
SIMT_ATOMIC_ORDER_AND_BITS(unsigned)
SIMT_ATOMIC_ORDER_AND_BITS(long long)
SIMT_ATOMIC_ORDER_AND_BITS(unsigned long long)
SIMT_ATOMIC_CAS(int)
SIMT_ATOMIC_CAS(unsigned)
SIMT_ATOMIC_CAS(unsigned long long)
SIMT_ATOMIC(atomicInc, unsigned, simt::incremented(old, value))
SIMT_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1u)

#undef SIMT_ATOMIC
#undef SIMT_ATOMIC_CAS
#undef SIMT_ATOMIC_ADD
#undef SIMT_ATOMIC_SUB
#undef SIMT_ATOMIC_EXCH
#undef SIMT_ATOMIC_ORDER_AND_BITS
