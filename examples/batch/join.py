#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Joins the results of all shards with pandas: tracks of people in each minute, and histograms over time.

  join.py RESULTS OUTPUT

RESULTS is the folder that batch.py has written. OUTPUT receives people.csv, histograms.csv (if the results were written
with --tensor-data full) and, where matplotlib is installed, people.png and histograms.png. people_a_minute.sql and
histograms.sql compute the same in DuckDB.
"""
import collections
import json
import pathlib
import sys

try:
    import pandas
except ImportError as error:
    raise SystemExit(f"{error}: install python3-pandas, and use Debian's /usr/bin/python3") from None

try:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
except ImportError:
    pyplot = None

BINS = 8
SECOND = 10**9


def stamp(line, digits):
    """The time of day where the line has one, otherwise the time in the video: YYYY-MM-DDTHH:MM[:SS] or HH:MM[:SS]."""
    if "utc" in line:
        return line["utc"][: 11 + digits]
    seconds = (line["pts"] or 0) // 10**9
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"[:digits]


def people(line, run):
    return {(line["source"], run, region["params"]["tracking"]["id"]) for region in line.get("regions", [])
            if region["type"] == "person" and "tracking" in region.get("params", {})}


def histogram(line):
    """The counts in BINS bins of brightness, or None."""
    for tensor in line.get("tensors", []):
        if tensor["id"] == "histogram" and "data" in tensor:
            counts, width = tensor["data"][:256], 256 // BINS
            return [sum(counts[at : at + width]) for at in range(0, 256, width)]
    return None


def lines(folder):
    """Yields each line with the number of its run: a run of a source begins where the running time goes back."""
    runs, times = collections.Counter(), {}
    for path in sorted(path for path in folder.glob("*.jsonl") if path.is_file() and not path.is_symlink()):
        number = 0
        try:
            with open(path, encoding="utf-8", errors="replace") as texts:
                for number, text in enumerate(texts, 1):
                    line = json.loads(text)
                    source, time = line["source"], line["running-time"] or 0
                    runs[source] += time < times.get(source, 0)
                    times[source] = time
                    yield line, runs[source]
        except OSError as error:
            sys.exit(f"{path}: {error.strerror}")
        except (ValueError, KeyError, TypeError, AttributeError):
            sys.exit(f"{path}: line {number} is none of batch.py: is this a folder of its results?")


class Minute:
    """How many tracks there were, altogether and at a time."""

    def __init__(self):
        self.tracks, self.frames, self.sum, self.most = set(), 0, 0, 0

    def add(self, tracks):
        self.tracks |= tracks
        self.frames += 1
        self.sum += len(tracks)
        self.most = max(self.most, len(tracks))


def read(folder):
    """Counts in two passes, so that only the sums are in memory. The first one finds how long each track lived."""
    lives, bins, minutes = {}, collections.defaultdict(lambda: [0] * BINS), collections.defaultdict(Minute)
    for line, run in lines(folder):
        for track in people(line, run):
            lives.setdefault(track, [line["running-time"] or 0] * 2)[1] = line["running-time"] or 0
        if counts := histogram(line):
            key = line["source"], stamp(line, 7) + "0"
            bins[key] = [a + b for a, b in zip(bins[key], counts)]
    long = {track for track, (first, last) in lives.items() if last - first >= SECOND}
    for line, run in lines(folder):
        minutes[line["source"], stamp(line, 5)].add(people(line, run) & long)
    return minutes, bins


def people_table(minutes):
    rows = [(*key, len(m.tracks), m.sum / m.frames, m.most) for key, m in sorted(minutes.items()) if m.tracks]
    return pandas.DataFrame(rows, columns=["source", "minute", "tracks", "mean", "most"]).round(2)


def histogram_table(bins):
    rows = [(*key, i * 256 // BINS, count / sum(counts)) for key, counts in sorted(bins.items()) for i, count in enumerate(counts)]
    return pandas.DataFrame(rows, columns=["source", "time", "from_brightness", "part"]).round(4)


def plot_people(table, path):
    table.pivot(index="minute", columns="source", values="mean").plot(marker="o", ylabel="people at a time", figsize=(10, 5))
    pyplot.savefig(path)


def plot_histograms(table, path):
    sources = table.source.unique()
    _, axes = pyplot.subplots(len(sources), squeeze=False, figsize=(10, 3 * len(sources)), layout="constrained")
    for axis, source in zip(axes[:, 0], sources):
        grid = table[table.source == source].pivot(index="from_brightness", columns="time", values="part")
        axis.imshow(grid, origin="lower", aspect="auto", interpolation="nearest", extent=(0, grid.shape[1], 0, 256))
        axis.set(title=source, xlabel="ten seconds each", ylabel="brightness")
    pyplot.savefig(path)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    results, output = map(pathlib.Path, sys.argv[1:])
    if not results.is_dir():
        sys.exit(f"{results} is no folder: batch.py --output RESULTS writes one")
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        sys.exit(f"{output}: no folder for the output: {error.strerror}")
    minutes, bins = read(results)
    tables = [("people", people_table(minutes), plot_people), ("histograms", histogram_table(bins), plot_histograms)]
    for name, table, plot in tables:
        if table.empty:
            print(f"{results}: no {name}")
            continue
        table.to_csv(output / f"{name}.csv", index=False)
        print(table.head(12).to_string(index=False))
        if pyplot:
            plot(table, output / f"{name}.png")


if __name__ == "__main__":
    main()
