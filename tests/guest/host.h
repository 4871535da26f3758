// SPDX-License-Identifier: LGPL-2.1-or-later
// The work of the hosts, for those in C, C++ and Python.
#pragma once

#ifdef __cplusplus
extern "C"
#endif
    // argv: as in host.c
    int
    guest_main(int argc, char **argv);
