#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the calibration of a camera for cudarectify, from pictures of a chessboard. README.md describes it."""
import argparse
import os
import pathlib
import re
import sys

try:
    import cv2
    import numpy
except ModuleNotFoundError as missing:
    sys.exit(f"cudavision-calibrate: {missing}: Debian's package python3-opencv has it")

FEWEST = 5  # three would do in theory, but then every error of a corner counts
SIDES = (3, 100)  # of a board, in corners
FISHEYE = cv2.fisheye.CALIB_USE_INTRINSIC_GUESS | cv2.fisheye.CALIB_RECOMPUTE_EXTRINSIC | cv2.fisheye.CALIB_CHECK_COND | cv2.fisheye.CALIB_FIX_SKEW

EXAMPLE = """example:
  cudavision-calibrate --board 9x6 --square 0.025 --output door.yml door/*.jpg"""


class Wrong(Exception):
    """Pictures or arguments that cannot be used; its text says why."""


def board_of(text):
    match = re.fullmatch(r"(\d+)x(\d+)", text)
    if not match or not all(SIDES[0] <= int(side) <= SIDES[1] for side in match.groups()):
        raise argparse.ArgumentTypeError(f"{text}: two numbers from {SIDES[0]} to {SIDES[1]} are expected, as 9x6")
    return int(match[1]), int(match[2])


def positive(text):
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError("a number above 0 is expected")
    return number


