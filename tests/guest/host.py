# SPDX-License-Identifier: LGPL-2.1-or-later
"""A host in Python.

usage: host.py MODULE LIBRARY ARGUMENT...   imports the module before all others, then works as host.c does
"""
import importlib
import sys

importlib.import_module(sys.argv[1])
import ctypes  # noqa: E402

import gi  # noqa: E402

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

Gst.init(None)
arguments = [argument.encode() for argument in sys.argv[2:]]
sys.exit(ctypes.CDLL(sys.argv[2]).guest_main(len(arguments), (ctypes.c_char_p * len(arguments))(*arguments)))
