// SPDX-License-Identifier: LGPL-2.1-or-later
// Functions that are there to be found by name, and answer each call with one error.
#pragma once

// Whatever the arguments are: a function that reads none can be called with any.
#define FAKECUDA_REFUSE(function, error)                    \
  extern "C" [[gnu::visibility("default")]] int function(); \
  int function() { return error; }
