// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes quarks of the names of tensors that come from other processes.
#pragma once

#include <gst/gst.h>

namespace cudavision {

// Limits on new names, for the process and for one stream (all that one thread receives). A quark is never freed, so
// the limits bound the memory that hostile streams can fill, and how many of the process's names one stream can use up.
inline constexpr int kMostNewNames = 4096, kMostNewNamesOfStream = 256;

// Returns the quark of a name, and makes one for a new name within the limits above. Beyond them returns 0.
GQuark quark_of_foreign_name(const char *name);

}  // namespace cudavision
