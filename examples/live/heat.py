# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where tracks were since the steps of a side began, by the rules of cudavision-heatmap."""
import json

from grid import Grid

LEAST, COLUMNS = 16, 80  # the squares have at least so many pixels, and there are about so many beside each other
LONGEST_LINE = 100_000  # bytes; longer lines would take longer than they are worth


class Heat:
    """Filled in a thread of GStreamer, and read in the main one."""

    def __init__(self):
        self.grid = None

    def add(self, line):
        if len(line) > LONGEST_LINE or b'"tracking' not in line:
            return
        record = json.loads(line)
        frame = record["width"], record["height"]
        if self.grid is None or self.grid.frame != frame:
            self.grid = Grid(max(LEAST, frame[0] // COLUMNS), None, None, None)
        self.grid.add("", record)

    def squares(self, shown):
        """The column, the row and the value of each square in which somebody was."""
        if self.grid is None:
            return {"size": LEAST, "width": 1, "height": 1, "squares": []}
        values = [[*number, cell.value(shown)] for number, cell in list(self.grid.cells.items())]
        width, height = self.grid.frame
        return {"size": self.grid.size, "width": width, "height": height,
                "squares": [square for square in values if square[2] > 0]}  # no speed is known yet: NaN
