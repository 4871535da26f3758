# SPDX-License-Identifier: LGPL-2.1-or-later
"""How tests of programs wait for something."""
import time

SECONDS = 60  # the longest wait for anything: machines can be busy


def until(condition, what, seconds=SECONDS):
    """Waits until the condition holds, and returns what it has returned."""
    end = time.monotonic() + seconds
    while not (result := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)
    return result
