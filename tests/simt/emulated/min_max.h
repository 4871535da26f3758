// SPDX-License-Identifier: LGPL-2.1-or-later
// The global min and max of CUDA, with the same overloads, including mixed signedness.
#pragma once

#define SIMT_MIN_MAX(Result, A, B)                                                   \
  constexpr Result min(A a, B b) {                                                   \
    return static_cast<Result>(a) < static_cast<Result>(b) ? static_cast<Result>(a)  \
                                                           : static_cast<Result>(b); \
  }                                                                                  \
  constexpr Result max(A a, B b) {                                                   \
    return static_cast<Result>(a) > static_cast<Result>(b) ? static_cast<Result>(a)  \
                                                           : static_cast<Result>(b); \
  }
#define SIMT_MIN_MAX_INTEGER(T)                    \
  SIMT_MIN_MAX(T, T, T)                            \
  SIMT_MIN_MAX(unsigned T, unsigned T, unsigned T) \
  SIMT_MIN_MAX(unsigned T, T, unsigned T)          \
  SIMT_MIN_MAX(unsigned T, unsigned T, T)

SIMT_MIN_MAX_INTEGER(int)
SIMT_MIN_MAX_INTEGER(long)
SIMT_MIN_MAX_INTEGER(long long)

#undef SIMT_MIN_MAX_INTEGER
#undef SIMT_MIN_MAX

// The floating-point overloads return the other operand if one is NaN.
inline float min(float a, float b) { return __builtin_fminf(a, b); }
inline float max(float a, float b) { return __builtin_fmaxf(a, b); }
inline double min(double a, double b) { return __builtin_fmin(a, b); }
inline double max(double a, double b) { return __builtin_fmax(a, b); }
inline double min(float a, double b) { return __builtin_fmin(a, b); }
inline double max(float a, double b) { return __builtin_fmax(a, b); }
inline double min(double a, float b) { return __builtin_fmin(a, b); }
inline double max(double a, float b) { return __builtin_fmax(a, b); }
