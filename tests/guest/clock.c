// SPDX-License-Identifier: LGPL-2.1-or-later
// A library for LD_PRELOAD: the time of day jumps by a year, forward and back, at each call.
#define _GNU_SOURCE
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t jump(void) {
  static atomic_int calls;
  return calls++ % 2 == 0 ? 31536000 : -31536000;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  const long result = syscall(SYS_clock_gettime, clock, time);
  if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += jump();
  return (int)result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  const long result = syscall(SYS_gettimeofday, time, zone);
  if (result == 0) time->tv_sec += jump();
  return (int)result;
}

time_t time(time_t *result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result != NULL) *result = now.tv_sec;
  return now.tv_sec;
}
