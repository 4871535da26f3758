#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests cudavision-heatmap: its table equals plain loops over made tracks, and its pictures have what they should."""
import json
import math
import pathlib
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
import unittest

import cv2
import numpy
from waiting import SECONDS

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "examples" / "heatmap" / "heatmap.py"
STEP = 10**8  # ten frames a second
# A camera 5 m high that looks down by 30 degrees: a point of the ground (u, v) in front of it, in pixels of a frame of 640x480.
HIGH, TILT, FOCUS = 5, math.radians(30), 500


def seen(u, v):
    depth = v * math.cos(TILT) + HIGH * math.sin(TILT)
    return 320 + FOCUS * u / depth, 240 + FOCUS * (HIGH * math.cos(TILT) - v * math.sin(TILT)) / depth


def region(number, x, y, **more):
    """A box whose feet are at (x, y)."""
    return {"type": "person", "x": 0, "y": 0, "width": 1, "height": 1, "score": None,
            "params": {"tracking": {"id": number, "x": x - 10, "y": y - 60, "width": 20, "height": 60, **more}}}


def walks(frames, tracks, place):
    """Lists of (frame, id, x, y): tracks that walk, stand, vanish for a while and come back. `place` is where one begins."""
    found = []
    for number in range(tracks):
        x, y = place()
        speed = random.choice((0, 0.5, 8))
        frame = random.randrange(frames)
        while frame < frames and len(found) < 10**6:
            found.append((frame, number, x, y))
            x, y = x + random.gauss(0, speed), y + random.gauss(0, speed)
            frame += random.choice((1, 1, 1, 1, 1, 1, 2, 10, 11, 15, 700 if random.random() < 0.02 else 1))
    return found


def lines_of(walk, frames, source="door", **more):
    at = {}
    for frame, number, x, y in walk:
        at.setdefault(frame, []).append(region(number, x, y, **more))
    return [json.dumps({"source": source, "frame": frame, "pts": frame * STEP, "running-time": frame * STEP, "width": 640, "height": 480,
                        "regions": at.get(frame, []), "tensors": []}) for frame in range(frames)]


