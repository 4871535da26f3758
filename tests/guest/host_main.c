// SPDX-License-Identifier: LGPL-2.1-or-later
// A host in C.
#include "tests/guest/host.h"

int main(int argc, char **argv) { return guest_main(argc, argv); }