def parser_of_options():
    parser = argparse.ArgumentParser(prog="cudavision-calibrate", description=__doc__, epilog=EXAMPLE, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("pictures", nargs="+", metavar="PICTURE", help="pictures of a chessboard, all of one camera and one size")
    add("--output", default="calibration.yml", metavar="FILE", help="the calibration; default: %(default)s")
    add("--board", type=board_of, default="9x6", metavar="COLUMNSxROWS", help="the inner corners of the board, where four squares meet; default: %(default)s")
    add("--square", type=positive, default=1.0, metavar="METRES", help="the side of a square, which is only noted in the file; default: %(default)g")
    add("--fisheye", action="store_true", help="the lens is a fisheye: it sees more than some 120 degrees")
    return parser


def refined(picture, corners):
    """Corners to a fraction of a pixel, from windows in which there is no other corner."""
    steps = numpy.linalg.norm(corners[1:] - corners[:-1], axis=2)
    window = int(numpy.clip(steps.min() / 3, 2, 11))
    return cv2.cornerSubPix(picture, corners, (window, window), (-1, -1), (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 100, 0.001))


class Board:
    """The corners of the board in pictures."""

    def __init__(self, shape, square):
        self.shape, self.names, self.corners, self.size = shape, [], [], None
        self.model = numpy.zeros((1, shape[0] * shape[1], 3))  # in metres, on the board
        self.model[0, :, :2] = numpy.mgrid[0:shape[0], 0:shape[1]].T.reshape(-1, 2) * square

    def look(self, name):
        """Finds the corners in a picture. Returns why it is not usable, or None."""
        picture = cv2.imread(name, cv2.IMREAD_GRAYSCALE | cv2.IMREAD_IGNORE_ORIENTATION)  # as cameras send it
        if picture is None:
            return "no picture that OpenCV can read"
        size = picture.shape[1], picture.shape[0]
        if self.size not in (None, size):
            return f"it has {size[0]}x{size[1]} pixels, and others {self.size[0]}x{self.size[1]}"
        found, corners = cv2.findChessboardCorners(picture, self.shape, flags=cv2.CALIB_CB_ADAPTIVE_THRESH | cv2.CALIB_CB_NORMALIZE_IMAGE)
        if not found:  # twenty times slower, but it knows boards that are bent more
            found, corners = cv2.findChessboardCornersSB(picture, self.shape, flags=cv2.CALIB_CB_NORMALIZE_IMAGE)
        if not found:
            return f"no board with {self.shape[0]}x{self.shape[1]} inner corners was found"
        self.size = size
        self.names.append(name)
        self.corners.append(refined(picture, corners).reshape(1, -1, 2).astype(float))
        return None

    def coverage(self):
        """The share of the picture in which there were corners."""
        hull = cv2.convexHull(numpy.concatenate(self.corners, axis=1)[0].astype(numpy.float32))
        return cv2.contourArea(hull) / (self.size[0] * self.size[1])


def pinhole(board):
    corners = [one.astype(numpy.float32) for one in board.corners]
    _, matrix, k, turns, moves = cv2.calibrateCamera([board.model.astype(numpy.float32)] * len(corners), corners, board.size, None, None)
    return matrix, k, [cv2.projectPoints(board.model, *pose, matrix, k)[0].reshape(1, -1, 2) for pose in zip(turns, moves, strict=True)]


def fisheye_from(board, circle):
    """Begins with a lens that shows 180 degrees in a circle of this diameter."""
    focal, (width, height) = circle / numpy.pi, board.size
    start = numpy.array([[focal, 0, (width - 1) / 2], [0, focal, (height - 1) / 2], [0, 0, 1]])
    _, matrix, k, turns, moves = cv2.fisheye.calibrate([board.model] * len(board.corners), board.corners, board.size, start, numpy.zeros(4), flags=FISHEYE)
    return matrix, k, [cv2.fisheye.projectPoints(board.model, *pose, matrix, k)[0] for pose in zip(turns, moves, strict=True)]


def fisheye(board, refuse):
    """Leaves out pictures that OpenCV cannot place, one after another."""
    while len(board.corners) >= FEWEST:
        match = None
        for circle in (numpy.hypot(*board.size), *board.size):  # OpenCV fails if it begins far from the lens
            try:
                return fisheye_from(board, circle)
            except cv2.error as error:
                match = match or re.search(r"input array (\d+)", str(error))
        if not match:
            raise Wrong("OpenCV finds no fisheye that would see the boards so")
        del board.corners[int(match[1])]
        refuse(board.names.pop(int(match[1])), "its board cannot be placed, because it is too far aside or too flat")
    raise Wrong(f"at least {FEWEST} usable pictures are needed")


def write(path, values):
    """Readers see the old file or the new one."""
    file = cv2.FileStorage(".yml", cv2.FILE_STORAGE_WRITE | cv2.FILE_STORAGE_MEMORY)
    for name, value in values.items():
        file.write(name, value)
    new = pathlib.Path(path)
    new = new.with_name(f".{new.name}.part")
    try:
        new.write_text(file.releaseAndGetString(), encoding="ascii")
        os.replace(new, path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, path) from None


def run(chosen):
    def refuse(name, reason):
        print(f"{name}: not used: {reason}", file=sys.stderr)

    board = Board(chosen.board, chosen.square)
    for name in chosen.pictures:
        reason = board.look(name)
        if reason:
            refuse(name, reason)
    if len(board.corners) < FEWEST:
        raise Wrong(f"at least {FEWEST} usable pictures are needed, and {len(board.corners)} were found: is --board right?")
    matrix, k, placed = fisheye(board, refuse) if chosen.fisheye else pinhole(board)
    errors = [float(numpy.linalg.norm(there - seen, axis=2).mean()) for there, seen in zip(placed, board.corners, strict=True)]
    mean, worst = sum(errors) / len(errors), max(range(len(errors)), key=lambda i: errors[i])
    if not numpy.isfinite(mean):
        raise Wrong("OpenCV finds no camera that would see the boards so")
    write(chosen.output, {
        "image_width": board.size[0], "image_height": board.size[1], "board_width": chosen.board[0], "board_height": chosen.board[1],
        "square_size": chosen.square, "fisheye_model": int(chosen.fisheye), "camera_matrix": matrix, "distortion_coefficients": k,
        "avg_reprojection_error": mean})
    print(f"{chosen.output}: {len(errors)} pictures; a corner is {mean:.3f} pixels from where the calibration places it, in the mean, "
          f"and {errors[worst]:.3f} in the worst picture, {board.names[worst]}; corners were in {board.coverage():.0%} of the picture")
    return 0


def main():
    parser = parser_of_options()
    cv2.setLogLevel(0)  # what it says about files is said here
    try:
        return run(parser.parse_args())
    except Wrong as error:
        parser.exit(2, f"cudavision-calibrate: {error}\n")
    except OSError as error:
        parser.exit(1, f"cudavision-calibrate: {error.filename}: {error.strerror}\n")


if __name__ == "__main__":
    sys.exit(main())