def plain_table(runs, size):
    """The definition: runs are lists of (frame, id, x, y), each of one connection."""
    cells = {}
    for run in runs:
        for number in {one[1] for one in run}:
            steps = sorted((frame * STEP, x, y) for frame, other, x, y in run if other == number)
            visited = set()
            for i, (when, x, y) in enumerate(steps):
                cell = cells.setdefault((math.floor(y / size), math.floor(x / size)), [0, 0.0, []])
                if i and when - steps[i - 1][0] >= 60 * 10**9:
                    visited = set()
                cell[0] += (cell_id := (math.floor(x / size), math.floor(y / size))) not in visited
                visited.add(cell_id)
                if i and when - steps[i - 1][0] <= 10**9:
                    cell[1] += (when - steps[i - 1][0]) / 1e9
                first = i
                while first and steps[first][0] - steps[first - 1][0] <= 10**9:
                    first -= 1
                earlier = [step for step in steps[first:i] if when - step[0] >= 10**9]
                if earlier:
                    before, from_x, from_y = earlier[-1]
                    cell[2].append(math.hypot(x - from_x, y - from_y) / ((when - before) / 1e9))
    return [(column * size, row * size, visits, seconds, sum(speeds) / len(speeds) if speeds else None)
            for (row, column), (visits, seconds, speeds) in sorted(cells.items())]


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="heatmap.")))
        random.seed(7)

    def write(self, name, lines):
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")

    def run_it(self, *arguments, status=0, **more):
        result = subprocess.run([sys.executable, PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True, check=False, timeout=SECONDS, **more)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stderr

    def table(self, name="heat.csv"):
        rows = (self.folder / name).read_text(encoding="ascii").splitlines()
        self.assertEqual(rows[0], "x,y,size,visits,seconds,speed")
        return [(float(x), float(y), int(visits), float(seconds), float(speed) if speed else None)
                for x, y, _, visits, seconds, speed in (row.split(",") for row in rows[1:])]

    def check(self, table, expected):
        self.assertEqual(len(table), len(expected))
        for found, wanted in zip(table, expected, strict=True):
            for a, b in zip(found, wanted, strict=True):
                if a is None or b is None:
                    self.assertEqual(a, b, (found, wanted))
                else:
                    self.assertAlmostEqual(a, b, delta=0.00051, msg=f"{found} {wanted}")


class TableTest(Case):
    def test_the_table_equals_plain_loops(self):
        runs = [walks(2000, 30, lambda: (random.uniform(0, 640), random.uniform(0, 480))) for _ in range(3)]
        self.write("results/a.jsonl", lines_of(runs[0], 2000) + lines_of(runs[1], 2000))  # two connections in a file
        self.write("results/b.jsonl", lines_of(runs[2], 2000))
        self.write("results/notes.txt", ["no line"])
        self.run_it("results", "--output", "heat.csv", "--cell", "24")
        self.check(self.table(), plain_table(runs, 24))

    def test_types_and_sources_choose_and_predicted_boxes_do_not_count(self):
        walk = walks(300, 5, lambda: (100, 100))
        dog = [line.replace('"person"', '"dog"') for line in lines_of(walks(300, 5, lambda: (400, 300)), 300)]
        self.write("a.jsonl", lines_of(walk, 300) + dog)
        self.write("b.jsonl", lines_of(walks(300, 5, lambda: (200, 200)), 300, source="yard") + lines_of([(1, 1, 5, 5)], 9, predicted=True))
        self.assertIn("--source", self.run_it("a.jsonl", "b.jsonl", "--output", "heat.csv", status=2))
        self.run_it("a.jsonl", "b.jsonl", "--source", "door", "--output", "heat.csv", "--cell", "16")
        self.check(self.table(), plain_table([walk], 16))
        self.assertIn("no line has a track", self.run_it("a.jsonl", "--types", "cat", "--output", "heat.csv", status=2))

    def test_metres_of_a_walk_in_front_of_a_camera(self):
        ground = [[-3, 6], [3, 6], [3, 20], [-3, 20]]
        for units, wide, high in (("pixels", 1, 1), ("fraction", 640, 480)):
            points = [[x / wide, y / high] for x, y in (seen(*point) for point in ground)]
            self.write("zones.json", [json.dumps({"units": units, "metres": {"picture": points, "ground": ground}})])
            # one walks away at 1.4 m/s, one stands at (2.25, 10.25) for ten seconds; somebody is above the horizon
            walk = [(frame, 1, -1.75, 6.01 + 0.14 * frame) for frame in range(100)]
            stand = [(frame, 2, 2.25, 10.25) for frame in range(100)]
            self.write("a.jsonl", lines_of([(f, n, *seen(u, v)) for f, n, u, v in walk + stand] + [(5, 3, 320, -100)], 100))
            self.run_it("a.jsonl", "--metres", "zones.json", "--output", "heat.csv")
            table = self.table()
            expected = plain_table([walk + stand], 0.5)
            self.check(table, expected)
            self.assertEqual({speed for x, _, _, _, speed in table if x == -2 and speed is not None}, {1.4})
            self.assertIn((2.0, 10.0, 1, 9.9, 0.0), table)

    def test_lines_that_are_none_are_left_out_and_told(self):
        walk = walks(100, 3, lambda: (100, 100))
        self.write("a.jsonl", ["{", "[]", *lines_of(walk, 100), '{"frame":1}'])
        self.assertIn("3 lines are none", self.run_it("a.jsonl", "--output", "heat.csv", "--cell", "16"))
        self.check(self.table(), plain_table([walk], 16))

    def test_files_that_are_missing_are_one_line(self):
        self.write("a.jsonl", lines_of([(0, 1, 1.0, 1.0)], 1))
        for options in (["missing.jsonl"], ["a.jsonl", "--over", "missing.png"]):
            said = self.run_it(*options, status=1)
            self.assertRegex(said, r"missing\.(jsonl|png): No such file")
            self.assertEqual(said.count("\n"), 1, said)

    def test_a_folder_may_have_more_files_than_may_be_open(self):
        walk = walks(100, 3, lambda: (100, 100))
        self.write("results/a.jsonl", lines_of(walk, 100))
        for number in range(200):
            self.write(f"results/empty{number}.jsonl", [])
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        self.run_it("results", "--output", "heat.csv", "--cell", "16",
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, most)))
        self.check(self.table(), plain_table([walk], 16))


