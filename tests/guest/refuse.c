// SPDX-License-Identifier: LGPL-2.1-or-later
// A library for LD_PRELOAD with which a host makes the C library refuse the plugin memory or threads, and counts
// what was asked for. Allocations of other code, such as GLib's, which end the process by design, do not fail.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  atomic_long asked;   // how often the plugin has asked
  atomic_long next;    // the number of the first call that is refused; negative: none
  atomic_int lasting;  // all calls after it are refused, too
} Refusal;
static Refusal memory = {.next = -1}, threads = {.next = -1}, environment = {.next = -1};

static Refusal *refusal_of(const char *what) {
  return strcmp(what, "memory") == 0 ? &memory : strcmp(what, "threads") == 0 ? &threads : &environment;
}

static atomic_uintptr_t code_begin, code_end;  // of the plugin

static int find_plugin(struct dl_phdr_info *object, size_t size, void *data) {
  (void)size, (void)data;
  if (strstr(object->dlpi_name, "/libgstcudavision.so") == NULL) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0) continue;
    code_begin = object->dlpi_addr + part->p_vaddr;
    code_end = object->dlpi_addr + part->p_vaddr + part->p_memsz;
  }
  return 1;
}

static int refused(Refusal *refusal, const void *caller) {
  if ((uintptr_t)caller < code_begin || (uintptr_t)caller >= code_end) return 0;
  const long number = atomic_fetch_add(&refusal->asked, 1), next = refusal->next;
  return next >= 0 && (number == next || (refusal->lasting && number > next));
}

// what: "memory" or "threads". nth: how many calls from now on still succeed; -1: all.
void guest_refuse(const char *what, long nth, int lasting);
void guest_refuse(const char *what, long nth, int lasting) {
  Refusal *refusal = refusal_of(what);
  dl_iterate_phdr(find_plugin, NULL);
  refusal->lasting = lasting;
  refusal->next = nth < 0 ? -1 : refusal->asked + nth;
}

// How often the plugin has asked for `what`; with "environment", how often anybody has read the environment.
long guest_asked(const char *what);
long guest_asked(const char *what) { return refusal_of(what)->asked; }

#define CALLER __builtin_return_address(0)
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

static void *none(void) {
  errno = ENOMEM;
  return NULL;
}
void *malloc(size_t size) { return refused(&memory, CALLER) ? none() : __libc_malloc(size); }
void *calloc(size_t count, size_t size) {
  return refused(&memory, CALLER) ? none() : __libc_calloc(count, size);
}
void *realloc(void *old, size_t size) {
  return refused(&memory, CALLER) ? none() : __libc_realloc(old, size);
}
void *memalign(size_t alignment, size_t size) {
  return refused(&memory, CALLER) ? none() : __libc_memalign(alignment, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  return refused(&memory, CALLER) ? none() : __libc_memalign(alignment, size);
}
int posix_memalign(void **made, size_t alignment, size_t size) {
  void *block = refused(&memory, CALLER) ? NULL : __libc_memalign(alignment, size);
  if (block != NULL) *made = block;
  return block != NULL ? 0 : ENOMEM;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
                   void *argument) {
  static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (next == NULL) *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
  return refused(&threads, CALLER) ? EAGAIN : next(thread, attributes, function, argument);
}

char *getenv(const char *name) {
  static char *(*next)(const char *);
  if (next == NULL) *(void **)&next = dlsym(RTLD_NEXT, "getenv");
  ++environment.asked;
  return next(name);
}
