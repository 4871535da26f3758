// SPDX-License-Identifier: LGPL-2.1-or-later
// Tells ThreadSanitizer of the hand-overs of GLib and GStreamer, whose libraries it does not see: GLib's locks are
// futexes, and references are counted by instructions of theirs. These functions take the place of the
// libraries' in the whole process, call them, and annotate. Part of programs with ThreadSanitizer alone.
#include <dlfcn.h>
#include <gst/gst.h>

extern "C" {
void __tsan_acquire(void *address);
void __tsan_release(void *address);

#define CUDAVISION_REAL(function) \
  static const auto real = reinterpret_cast<decltype(&function)>(dlsym(RTLD_NEXT, #function))

// The three functions of a kind of lock.
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
// An object that another thread frees was handed over to it by the count of its references.
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