class PictureTest(Case):
    def test_squares_lie_where_people_were_over_the_picture(self):
        cv2.imwrite(str(self.folder / "street.png"), numpy.full((480, 640, 3), 255, numpy.uint8))
        self.write("a.jsonl", lines_of([(frame, 1, 400.0, 120.0) for frame in range(100)], 100))
        self.run_it("a.jsonl", "--over", "street.png", "--cell", "40", "--output", "heat.png", "--output", "heat.svg")
        picture = cv2.imread(str(self.folder / "heat.png")).astype(int)
        coloured = numpy.abs(picture - picture.mean(axis=2, keepdims=True)).max(axis=2) > 40
        coloured[:, picture.shape[1] * 3 // 4:] = False  # the legend
        rows, columns = numpy.nonzero(coloured)
        frame = numpy.nonzero((picture.max(axis=2) < 140).sum(axis=0) > picture.shape[0] / 2)[0]  # the sides of the axes
        left, right = frame[0], frame[frame < picture.shape[1] * 0.9][-1]
        self.assertAlmostEqual((columns.mean() - left) / (right - left), 420 / 640, delta=0.01)
        self.assertAlmostEqual((columns.max() - columns.min()) / (right - left), 40 / 640, delta=0.01)
        self.assertGreater(len(rows), 100)
        text = (self.folder / "heat.svg").read_text(encoding="utf-8")
        self.assertRegex(text, r"<svg")
        self.assertIn("seconds, all together", text)

    def test_a_floor_plan_and_every_measure(self):
        cv2.imwrite(str(self.folder / "plan.png"), numpy.full((200, 400), 200, numpy.uint8))
        ground = [[-3, 6], [3, 6], [3, 20], [-3, 20]]
        self.write("zones.json", [json.dumps({"metres": {"picture": [seen(*point) for point in ground], "ground": ground}})])
        self.write("a.jsonl", lines_of([(f, 1, *seen(-2, 6 + 0.14 * f)) for f in range(100)], 100))
        for measure, words in (("visits", "different tracks"), ("seconds", "seconds"), ("speed", "metres a second")):
            self.run_it("a.jsonl", "--metres", "zones.json", "--over", "plan.png", "--area=-5,22,5,4", "--show", measure, "--output", "heat.svg")
            self.assertIn(words, (self.folder / "heat.svg").read_text(encoding="utf-8"))
        self.assertIn("--area", self.run_it("a.jsonl", "--metres", "zones.json", "--over", "plan.png", status=2))
        self.assertIn("no places in metres", self.run_it("a.jsonl", "--metres", "a.jsonl", status=2))


class RunningTest(Case):
    def test_a_running_stream_is_drawn_again_and_again(self):
        walk = walks(100, 5, lambda: (100, 100))
        lines = lines_of(walk, 100)
        process = subprocess.Popen([sys.executable, PROGRAM, "-", "--every", "0.3", "--output", "heat.csv", "--cell", "16"], cwd=self.folder,
                                   stdin=subprocess.PIPE, text=True)
        try:
            process.stdin.write("\n".join(lines[:50]) + "\n")
            process.stdin.flush()
            self.until(plain_table([[one for one in walk if one[0] < 50]], 16))
            process.stdin.write("\n".join(lines[50:]) + "\n")
            process.stdin.close()
            self.assertEqual(process.wait(SECONDS), 0)
            self.check(self.table(), plain_table([walk], 16))
        finally:
            process.kill()
            process.wait()

    def test_a_file_that_grows_is_read_on(self):
        walk = walks(100, 5, lambda: (100, 100))
        lines = lines_of(walk, 100)
        self.write("a.jsonl", lines[:50])
        process = subprocess.Popen([sys.executable, PROGRAM, "a.jsonl", "--every", "0.3", "--output", "heat.csv", "--cell", "16"], cwd=self.folder)
        try:
            self.until(plain_table([[one for one in walk if one[0] < 50]], 16))
            with open(self.folder / "a.jsonl", "a", encoding="utf-8") as file:
                file.write("\n".join(lines[50:]) + "\n")
            self.until(plain_table([walk], 16))
            process.terminate()
            self.assertEqual(process.wait(SECONDS), 0)
        finally:
            process.kill()
            process.wait()

    def until(self, expected):
        end = time.monotonic() + SECONDS
        while True:
            try:
                self.check(self.table(), expected)
                return
            except (AssertionError, FileNotFoundError):
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)


class PageTest(unittest.TestCase):
    def test_the_program_takes_the_options_of_the_pages(self):
        sys.path.insert(0, str(PROGRAM.parent))
        heatmap = __import__("heatmap")
        for page in "heatmap", "":
            text = (ROOT / "examples" / page / "README.md").read_text(encoding="utf-8").replace("\\\n", "")
            commands = re.findall(r"\bcudavision-heatmap ((?:[\w.,/-]+ ?|\"[^\"]*\" ?)+)$", text, re.M)
            self.assertGreater(len(commands), 0, page)
            for command in commands:
                heatmap.parser_of_options().parse_args(command.split())


if __name__ == "__main__":
    unittest.main()
