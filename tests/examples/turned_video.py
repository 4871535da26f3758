#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes into a QuickTime file of one track that players turn its frames to the right, as phones do: turned_video.py FILE"""
import pathlib
import struct
import sys

MATRIX = 44  # bytes from the name of the track's header to its matrix
ONE = 1 << 16

path = pathlib.Path(sys.argv[1])
data = bytearray(path.read_bytes())
matrix = data.index(b"tkhd") + MATRIX
assert struct.unpack_from(">9i", data, matrix) == (ONE, 0, 0, 0, ONE, 0, 0, 0, 1 << 30)
struct.pack_into(">9i", data, matrix, 0, ONE, 0, -ONE, 0, 0, 0, 0, 1 << 30)
path.write_bytes(data)
