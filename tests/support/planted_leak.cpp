// SPDX-License-Identifier: LGPL-2.1-or-later
// A GStreamer program that leaks what its argument names: nothing, a C++ object, or a GLib string.
#include <gst/gst.h>

#include <cstring>
#include <string>

namespace {

// Later calls overwrite remains of the pointer on the stack.
[[gnu::noinline]] void leak(const std::string &what) {
  char *lost = nullptr;
  if (what == "new") lost = new char[4321];
  if (what == "glib") lost = g_strdup(std::string(4321, 'x').c_str());
  if (lost != nullptr) *static_cast<volatile char *>(lost) = 0;
}

[[gnu::noinline]] int overwrite_stack() {
  volatile char bytes[4096];
  for (volatile char &byte : bytes) byte = 0;
  return bytes[17];
}

}  // namespace

int main(int argc, char **argv) {
  gst_init(nullptr, nullptr);
  leak(argc > 1 ? argv[1] : "nothing");
  for (int i = 0; i < 5000; ++i) g_quark_from_string(std::to_string(i).c_str());  // makes the table grow
  return overwrite_stack();
}
