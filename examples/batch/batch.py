#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs elements over many videos, or over cameras, and writes the results as lines of JSON. README.md describes it."""
import argparse
import os
import signal
import sys

import addresses
import cameras
import parquet
import pipelines
import videos
from results import Folder
from runs import Batch
from stops import Stops

EXAMPLE = """example:
  batch.py --elements "cudahog model=people display=false ! cudavisiontrack" --output results videos

exit status: 0 all videos are done, 1 some are not (they are listed), 2 wrong usage, 3 with --strict: all are done, some
with warnings, 128+N stopped by signal N"""


def a_share(text):
    number, _, count = text.partition("/")
    if not (number.isascii() and number.isdigit() and count.isascii() and count.isdigit() and int(number) < int(count)):
        raise argparse.ArgumentTypeError(f"{text!r} is no share: I/N, with I from 0 to N-1, is one")
    return int(number), int(count)


def at_least(least, kind):
    def convert(text):
        value = kind(text)
        if not value >= least:
            raise ValueError
        return value
    convert.__name__ = f"number of at least {least}"
    return convert


class Parser(argparse.ArgumentParser):
    def error(self, message):
        """Says what is wrong, without passwords: an argument may be an address."""
        for argument in sorted(sys.argv[1:], key=len, reverse=True):
            if addresses.ADDRESS.match(argument):
                message = addresses.hide(message.replace(argument, addresses.LEFT_OUT), argument)
        self.exit(2, f"{self.prog}: {' '.join(message.split())} (more: {self.prog} --help)\n")


def options():
    parser = Parser(description=__doc__, epilog=EXAMPLE, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", nargs="+", metavar="VIDEO|FOLDER|LIST|URI",
                        help="a LIST ends in .txt or .list and has a path on each line, or paths with a NUL byte behind each; "
                             "with --cameras it has a URI on each line, or a name and a URI")
    parser.add_argument("--elements", required=True, help="what the frames go through, as for gst-launch-1.0")
    parser.add_argument("--output", required=True, metavar="DIR", help="the folder of the results; it is made if missing")
    parser.add_argument("--shard", type=a_share, default=(0, 1), metavar="I/N", help="do the share I (from 0) of N")
    parser.add_argument("--jobs", type=at_least(1, int), default=min(4, len(os.sched_getaffinity(0))), metavar="N",
                        help="videos at once; default: %(default)s")
    parser.add_argument("--retries", type=at_least(0, int), default=1, metavar="N",
                        help="how often a video that fails is tried again; default: %(default)s")
    parser.add_argument("--stall-timeout", type=at_least(0.1, float), metavar="SECONDS",
                        help="seconds without a frame after which a video or a connection is given up; default: 120, cameras: 20")
    parser.add_argument("--tensor-data", choices=("none", "summary", "full"), default="summary",
                        help="the part of each tensor, such as a histogram, that is written; default: %(default)s")
    parser.add_argument("--parquet", action="store_true", help="write each result as a Parquet table, too; needs pyarrow")
    parser.add_argument("--strict", action="store_true", help="end with status 3 if a video is done with warnings")
    parser.add_argument("--decode", default=f"decodebin ! {pipelines.UPRIGHT}", metavar="ELEMENTS",
                        help="the elements that turn a file into frames; default: %(default)s")
    parser.add_argument("--cameras", action="store_true",
                        help="the inputs are cameras, each connected until the program is stopped")
    parser.add_argument("--rotate", type=at_least(1, float), default=600, metavar="SECONDS",
                        help="cameras: begin a new file of results after so long; default: %(default)s")
    chosen = parser.parse_args()
    chosen.stall_timeout = chosen.stall_timeout or (20 if chosen.cameras else 120)
    if chosen.cameras and chosen.parquet:
        parser.error("--parquet is for videos: a part of a camera is converted when it is joined")
    if chosen.cameras and chosen.strict:
        parser.error("--strict is for videos: cameras end only by a signal")
    return parser, chosen


def folder_of(path):
    try:
        os.fsencode(path).decode()
        folder = Folder(path)
        if not os.access(folder.path, os.W_OK | os.X_OK):
            raise PermissionError(13, os.strerror(13))
        return folder
    except UnicodeDecodeError as error:
        raise videos.Unusable(f"{videos.printable(path)}: the name of the output folder is no UTF-8") from error
    except OSError as error:
        raise videos.Unusable(f"{path}: no output folder: {error.strerror}") from error


def leave(status):
    """Ends the process even if a pipeline hangs, or nobody reads its standard output and error."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            pass
    os._exit(status)


def stop_on_signals(run):
    def end(number):
        run.abandon()
        print(*run.summary(signal.Signals(number).name), sep="\n")
        leave(128 + number)
    run.stops = Stops(end)


def run_videos(folder, chosen):
    batch = Batch(folder, chosen)
    stop_on_signals(batch)
    pipelines.read_nothing_else()
    found, unusable = videos.videos(chosen.inputs)
    for name, why in unusable:
        batch.fail(name, why)
    for video in videos.share(found, *chosen.shard):
        batch.add(video)
    status = batch.run()
    print(*batch.summary(), sep="\n")
    return status


def run_cameras(folder, chosen):
    found, unusable = videos.cameras(chosen.inputs)
    if unusable:
        raise videos.Unusable("; ".join(f"{name}: {why}" for name, why in unusable))
    pipelines.read_nothing_local({camera.uri.partition("://")[0].lower() for camera in found})
    wall = cameras.Wall(folder, chosen)
    stop_on_signals(wall)
    for camera in videos.share(found, *chosen.shard):
        wall.add(camera)
    wall.run()


def main():
    parser, chosen = options()
    if chosen.parquet and parquet.pyarrow is None:
        parser.error("--parquet needs pyarrow, which this Python does not have")
    try:
        pipelines.check(chosen.elements, chosen.decode)
        folder = folder_of(chosen.output)
        leave((run_cameras if chosen.cameras else run_videos)(folder, chosen))
    except (pipelines.Refused, videos.Unusable) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
