#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""cudarectify in front of a real lens and a made fisheye: rows of OpenCV's chessboards become straight, as with OpenCV, and
cudahough finds each as one line; ways of people under a ceiling are right in metres behind a fisheye."""
import json
import math
import os
import pathlib
import sys
import tempfile
import unittest

import cv2
import gi
import numpy

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstApp, GstVideo  # noqa: E402,F401  (GstApp: its functions of appsrc)

DATA = pathlib.Path(os.environ.get("CUDAVISION_TEST_DATA", "/usr/share/doc/opencv-doc/examples/data"))
BOARD, SIZE = (9, 6), (640, 480)
TRACK = "cudavisiontrack min-hits=0"
FINELY = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 100, 0.001)


def played(size, frames, elements, attach=lambda number, buffer: None):
    """The gray frames that come out of elements, and the lines of cudavisionjson behind them."""
    width, height = size
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        pipeline = Gst.parse_launch(
            f"appsrc name=in format=time caps=video/x-raw,format=GRAY8,width={width},height={height},framerate=25/1 ! {elements} ! "
            f"cudavisionjson location={file.name} ! fakesink name=out signal-handoffs=true sync=false")
        made = []

        def keep(_, buffer, pad):
            shape = pad.get_current_caps().get_structure(0)
            rows = numpy.frombuffer(buffer.extract_dup(0, buffer.get_size()), numpy.uint8).reshape(shape.get_int("height")[1], -1)
            made.append(rows[:, :shape.get_int("width")[1]])

        pipeline.get_by_name("out").connect("handoff", keep)
        pipeline.set_state(Gst.State.PLAYING)
        for number, frame in enumerate(frames):
            buffer = Gst.Buffer.new_wrapped(frame.tobytes())
            buffer.pts, buffer.duration = number * Gst.SECOND // 25, Gst.SECOND // 25
            attach(number, buffer)
            pipeline.get_by_name("in").push_buffer(buffer)
        pipeline.get_by_name("in").end_of_stream()
        message = pipeline.get_bus().timed_pop_filtered(120 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
        pipeline.set_state(Gst.State.NULL)
        assert message and message.type == Gst.MessageType.EOS, message and message.parse_error()
        return made, [json.loads(line) for line in file]


def corners_in(picture):
    """The rows of the board's inner corners: 6 of 9 points."""
    found, corners = cv2.findChessboardCorners(picture, BOARD, flags=cv2.CALIB_CB_ADAPTIVE_THRESH | cv2.CALIB_CB_NORMALIZE_IMAGE)
    assert found
    return cv2.cornerSubPix(picture, corners, (5, 5), (-1, -1), FINELY).reshape(BOARD[1], BOARD[0], 2)


def distances(points, rho, theta):
    return numpy.abs(points @ (math.cos(theta), math.sin(theta)) - rho)


def distance_from_a_line(points):
    """The mean distance of points from the straight line that fits best."""
    middle = points.mean(axis=0)
    return numpy.abs((points - middle) @ numpy.linalg.svd(points - middle)[2][1]).mean()


def bend(rows):
    return numpy.mean([distance_from_a_line(row) for row in rows])


