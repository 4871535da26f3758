# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws a grid with matplotlib, or writes it as a table."""
import math
import os
import pathlib

import matplotlib

matplotlib.use("Agg")
import numpy  # noqa: E402
from matplotlib import pyplot  # noqa: E402

SHOWN = ("visits", "seconds", "speed")
OPACITY = 0.7
HIGHEST = 98  # a few squares, as before a bench, would leave all others in one colour


def label(shown, in_metres):
    return {"visits": "different tracks", "seconds": "seconds, all together",
            "speed": "mean speed in metres a second" if in_metres else "mean speed in pixels a second"}[shown]


def background(path):
    try:
        return pyplot.imread(path)
    except (ValueError, SyntaxError) as error:
        raise OSError(22, f"no picture that matplotlib can read: {error}", path) from None


def write(path, grid, shown, back, area):
    """Readers see the old file or the new one."""
    new = pathlib.Path(path)
    new = new.with_name(f".{new.stem}.part{new.suffix.lower()}")
    if new.suffix == ".csv":
        new.write_text(table(grid), encoding="ascii")
    else:
        draw(new, grid, shown, back, area)
    os.replace(new, path)


def table(grid):
    """A row for each square that somebody was in: its upper left corner (of the ground: the smaller x and y), its size, and what was in it."""
    rows = ["x,y,size,visits,seconds,speed"]
    for (column, row), cell in sorted(grid.cells.items(), key=lambda one: one[0][::-1]):
        speed = cell.value("speed")
        rows.append(f"{column * grid.size:g},{row * grid.size:g},{grid.size:g},{cell.visits},{cell.value('seconds'):.3f}," +
                    ("" if math.isnan(speed) else f"{speed:.3f}"))
    return "\n".join(rows) + "\n"


def squares(grid, shown):
    """The values as an array, with NaN where nobody was, and the numbers of its first column and row."""
    columns, rows = [number[0] for number in grid.cells], [number[1] for number in grid.cells]
    values = numpy.full((max(rows) - min(rows) + 1, max(columns) - min(columns) + 1), numpy.nan)
    for (column, row), cell in grid.cells.items():
        values[row - min(rows), column - min(columns)] = cell.value(shown)
    values[values == 0] = numpy.nan  # seen once, for no time
    return values, min(columns), min(rows)


def draw(path, grid, shown, back, area):
    figure, axes = pyplot.subplots(figsize=(9.6, 6.4), layout="constrained")
    try:
        width, height = grid.frame
        extent = (area[0], area[2], area[3], area[1]) if area else (0, width, height, 0)
        if back is not None:
            axes.imshow(back, extent=extent, cmap="gray", aspect="equal")
        if grid.cells:
            values, column, row = squares(grid, shown)
            across = [(column + i) * grid.size for i in range(values.shape[1] + 1)]
            down = [(row + i) * grid.size for i in range(values.shape[0] + 1)]
            most = numpy.nanpercentile(values, HIGHEST) if numpy.isfinite(values).any() else 1
            shape = axes.pcolormesh(across, down, values, cmap="plasma", alpha=OPACITY, vmin=0, vmax=most, linewidth=0)
            is_cut = numpy.isfinite(values).any() and numpy.nanmax(values) > most
            figure.colorbar(shape, ax=axes, label=label(shown, grid.ground is not None), extend="max" if is_cut else "neither")
        axes.set_aspect("equal")
        if area or grid.ground is None:
            axes.set_xlim(extent[0], extent[1])
            axes.set_ylim(extent[2], extent[3])
        axes.set_xlabel("metres" if grid.ground else "pixels")
        if grid.sources != {""} and grid.sources:
            axes.set_title(", ".join(sorted(grid.sources)))
        figure.savefig(path, dpi=150)
    finally:
        pyplot.close(figure)
