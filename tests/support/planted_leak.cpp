// SPDX-License-Identifier: LGPL-2.1-or-later
// A program of GStreamer's that leaks what its argument says: nothing, a new, or a string of GLib's.
#include <gst/gst.h>

#include <cstring>
#include <string>

namespace {

// Other calls write over what is left of the pointer on the stack.
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
  for (int i = 0; i < 5000; ++i) g_quark_from_string(std::to_string(i).c_str());  // the table grows
  return overwrite_stack();
}
