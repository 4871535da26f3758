#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests cudavision-calibrate: its calibrations make OpenCV's chessboards straight, and find a fisheye that drew some."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import cv2
import numpy
from waiting import SECONDS

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "examples" / "calibrate" / "calibrate.py"
DATA = pathlib.Path(os.environ.get("CUDAVISION_TEST_DATA", "/usr/share/doc/opencv-doc/examples/data"))
BOARD = (9, 6)
sys.path.insert(0, str(PROGRAM.parent))
import calibrate  # noqa: E402


def read(path):
    file = cv2.FileStorage(str(path), cv2.FILE_STORAGE_READ)
    matrices = [file.getNode(name).mat() for name in ("camera_matrix", "distortion_coefficients")]
    return *matrices, {name: file.getNode(name).real() for name in ("image_width", "image_height", "fisheye_model", "avg_reprojection_error")}


def distance_from_lines(corners):
    """The mean distance of corners from the straight lines that fit the rows and columns of a board best."""
    board = corners.reshape(BOARD[1], BOARD[0], 2)
    distances = []
    for line in [*board, *board.transpose(1, 0, 2)]:
        centred = line - line.mean(axis=0)
        distances.extend(numpy.abs(centred @ numpy.linalg.svd(centred)[2][1]))
    return numpy.mean(distances)


