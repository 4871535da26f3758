# SPDX-License-Identifier: LGPL-2.1-or-later
"""Squares of the picture or the ground, and what tracks did in each."""
import collections
import math

import numpy

SECOND = 10**9
GAP = 1 * SECOND  # a track that was not seen for longer was nowhere meanwhile
PACE = 1 * SECOND  # boxes tremble, so a speed is that over a second
FORGOTTEN = 60 * SECOND  # a track that was not seen for so long begins anew


class Ground:
    """The projective map from the picture to the ground, through four points."""

    def __init__(self, picture, ground, is_fraction):
        self.is_fraction = is_fraction
        rows, right = [], []
        for (x, y), (u, v) in zip(picture, ground, strict=True):
            rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
            right += [u, v]
        try:
            self.map = [*numpy.linalg.solve(numpy.array(rows, float), numpy.array(right, float)), 1.0]
        except numpy.linalg.LinAlgError:
            raise ValueError("the points lie on a line") from None
        self.side = self.scale(*picture[0])

    def scale(self, x, y):
        return self.map[6] * x + self.map[7] * y + self.map[8]

    def place(self, x, y, width, height):
        """None above the horizon."""
        if self.is_fraction:
            x, y = x / width, y / height
        scale = self.scale(x, y)
        if scale * self.side <= 0:
            return None
        a, b, c, d, e, f = self.map[:6]
        return (a * x + b * y + c) / scale, (d * x + e * y + f) / scale


class Cell:
    """visits: how many tracks were here; seconds: how long all of them together; speeds: their sum and number."""

    def __init__(self):
        self.visits, self.nanoseconds, self.speed, self.speeds = 0, 0, 0.0, 0

    def value(self, shown):
        if shown == "speed":
            return self.speed / self.speeds if self.speeds else math.nan
        return self.visits if shown == "visits" else self.nanoseconds / SECOND


class Track:
    def __init__(self):
        self.cells, self.places = set(), collections.deque()  # the places of the last second: (time, x, y)


def feet(record, types):
    """The id and the middle of the lower edge of each box that has a track."""
    for region in record.get("regions", ()):
        tracking = region.get("params", {}).get("tracking", {})
        if (types is None or region["type"] in types) and "id" in tracking and not tracking.get("predicted"):
            box = tracking if "width" in tracking else region  # the tracker's estimate trembles less
            yield tracking["id"], box["x"] + box["width"] / 2, box["y"] + box["height"]
    for detection in record.get("detections", ()):
        if (types is None or detection["class"] in types) and "tracking-id" in detection:
            yield detection["tracking-id"], detection["x"] + detection["width"] / 2, detection["y"] + detection["height"]


class Grid:
    def __init__(self, size, types, ground, source):
        self.size, self.types, self.ground, self.source = size, types, ground, source
        self.cells, self.sources, self.frame = {}, set(), (0, 0)
        self.tracks, self.times = {}, {}  # by the name of the file and the source

    def add(self, name, record):
        source, when = record.get("source", ""), record["running-time"]
        if self.source is not None and source != self.source or when is None:
            return
        self.sources.add(source)
        if record["width"]:
            self.frame = record["width"], record["height"]
        key = name, source
        if when < self.times.get(key, when):
            self.tracks[key] = {}  # a new connection, whose ids begin anew
        self.times[key] = when
        tracks = self.tracks.setdefault(key, {})
        for number, x, y in feet(record, self.types):
            place = self.ground.place(x, y, *self.frame) if self.ground else (x, y)
            if place is not None:
                self.step(tracks.setdefault(number, Track()), when, *place)
        if record["frame"] % 1000 == 999:
            self.tracks[key] = {number: track for number, track in tracks.items() if when - track.places[-1][0] < FORGOTTEN}

    def step(self, track, when, x, y):
        number = math.floor(x / self.size), math.floor(y / self.size)
        cell, places = self.cells.get(number) or self.cells.setdefault(number, Cell()), track.places
        if places and when - places[-1][0] >= FORGOTTEN:
            track.cells.clear()
        if number not in track.cells:
            track.cells.add(number)
            cell.visits += 1
        if places and when - places[-1][0] > GAP:
            places.clear()
        if places:
            cell.nanoseconds += when - places[-1][0]
        places.append((when, x, y))
        while len(places) > 1 and when - places[1][0] >= PACE:
            places.popleft()
        before, from_x, from_y = places[0]
        if when - before >= PACE:
            cell.speed += math.hypot(x - from_x, y - from_y) * SECOND / (when - before)
            cell.speeds += 1
