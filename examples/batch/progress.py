# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tells how far a run is: one line that is rewritten on a terminal, and otherwise a line now and then."""
import collections
import sys
import time

EVERY = 10  # seconds between two lines where there is no terminal
WINDOW = 5  # seconds over which frames a second are counted


class Rate:
    """Frames a second over the last seconds."""

    def __init__(self):
        self.seen = collections.deque()

    def update(self, frames):
        now = time.monotonic()
        self.seen.append((now, frames))
        while len(self.seen) > 2 and now - self.seen[0][0] > WINDOW:
            self.seen.popleft()
        began, before = self.seen[0]
        took = now - began
        return (frames - before) / took if took > 0 else 0


def hours(seconds):
    return f"{int(seconds) // 3600}:{int(seconds) // 60 % 60:02}:{int(seconds) % 60:02}"


def bar(part, width=20):
    full = int(part * width)
    return "[" + "#" * full + "." * (width - full) + "]"


class Left:
    """Estimates the time that is left, if the rest is as fast as what this run has done until now."""

    def __init__(self):
        self.began = time.monotonic()

    def text(self, part):
        took = time.monotonic() - self.began
        return f"{hours(took * (1 - part) / part)} left" if part > 0.001 and took > 1 else "time left unknown"


def tell(text, end="\n"):
    """Writes to the standard error. The run goes on if nobody reads it, or the disk of a log is full."""
    try:
        print(text, end=end, file=sys.stderr, flush=True)
    except OSError:
        pass


class Display:
    def __init__(self):
        self.terminal = sys.stderr.isatty()
        self.shown, self.next = False, time.monotonic() + EVERY

    def update(self, text):
        if self.terminal:
            tell(f"\r\033[K{text}", end="")
            self.shown = True
        elif time.monotonic() >= self.next:
            self.next = time.monotonic() + EVERY
            tell(text)

    def say(self, text):
        """Prints a line that stays, above the line of the progress."""
        tell(("\r\033[K" if self.shown else "") + text)
        self.shown = False
