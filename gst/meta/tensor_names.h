// SPDX-License-Identifier: LGPL-2.1-or-later
// The names of tensors that come from outside of the process.
#pragma once

#include <gst/gst.h>

namespace cudavision {

// A name becomes a quark, which is never freed. So these bound what a hostile stream can fill memory with, and how many of the
// names of a process it can take from other streams. A stream is what one thread receives.
inline constexpr int kMostNewNames = 4096, kMostNewNamesOfStream = 256;

// The quark of a name that is known, or of a new one while there are few; otherwise 0.
GQuark quark_of_foreign_name(const char *name);

}  // namespace cudavision
