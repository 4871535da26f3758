// SPDX-License-Identifier: LGPL-2.1-or-later
// Linked into the test programs with emulated kernels.
#include "tests/support/emulated.h"

namespace cudavision::test {

// Constants, so that other constants can be initialised with them.
extern constinit const bool kEmulated = true;
extern constinit const bool kSlow = true;

}  // namespace cudavision::test
