#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records a clip of each event of cameras or files, as they were encoded. README.md describes it."""
import argparse
import os
import pathlib
import re
import signal
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "batch"))
import addresses  # noqa: E402
import pipelines  # noqa: E402
import progress  # noqa: E402
import stream  # noqa: E402
import videos  # noqa: E402
from clips import file_name  # noqa: E402
from gi.repository import GLib, Gst  # noqa: E402
from keep import clean  # noqa: E402
from recorder import Recorder, workers  # noqa: E402

TICK = 200  # milliseconds
CLEAN = 60  # seconds
PATIENCE = 10  # seconds for clips to be closed at the end
MOTION = "cudabgsub scale=1/2 learning-rate=0.001 display=false"
PEOPLE = f"{MOTION} ! cudahog model=people roi-type=motion hit-threshold=-0.3 display=false ! cudavisiontrack type=person"
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

EXAMPLE = """example:
  cudavision-record --source rtsp://camera.example.org/stream --zones street.json --on "cross path" --folder clips"""


def amount(units, least=0):
    def convert(text):
        match = re.fullmatch(rf"(\d+(?:\.\d+)?)([{units}]?)", text)
        if not match or float(match[1]) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is no number with one of the units {', '.join(units)}")
        return float(match[1]) * UNITS.get(match[2], 1)
    return convert


class Parser(argparse.ArgumentParser):
    def error(self, message):
        for argument in sys.argv[1:]:
            message = message.replace(argument, addresses.without_secrets(argument) if " " in argument else addresses.LEFT_OUT) \
                if "://" in argument else message
        self.exit(2, f"{self.prog}: {' '.join(message.split())} (more: {self.prog} --help)\n")


def parser_of_options():
    parser = Parser(prog="cudavision-record", description=__doc__, epilog=EXAMPLE, allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--source", action="append", required=True, metavar="SOURCE",
        help="a file, an address as rtsp://host/path, elements with encoded video as for gst-launch-1.0, or a list of cameras: a file "
             ".txt with an address on each line, or a name and an address")
    add("--name", help="the name of a single source, for files and JSON")
    add("--folder", default="clips", metavar="DIR", help="where clips are written; default: %(default)s")
    add("--elements", metavar="ELEMENTS", help="what finds the events; default: motion or people, as --on and --zones need")
    add("--zones", metavar="FILE", help="lines and zones, as cudavision-live saves them")
    add("--on", action="append", metavar="EVENT", help="cross, enter, leave, dwell, crowd, wrong-way or close, also with the name of a line or a "
                                                       "zone as 'cross door', or motion; default: every event")
    add("--before", type=amount("sm"), default=3, metavar="TIME", help="seconds before the event; default: %(default)s")
    add("--after", type=amount("sm"), default=5, metavar="TIME", help="seconds after it; default: %(default)s")
    add("--longest", type=amount("smh", 1), default=600, metavar="TIME", help="after this, the next clip goes on; default: 10m")
    add("--memory", type=amount("KMG"), default=64 << 20, metavar="SIZE",
        help="for the encoded video of each camera; default: 64M")
    add("--keep", type=amount("mhd"), metavar="TIME", help="older clips are removed, as 7d")
    add("--keep-size", type=amount("KMG"), metavar="SIZE", help="the oldest clips are removed if all are larger, as 20G")
    add("--no-pictures", action="store_true", help="no JPEG of the moment of each event")
    add("--lines", default="/dev/null", metavar="FILE",
        help="lines of cudavisionjson, for cudavision-publish and cudavision-heatmap; - is the standard output, {source} the camera")
    add("--stall-timeout", type=amount("sm", 0.1), default=20, metavar="TIME",
        help="without a frame for so long, a camera is connected again; default: 20")
    return parser


class Source:
    """What is recorded: the name in JSON, the one in names of files, and the text that Stream takes."""

    def __init__(self, source, text, is_file=False):
        self.source, self.text, self.is_file = source, text, is_file
        self.name, self.hide = file_name(source) or "camera", stream.hider(text)


def sources(chosen):
    found = []
    for text in chosen.source:
        if os.path.isfile(text) and pathlib.Path(text).suffix in videos.LISTS:
            cameras, wrong = videos.cameras([text])
            if wrong:
                raise videos.Unusable("; ".join(f"{name}: {why}" for name, why in wrong))
            found += [Source(camera.source, camera.uri) for camera in cameras]
        elif os.path.isfile(text):
            found.append(Source(pathlib.Path(text).stem, pathlib.Path(text).absolute().as_uri(), True))
        elif "://" in text.split(" ")[0]:
            found.append(Source(videos.Camera(text).source, text, text.startswith("file:")))
        elif re.fullmatch(r"\S*[/.]\S*", text):
            raise videos.Unusable(f"{text}: there is no such file")
        else:
            pipelines.chain(text)
            found.append(Source(text.split()[0], text))
    if chosen.name and len(found) > 1:
        raise videos.Unusable("--name is for a single source")
    if chosen.name:
        found[0].source, found[0].name = chosen.name, file_name(chosen.name) or "camera"
    for name in {source.name for source in found}:
        if sum(source.name == name for source in found) > 1:
            raise videos.Unusable(f"two sources have the name {name}: give each a name of its own, in a list")
    if len(found) > 1 and chosen.lines != "/dev/null" and "{source}" not in chosen.lines:
        raise videos.Unusable("--lines needs {source} in the name, as lines-{source}.jsonl: each camera has a file of its own")
    return found


