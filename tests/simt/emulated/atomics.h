// SPDX-License-Identifier: LGPL-2.1-or-later
// CUDA's atomic functions, with exactly CUDA's overloads, so that code that CUDA rejects fails to compile
// here too.
#pragma once

#include <type_traits>

namespace simt {

[[gnu::visibility("default")]] void count_atomic(const void *address);

// One thread runs at a time, so a plain read and write is atomic.
template <class T, class Update>
T atomic_update(T *address, Update update) {
  count_atomic(address);
  const T old = *address;
  *address = update(old);
  return old;
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
SIMT_ATOMIC(atomicInc, unsigned, old >= value ? 0u : old + 1u)
SIMT_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1u)

#undef SIMT_ATOMIC
#undef SIMT_ATOMIC_CAS
#undef SIMT_ATOMIC_ADD
#undef SIMT_ATOMIC_SUB
#undef SIMT_ATOMIC_EXCH
#undef SIMT_ATOMIC_ORDER_AND_BITS
