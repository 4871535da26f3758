// SPDX-License-Identifier: LGPL-2.1-or-later
// Functions that are only looked up by name and return an error on each call.
#pragma once

// The functions ignore their arguments, so they can be called with any.
#define FAKECUDA_REFUSE(function, error)                    \
  extern "C" [[gnu::visibility("default")]] int function(); \
  int function() { return error; }
