// SPDX-License-Identifier: LGPL-2.1-or-later
// Tells ThreadSanitizer how GLib and GStreamer synchronise threads. Their libraries are not instrumented, so it does
// not see the futexes of their locks and their atomic reference counts. The functions here replace the libraries'
// functions in the whole process: they call those and annotate the call. Linked only into programs with
// ThreadSanitizer.
#include <dlfcn.h>
#include <gst/gst.h>

extern "C" {
void __tsan_acquire(void *address);
void __tsan_release(void *address);

#define CUDAVISION_REAL(function) \
  static const auto real = reinterpret_cast<decltype(&function)>(dlsym(RTLD_NEXT, #function))

// Lock, trylock and unlock of one type of lock.
#define CUDAVISION_LOCK(kind, Type)     \
  void kind##_lock(Type *lock) {        \
    CUDAVISION_REAL(kind##_lock);       \
    real(lock);                         \
    __tsan_acquire(lock);               \
  }                                     \
  gboolean kind##_trylock(Type *lock) { \
    CUDAVISION_REAL(kind##_trylock);    \
    const gboolean locked = real(lock); \
    if (locked) __tsan_acquire(lock);   \
    return locked;                      \
  }                                     \
  void kind##_unlock(Type *lock) {      \
    CUDAVISION_REAL(kind##_unlock);     \
    __tsan_release(lock);               \
    real(lock);                         \
  }
CUDAVISION_LOCK(g_mutex, GMutex)
CUDAVISION_LOCK(g_rec_mutex, GRecMutex)

void g_cond_wait(GCond *cond, GMutex *mutex) {
  CUDAVISION_REAL(g_cond_wait);
  __tsan_release(mutex);
  real(cond, mutex);
  __tsan_acquire(mutex);
}
gboolean g_cond_wait_until(GCond *cond, GMutex *mutex, gint64 end) {
  CUDAVISION_REAL(g_cond_wait_until);
  __tsan_release(mutex);
  const gboolean woken = real(cond, mutex, end);
  __tsan_acquire(mutex);
  return woken;
}
// The last unref may free an object that other threads have used: their unrefs happen before it.
void gst_mini_object_unref(GstMiniObject *object) {
  CUDAVISION_REAL(gst_mini_object_unref);
  __tsan_release(object);
  __tsan_acquire(object);
  real(object);
}
void gst_object_unref(gpointer object) {
  CUDAVISION_REAL(gst_object_unref);
  __tsan_release(object);
  __tsan_acquire(object);
  real(object);
}
}
