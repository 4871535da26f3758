# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arranges surroundings for its own process, and then plays every element.

usage: surroundings.py NAME
"""
import sys

import places_of_life  # noqa: F401
import places_of_limits  # noqa: F401
import places_of_threads  # noqa: F401
from place import SURROUNDINGS, Hooks, place


@place("plain", is_case=False)
def plain():
    yield None


if __name__ == "__main__":
    with SURROUNDINGS[sys.argv[1]].arrange() as hooks:
        import play  # initialises GStreamer
        play.everything(hooks=hooks or Hooks())