class Chessboards(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        paths = sorted(DATA.glob("left??.jpg"))
        if not paths:
            raise unittest.SkipTest(f"no left??.jpg in {DATA} (Debian: opencv-doc)")
        cls.bent = [cv2.imread(str(path), cv2.IMREAD_GRAYSCALE) for path in paths]
        cls.corners = [corners_in(picture) for picture in cls.bent]
        model = numpy.zeros((BOARD[0] * BOARD[1], 3), numpy.float32)
        model[:, :2] = numpy.mgrid[: BOARD[0], : BOARD[1]].T.reshape(-1, 2)
        _, cls.matrix, cls.k, *_ = cv2.calibrateCamera([model] * len(paths), [c.reshape(-1, 1, 2) for c in cls.corners], SIZE, None, None)
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.location = pathlib.Path(cls.folder.name) / "camera.yml"
        file = cv2.FileStorage(str(cls.location), cv2.FILE_STORAGE_WRITE)
        for name, value in (("image_width", SIZE[0]), ("image_height", SIZE[1]), ("camera_matrix", cls.matrix),
                            ("distortion_coefficients", cls.k)):
            file.write(name, value)
        file.release()

    def test_rows_become_as_straight_as_with_opencv(self):
        made, _ = played(SIZE, self.bent, f"cudarectify calibration-location={self.location} alpha=1")
        # OpenCV 4.6 takes the right and the lower edge to be a pixel beyond the picture.
        plain = numpy.array([[500.0, 0, 320], [0, 500, 240], [0, 0, 1]])
        is_beyond = cv2.getOptimalNewCameraMatrix(plain, numpy.zeros(5), SIZE, 0)[0][0, 0] < 499.9
        wanted, _ = cv2.getOptimalNewCameraMatrix(self.matrix, self.k, (SIZE[0] - is_beyond, SIZE[1] - is_beyond), 1, SIZE)
        straight, opencv, moved = [], [], []
        for bent, picture, corners in zip(self.bent, made, self.corners, strict=True):
            rows = corners_in(picture)
            straight.append(bend(rows))
            opencv.append(bend(corners_in(cv2.undistort(bent, self.matrix, self.k, None, wanted))))
            there = cv2.undistortPoints(corners.reshape(-1, 1, 2), self.matrix, self.k, P=wanted).reshape(rows.shape)
            moved.append(numpy.abs(rows - there).max())
        before, after, by_opencv = map(numpy.mean, ([bend(rows) for rows in self.corners], straight, opencv))
        print(f"corners from straight rows: {before:.3f} pixels, behind cudarectify {after:.3f}, by cv::undistort {by_opencv:.3f}")
        self.assertLess(max(moved), 0.25, "a corner is elsewhere than by OpenCV's model")
        self.assertGreater(before, 3 * after)
        self.assertLess(after, 1.03 * by_opencv)

    def test_hough_finds_each_row_as_one_line(self):
        found = {}
        for name, elements in (("bent", "identity"), ("straight", f"cudarectify calibration-location={self.location} alpha=1")):
            made, lines = played(SIZE, self.bent, elements + " ! cudahough threshold=60 theta=0.0087266 nms-radius=12 "
                                 "max-lines=400 low-threshold=50 high-threshold=150 gaussian-sigma=1 display=false")
            # The lines that pass all nine corners of a row.
            found[name] = [sum(distances(row, own["rho"], own["theta"]).max() < 2 for own in line["lines"])
                           for picture, line in zip(made, lines, strict=True) for row in corners_in(picture)]
        print({name: numpy.bincount(counts).tolist() for name, counts in found.items()})
        self.assertEqual(set(found["straight"]), {1})
        self.assertLess(found["bent"].count(1), 0.7 * len(found["bent"]))


class Ceiling(unittest.TestCase):
    """A fisheye 3.2 m above the floor, which looks down and a little ahead. x runs to the right and y ahead, in metres."""
    SIZE, HEIGHT, DOWN = (1280, 960), 3.2, math.radians(80)
    MATRIX, K = numpy.array([[300.0, 0, 652], [0, 301, 471], [0, 0, 1]]), numpy.array([0.03, -0.01, 0.002, -0.0005])
    FLOOR = numpy.array([[-4.0, 3.5], [4, 3.5], [4, -2.5], [-4, -2.5]])  # seen from above, from the upper left corner on
    # Where somebody is after so many seconds.
    WALKS = {"straight": lambda t: (-3.5 + 1.25 * t, -1 + 0.5 * t), "circle": lambda t: (2 * math.cos(t / 2), 0.5 + 2 * math.sin(t / 2)),
             "winding": lambda t: (3 - 1.1 * t, 1.2 * math.cos(t))}

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "ceiling.yml").write_text(
            f"fisheye_model: 1\ncamera_matrix: {self.MATRIX.ravel().tolist()}\ndistortion_coefficients: {self.K.tolist()}\n"
            f"image_width: {self.SIZE[0]}\nimage_height: {self.SIZE[1]}\n", encoding="ascii")
        self.calibration = f"cudarectify calibration-location={self.folder}/ceiling.yml"

    def rays(self, places):
        """The rays from the camera to places on the floor: to the right, down in the picture, and along the axis."""
        x, y = numpy.array(places, float).T
        below = numpy.full_like(x, self.HEIGHT)
        s, c = math.sin(self.DOWN), math.cos(self.DOWN)
        return numpy.column_stack([x, below * c - y * s, below * s + y * c])

    def seen(self, places):
        """Where the fisheye sees places."""
        rays = self.rays(places)
        return cv2.fisheye.projectPoints(rays.reshape(-1, 1, 3), numpy.zeros(3), numpy.zeros(3), self.MATRIX, self.K)[0].reshape(-1, 2)

    def way(self, walk, elements, picture, seconds=5):
        """The way that somebody has come by cudavisionzones, relative to the true one, and how far the last place is off.
        picture: where the four places of FLOOR lie behind the elements."""
        at = [walk(t) for t in numpy.arange(0, seconds, 0.04)]

        def attach(number, buffer):  # a box on the floor: a larger one would grow where the fisheye turns it
            x, y = at[number]
            feet = self.seen([(x + dx, y + dy) for dx in (-0.05, 0.05) for dy in (-0.05, 0.05)]) + 0.5
            (left, top), (right, bottom) = feet.min(axis=0).round().astype(int), feet.max(axis=0).round().astype(int)
            GstVideo.buffer_add_video_region_of_interest_meta(buffer, "person", left, top, right - left, bottom - top)

        plan = {"metres": {"picture": picture.tolist(), "ground": self.FLOOR.tolist()},
                "lines": [{"name": "a", "from": [1, 1], "to": [9, 9], "anchor": "center"}]}
        (self.folder / "plan.json").write_text(json.dumps(plan), encoding="ascii")
        black = numpy.zeros(self.SIZE[::-1], numpy.uint8)
        _, lines = played(self.SIZE, [black] * len(at), f"{elements} ! cudavisionzones location={self.folder}/plan.json", attach)
        (track,) = lines[-1]["tracks"]
        truth = sum(math.dist(a, b) for a, b in zip(at, at[1:]))
        return track["way"] / truth, math.dist((track["place-x"], track["place-y"]), at[-1])

    def check(self, elements, picture):
        ways = {name: self.way(walk, elements, picture) for name, walk in self.WALKS.items()}
        print(elements.split(" view=")[1].split()[0], {name: (round(way, 3), round(off, 3)) for name, (way, off) in ways.items()})
        for name, (way, off) in ways.items():
            self.assertAlmostEqual(way, 1, delta=0.02, msg=name)
            self.assertLess(off, 0.1, name)

    def test_ways_are_right_in_the_floor_from_above(self):
        corners = " ".join(f"{x},{y}" for x, y in (self.seen(self.FLOOR) + 0.5) / self.SIZE)
        picture = numpy.array([[0, 0], [799, 0], [799, 599], [0, 599]]) + 0.5
        self.check(f'{self.calibration} view=plane corners="{corners}" ! video/x-raw,width=800,height=600 ! {TRACK}', picture)

    def test_ways_are_right_in_a_straight_view(self):
        width, height, tilt = 900, 700, math.radians(20)  # from the axis up, that is ahead
        x, y, z = self.rays(self.FLOOR).T
        turned = numpy.column_stack([x, y * math.cos(tilt) + z * math.sin(tilt), z * math.cos(tilt) - y * math.sin(tilt)])
        focal = width / 2 / math.tan(math.radians(120 / 2))
        picture = turned[:, :2] / turned[:, 2:] * focal + (width / 2, height / 2)
        # In this order, cudarectify carries the estimates of the tracker.
        self.check(f"{TRACK} ! {self.calibration} view=perspective tilt=-20 field-of-view=120 ! "
                   f"video/x-raw,width={width},height={height}", picture)

    def test_ways_are_wrong_in_the_bent_picture(self):
        for name, walk in self.WALKS.items():
            self.assertGreater(self.way(walk, TRACK, self.seen(self.FLOOR) + 0.5)[0], 1.1, name)


if __name__ == "__main__":
    Gst.init(None)
    unittest.main()
