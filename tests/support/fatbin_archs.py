#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the architectures of the CUDA code in a shared library, as sm_90 and compute_90, one a line.

usage: fatbin_archs.py LIBRARY

CUDA's own cuobjdump prints more, but is not part of every toolkit. A fat binary begins with 0xba55ed50, the version (2
bytes), the size of its header (2) and of what follows (8). Each entry begins with its kind (2 bytes: 1 is PTX, 2 is
machine code), a version (2), the size of its header (4) and of its payload (8); at offset 28 is the compute capability
(4).
"""
import pathlib
import struct
import sys

MAGIC = struct.pack("<I", 0xBA55ED50)


def architectures(data):
    begin = data.find(MAGIC)
    while begin >= 0:
        _, _, header, size = struct.unpack_from("<IHHQ", data, begin)
        at, end = begin + header, begin + header + size
        while at + 32 <= end <= len(data):
            kind, _, entry_header, payload = struct.unpack_from("<HHIQ", data, at)
            capability, = struct.unpack_from("<I", data, at + 28)
            if kind not in (1, 2) or entry_header == 0:
                break
            yield f"{'compute' if kind == 1 else 'sm'}_{capability}"
            at += entry_header + payload
        begin = data.find(MAGIC, begin + 4)


for name in sorted(set(architectures(pathlib.Path(sys.argv[1]).read_bytes()))):
    print(name)
