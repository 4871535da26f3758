// SPDX-License-Identifier: LGPL-2.1-or-later
// A host in C that loads GStreamer with RTLD_LOCAL, as part of a library of its own.
//
//   LIBRARY ARGUMENT...   the library of host.c
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
  void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  int (*work)(int, char **) = NULL;
  if (library != NULL) *(void **)&work = dlsym(library, "guest_main");
  if (work == NULL || dlsym(RTLD_DEFAULT, "gst_init") != NULL) {
    fprintf(stderr, "GStreamer cannot be loaded for the library alone\n");
    return 1;
  }
  return work(argc - 1, argv + 1);
}
