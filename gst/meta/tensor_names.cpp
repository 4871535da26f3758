// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/meta/tensor_names.h"

#include <atomic>

namespace cudavision {
namespace {

// Increments *used, unless it has reached `most`. Returns whether it did.
bool take(std::atomic<int> *used, int most) {
  int before = *used;
  while (before < most)
    if (used->compare_exchange_weak(before, before + 1)) return true;
  return false;
}

}  // namespace

GQuark quark_of_foreign_name(const char *name) {
  static std::atomic<int> of_process = 0;
  thread_local int of_stream = 0;
  const GQuark known = g_quark_try_string(name);
  if (known != 0) return known;
  if (of_stream >= kMostNewNamesOfStream || !take(&of_process, kMostNewNames)) return 0;
  ++of_stream;
  return g_quark_from_string(name);
}

}  // namespace cudavision