def draw_fisheye(matrix, k, turn, move, size):
    """A picture of a board of 10x7 squares, four rays a pixel. Beyond the board all is gray."""
    x, y = numpy.meshgrid((numpy.arange(2 * size[0]) - 0.5) / 2, (numpy.arange(2 * size[1]) - 0.5) / 2)
    plane = cv2.fisheye.undistortPoints(numpy.stack([x, y], axis=-1).reshape(1, -1, 2), matrix, k)[0]
    to_board = numpy.linalg.inv(numpy.column_stack([cv2.Rodrigues(turn)[0][:, :2], move]))
    ray = numpy.column_stack([plane, numpy.ones(len(plane))]) @ to_board.T
    u, v = numpy.floor(ray[:, :2] / ray[:, 2:]).T
    picture = numpy.where((u + v) % 2 == 0, 230, 25)
    picture[(u < -1) | (u > 8) | (v < -1) | (v > 5) | (ray[:, 2] <= 0)] = 128
    border = (u < -2) | (u > 9) | (v < -2) | (v > 6)
    picture[(picture == 128) & ~border] = 230  # paper around the squares
    return cv2.resize(picture.reshape(2 * size[1], 2 * size[0]).astype(numpy.uint8), size, interpolation=cv2.INTER_AREA)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="calibrate.")))

    def run_it(self, *arguments, status=0, **more):
        result = subprocess.run([sys.executable, PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True, check=False, timeout=SECONDS, **more)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertNotIn("Traceback", result.stderr)
        return result.stdout, result.stderr

    def boards(self):
        pictures = sorted(DATA.glob("left??.jpg"))
        if not pictures:
            self.skipTest(f"no left??.jpg in {DATA} (Debian: opencv-doc)")
        return pictures


class ChessboardTest(Case):
    def test_lines_of_corners_become_straight(self):
        pictures = self.boards()
        said, faults = self.run_it("--square", "0.025", *pictures)
        self.assertEqual(faults, "")
        self.assertIn(f"calibration.yml: {len(pictures)} pictures; ", said)
        matrix, k, facts = read(self.folder / "calibration.yml")
        self.assertEqual((facts["image_width"], facts["image_height"], facts["fisheye_model"]), (640, 480, 0))
        self.assertEqual(k.size, 5)
        self.assertLess(facts["avg_reprojection_error"], 0.25)
        opencv = read(DATA / "left_intrinsics.yml")  # by OpenCV's own program
        bent, straight, as_opencv = [], [], []
        for path in pictures:
            picture = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
            found, corners = cv2.findChessboardCorners(picture, BOARD)
            self.assertTrue(found, path)
            corners = cv2.cornerSubPix(picture, corners, (5, 5), (-1, -1), (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 100, 0.001))
            bent.append(distance_from_lines(corners))
            straight.append(distance_from_lines(cv2.undistortPoints(corners, matrix, k, P=matrix)))
            as_opencv.append(distance_from_lines(cv2.undistortPoints(corners, opencv[0], opencv[1], P=opencv[0])))
        self.assertGreater(numpy.mean(bent), 4 * numpy.mean(straight))
        self.assertLess(numpy.mean(straight), 1.1 * numpy.mean(as_opencv))

    def test_pictures_that_cannot_be_used_are_named(self):
        pictures = self.boards()[:6]
        cv2.imwrite(str(self.folder / "gray.png"), numpy.full((480, 640), 128, numpy.uint8))
        cv2.imwrite(str(self.folder / "small.png"), numpy.full((48, 64), 128, numpy.uint8))
        (self.folder / "text.jpg").write_text("no picture", encoding="ascii")
        _, faults = self.run_it(*pictures, "gray.png", "small.png", "text.jpg", "missing.jpg")
        self.assertEqual(faults.splitlines(), [
            "gray.png: not used: no board with 9x6 inner corners was found",
            "small.png: not used: it has 64x48 pixels, and others 640x480",
            "text.jpg: not used: no picture that OpenCV can read", "missing.jpg: not used: no picture that OpenCV can read"])

    def test_too_few_pictures_change_no_file(self):
        (self.folder / "old.yml").write_text("old", encoding="ascii")
        _, faults = self.run_it("--output", "old.yml", *self.boards()[:4], status=2)
        self.assertIn("at least 5 usable pictures are needed, and 4 were found", faults)
        _, faults = self.run_it("--output", "old.yml", "--board", "7x5", *self.boards()[:6], status=2)
        self.assertIn("no board with 7x5 inner corners was found", faults)
        (self.folder / "results").mkdir()
        for place, why in (("nowhere/new.yml", "No such file"), ("results", "Is a directory")):
            _, faults = self.run_it("--output", place, *self.boards()[:6], status=1)
            self.assertIn(f"cudavision-calibrate: {place}: {why}", faults)
        (self.folder / "results").rmdir()
        self.assertEqual([path.name for path in self.folder.iterdir()], ["old.yml"])
        self.assertEqual((self.folder / "old.yml").read_text(encoding="ascii"), "old")
        self.run_it("--output", "old.yml", *self.boards()[:6])
        self.assertEqual([path.name for path in self.folder.iterdir()], ["old.yml"])
        self.assertGreater(read(self.folder / "old.yml")[0][0, 0], 500)


class FisheyeTest(Case):
    MATRIX, K = numpy.array([[190.0, 0, 322], [0, 191, 236], [0, 0, 1]]), numpy.array([0.03, -0.01, 0.002, -0.0005])

    def setUp(self):
        super().setUp()
        poses = [((a, b, c), (x, y, 6)) for a, b, c, x, y in (
            (0, 0, 0, -4, -2.5), (0.4, 0, 0, -9, -6), (0, 0.5, 0, 1, -6), (-0.4, 0.3, 0.1, -9, 1), (0.3, -0.5, 0, 0, 0),
            (0.5, 0.3, 0.2, -4, -3), (-0.5, -0.2, 0, -6, -3), (0, -0.6, 0.3, -2, -4), (0.1, 0.6, -0.2, -6, -2))]
        self.pictures = [str(self.folder / f"{number}.png") for number in range(len(poses))]
        for path, (turn, move) in zip(self.pictures, poses, strict=True):
            cv2.imwrite(path, draw_fisheye(self.MATRIX, self.K, numpy.array(turn, float), numpy.array(move, float), (640, 480)))

    def test_the_fisheye_that_drew_the_boards_is_found(self):
        self.run_it("--fisheye", *self.pictures)
        found, coefficients, facts = read(self.folder / "calibration.yml")
        self.assertEqual((facts["fisheye_model"], coefficients.size), (1, 4))
        self.assertLess(facts["avg_reprojection_error"], 0.2)
        numpy.testing.assert_allclose(found, self.MATRIX, atol=0.5)
        # Both place rays up to 60 degrees from the axis alike.
        rays = numpy.array([[[numpy.tan(angle), 0]] for angle in numpy.linspace(0, numpy.pi / 3, 20)])
        there = [cv2.fisheye.distortPoints(rays, *camera) for camera in ((found, coefficients), (self.MATRIX, self.K))]
        numpy.testing.assert_allclose(there[0], there[1], atol=0.5)

    def test_lenses_from_a_wide_one_to_a_whole_circle_are_found(self):
        random = numpy.random.default_rng(1)
        for focal, size in (160, (960, 540)), (220, (960, 540)), (400, (960, 540)), (380, (600, 600)):  # 160: 193 degrees high
            board = calibrate.Board(BOARD, 1)
            board.size, board.names = size, list("abcdefghijkl")
            matrix = numpy.array([[focal, 0, size[0] / 2 + 2], [0, focal, size[1] / 2 - 3], [0, 0, 1]])
            for side in numpy.linspace(0, 2 * numpy.pi, len(board.names)):
                turn, aside = random.normal(0, 0.3, 3), random.uniform(0, 180 / focal)
                centre = random.uniform(7, 12) * numpy.array([numpy.sin(aside) * numpy.cos(side), numpy.sin(aside) * numpy.sin(side), numpy.cos(aside)])
                move = centre - cv2.Rodrigues(turn)[0] @ (4, 2.5, 0)
                seen = cv2.fisheye.projectPoints(board.model, turn, move, matrix, self.K)[0]
                board.corners.append(seen + random.normal(0, 0.1, seen.shape))
            numpy.testing.assert_allclose(calibrate.fisheye(board, self.fail)[0], matrix, atol=1)

    def test_a_board_that_opencv_cannot_place_is_left_out(self):
        board, refused = calibrate.Board(BOARD, 1), []
        for path in self.pictures:
            board.look(path)
        board.corners[2] = board.corners[2] * 1e-9 + (320, 240)
        bad = board.names[2]
        found, *_ = calibrate.fisheye(board, lambda name, _: refused.append(name))
        self.assertEqual(refused, [bad])
        self.assertNotIn(bad, board.names)
        numpy.testing.assert_allclose(found, self.MATRIX, atol=0.5)


class InstallationTest(Case):
    def test_a_missing_package_is_named(self):
        (self.folder / "cv2.py").write_text("raise ModuleNotFoundError(\"No module named 'cv2'\", name='cv2')", encoding="ascii")
        _, faults = self.run_it("a.jpg", status=1, env=os.environ | {"PYTHONPATH": str(self.folder)})
        self.assertIn("No module named 'cv2': Debian's package python3-opencv has it", faults)

    def test_wrong_arguments_are_refused(self):
        for arguments in (["--board", "9"], ["--board", "2x9"], ["--square", "0"], []):
            self.run_it(*arguments, *(["a.jpg"] if arguments else []), status=2)


if __name__ == "__main__":
    unittest.main()