class Options:
    """What recorders need to know."""

    def __init__(self, chosen):
        self.before, self.after, self.longest = (int(seconds * Gst.SECOND) for seconds in (chosen.before, chosen.after, chosen.longest))
        self.memory, self.folder, self.stall_timeout = int(chosen.memory), pathlib.Path(chosen.folder), chosen.stall_timeout
        self.on, self.lines, self.pictures = chosen.on, chosen.lines, not chosen.no_pictures
        needs_zones = not chosen.on or any(one.split()[0] != "motion" for one in chosen.on)
        self.elements = chosen.elements or (PEOPLE if needs_zones else MOTION)
        if chosen.zones:
            place = str(pathlib.Path(chosen.zones).absolute()).replace("\\", "\\\\").replace('"', '\\"')
            self.elements += f' ! cudavisionzones location="{place}"'
        elif needs_zones and not chosen.elements:
            raise pipelines.Refused("which events? --zones names a file with lines and zones, which cudavision-live draws; or write --on motion")

    def wants(self, event):
        return not self.on or event["event"] in self.on or f"{event['event']} {event['name']}" in self.on

    def prepare(self, elements):
        """Motion is told of only if it is asked for."""
        if "motion" in (self.on or ()):
            elements.iterate_recurse().foreach(lambda one: one.set_property("post-messages", True)
                                               if one.get_factory() and one.get_factory().get_name() == "cudabgsub" else None)

    def writer(self, camera):
        location = self.lines.replace("{source}", camera.name)
        return {"location": location, "source": camera.source, "wall_clock": not camera.is_file, "append": location not in ("-", "/dev/null"),
                "tensor_data": "none" if location == "/dev/null" else "summary"}


class Program:
    def __init__(self, chosen):
        self.chosen, self.options, self.display = chosen, Options(chosen), progress.Display()
        found = sources(chosen)
        pipelines.check(self.options.elements, "fakesrc")
        pipelines.read_nothing_local({one.text.partition("://")[0].lower() for one in found if "://" in one.text.split()[0]})
        self.options.folder.mkdir(parents=True, exist_ok=True)
        self.recorders = [Recorder(one, self.options, self.display.say, self.clip_closed) for one in found]
        self.loop, self.status, self.next_clean = GLib.MainLoop(), 0, 0
        self.has_closed = False

    def run(self):
        for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
            signal.signal(number, lambda *_: GLib.idle_add(self.loop.quit))
        GLib.timeout_add(TICK, self.tick)
        self.loop.run()
        for recorder in self.recorders:
            recorder.disconnect()
        end = time.monotonic() + PATIENCE
        while any(recorder.open for recorder in self.recorders) and time.monotonic() < end:
            GLib.MainContext.default().iteration(False) or time.sleep(0.01)
        workers.shutdown()
        return int(any(recorder.has_failed for recorder in self.recorders))

    def clip_closed(self):
        self.has_closed = True

    def tick(self):
        for recorder in self.recorders:
            try:
                recorder.tick()
            except (OSError, pipelines.Refused) as error:
                recorder.ended(str(error))
        if self.has_closed or time.monotonic() >= self.next_clean:
            self.has_closed, self.next_clean = False, time.monotonic() + CLEAN
            self.clean()
        if all(recorder.is_done and not recorder.open for recorder in self.recorders):
            self.loop.quit()
        return True

    def clean(self):
        if self.chosen.keep is None and self.chosen.keep_size is None:
            return
        written = {clip.stem for recorder in self.recorders for clip in list(recorder.open)}
        try:
            clean(self.options.folder, self.chosen.keep, self.chosen.keep_size, written)
        except OSError as error:
            self.display.say(f"{error.filename}: {error.strerror}")


def main():
    parser = parser_of_options()
    try:
        status = Program(parser.parse_args()).run()
    except (pipelines.Refused, videos.Unusable) as error:
        parser.error(str(error))
    except OSError as error:
        parser.error(f"{error.filename}: {error.strerror}")
    sys.stdout.flush()
    os._exit(status)  # even if a pipeline hangs


if __name__ == "__main__":
    main()
