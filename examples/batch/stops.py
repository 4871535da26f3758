# SPDX-License-Identifier: LGPL-2.1-or-later
"""Signals that ask the process to end."""
import signal

SIGNALS = signal.SIGTERM, signal.SIGINT, signal.SIGHUP


class Stops:
    """Calls end(number), which does not return, when one of SIGNALS comes: at once, but never within a `with` block of
    this object, in which files and locks may be half-written. Blocks may be nested."""

    def __init__(self, end):
        self.end, self.depth, self.wanted = end, 0, None
        for number in SIGNALS:
            signal.signal(number, self.ask)

    def ask(self, number, _frame):
        self.wanted = self.wanted or number
        self.check()

    def check(self):
        if self.wanted and not self.depth:
            self.depth = 1
            self.end(self.wanted)

    def __enter__(self):
        self.depth += 1

    def __exit__(self, *_error):
        self.depth -= 1
        self.check()
