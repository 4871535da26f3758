# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shared by places_of_*.py: the list of surroundings, and functions to arrange and check them."""
import contextlib
import ctypes
import os
import sys
from typing import Callable, NamedTuple

SURROUNDINGS = {}
LIBC = ctypes.CDLL(None, use_errno=True)


class Hooks:
    """Functions that play.py calls during the stream of each pipeline."""

    def entering(self):
        """On the streaming thread, before the tested element gets its first frame."""

    def came(self, count):
        """On the main thread, for each frame that came out."""

    def ended(self):
        """After the stop."""


class Place(NamedTuple):
    arrange: Callable     # a context manager around the play, which yields Hooks or None
    preload: str = None
    warning: str = None   # one that elements must post, each once for a stream
    is_case: bool = True  # false: only environments.py uses it, with an environment


def place(name, **options):
    """Puts a generator function into the list. It must not import GStreamer before it has arranged what it needs."""
    def add(function):
        SURROUNDINGS[name] = Place(contextlib.contextmanager(function), **options)
        return function
    return add


def remark(text):
    """environments.py shows the text and does not compare it."""
    os.write(1, f"# {text}\n".encode())


def demand(truth, text):
    if not truth:
        sys.exit(f"fault: {text}")


def skip(reason):
    print(reason)
    sys.exit(77)


def load():
    """Loads the plugin, before the process loses what it needs for that."""
    import play  # which initialises GStreamer
    for name in play.elements.names() + ["videotestsrc", "appsink", "capsfilter"]:
        play.Gst.ElementFactory.make(name)


@contextlib.contextmanager
def silence():
    """Discards what is written to the standard output meanwhile."""
    kept, null = os.dup(1), os.open("/dev/null", os.O_WRONLY)
    os.dup2(null, 1)
    yield
    os.dup2(kept, 1)
    os.close(kept)
    os.close(null)


def set_stacks():
    """The threads that are started from now on have stacks of GUEST_STACK bytes."""
    attributes = ctypes.create_string_buffer(128)  # larger than pthread_attr_t
    LIBC.pthread_attr_init(attributes)
    size = ctypes.c_size_t(int(os.environ["GUEST_STACK"]))
    demand(LIBC.pthread_attr_setstacksize(attributes, size) == 0, "no such stack")
    demand(LIBC.pthread_setattr_default_np(attributes) == 0, "no such stack")
