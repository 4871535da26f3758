# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of cudavision-record share: the program, videos whose events are known, and the units of a file."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import gi
import numpy
from waiting import SECONDS

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

Gst.init(None)
ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "examples" / "record" / "record.py"
WIDTH, HEIGHT, RATE = 160, 128, 25
FRAME = Gst.SECOND // RATE
MOTION = "cudabgsub display=false roi-y=32"  # the number of the frame is above
if Gst.ElementFactory.find("x264enc") is None:
    print("skipped: no gstreamer1.0-plugins-ugly")
    sys.exit(77)
# Key frames once a second, and frames that refer to later ones.
H264 = "x264enc key-int-max=25 bframes=2 speed-preset=ultrafast b-adapt=false ! h264parse"
LIVE_H264 = "x264enc key-int-max=10 tune=zerolatency speed-preset=ultrafast ! h264parse"
VP8 = "vp8enc deadline=1 cpu-used=8 keyframe-max-dist=25 auto-alt-ref=false"
LIVE = f"videotestsrc is-live=true pattern=ball ! video/x-raw,width=160,height=128,framerate=25/1 ! {LIVE_H264}"


def frames(count, moving, width=WIDTH, height=HEIGHT):
    """Frames with their numbers as blocks above, and a bright square in the frames `moving`."""
    for number in range(count):
        picture = numpy.full((height * 3 // 2, width), 128, numpy.uint8)
        picture[:height] = 16
        for bit in range(16):
            picture[0:8, 8 * bit:8 * bit + 8] = 200 if number >> bit & 1 else 50
        if number in moving:
            left = 20 + number % 50
            picture[50:90, left:left + 40] = 230
        yield picture.tobytes()


def make_video(path, count, moving, encoder, muxer, more=""):
    """Encodes frames with x264 or vp8. `more` are further elements, as sound, which are linked to the muxer m."""
    pipeline = Gst.parse_launch(
        f"appsrc name=in format=time block=true caps=video/x-raw,format=I420,width={WIDTH},height={HEIGHT},framerate={RATE}/1 ! {encoder} ! "
        f"queue ! {muxer} name=m ! filesink location={path} {more}")
    source, bus = pipeline.get_by_name("in"), pipeline.get_bus()
    pipeline.set_state(Gst.State.PLAYING)
    for number, data in enumerate(frames(count, moving)):
        buffer = Gst.Buffer.new_wrapped(data)
        buffer.pts, buffer.duration = number * FRAME, FRAME
        source.emit("push-buffer", buffer)
    source.emit("end-of-stream")
    message = bus.timed_pop_filtered(SECONDS * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    assert message and message.type == Gst.MessageType.EOS, message and message.parse_error()
    pipeline.set_state(Gst.State.NULL)


def split_units(data, is_avc):
    """The NAL units of an access unit but those that describe the stream or its parts (7, 8, 9)."""
    units, place = [], 0
    while is_avc and place < len(data):
        size = int.from_bytes(data[place:place + 4], "big")
        units.append(data[place + 4:place + 4 + size])
        place += 4 + size
    if not is_avc:
        units = [unit.rstrip(b"\0") for unit in data.split(b"\0\0\1")[1:]]
    return [unit for unit in units if unit[0] & 31 not in (7, 8, 9)]


def packets(path, kind="video"):
    """What a file holds: (time in nanoseconds, whether it is a key frame, the codec's units) of each packet in its order."""
    pipeline = Gst.parse_launch(f"filesrc location=\"{path}\" ! parsebin name=p")
    found = []

    def take(pad, info):
        buffer, structure = info.get_buffer(), pad.get_current_caps().get_structure(0)
        if structure.get_name().startswith(kind):
            data = buffer.extract_dup(0, buffer.get_size())
            units = split_units(data, structure.get_string("stream-format") == "avc") if structure.get_name() == "video/x-h264" else [data]
            segment = pad.get_sticky_event(Gst.EventType.SEGMENT, 0).parse_segment()
            found.append((segment.to_running_time_full(Gst.Format.TIME, buffer.pts)[1], not buffer.has_flags(Gst.BufferFlags.DELTA_UNIT), units))
        return Gst.PadProbeReturn.DROP

    def added(_bin, pad):
        sink = Gst.ElementFactory.make("fakesink")
        sink.set_property("async", False)
        pipeline.add(sink)
        sink.sync_state_with_parent()
        pad.link(sink.get_static_pad("sink"))
        pad.add_probe(Gst.PadProbeType.BUFFER, take)

    pipeline.get_by_name("p").connect("pad-added", added)
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(SECONDS * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    assert message is not None, f"{path}: no end"
    return found


def decoded(path):
    """How many frames of a file, which need not be whole, can be decoded."""
    command = ["gst-launch-1.0", "-q", "filesrc", f"location={path}", "!", "decodebin", "!", "videoconvert", "!", "video/x-raw,format=GRAY8", "!",
               "fdsink", "fd=1"]
    data = subprocess.run(command, capture_output=True, check=False, timeout=SECONDS).stdout
    return len(data) // (WIDTH * HEIGHT)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="record.", ignore_cleanup_errors=True)))
        self.clips = self.folder / "clips"

    def command(self, source, *options, elements=MOTION, events=("motion",)):
        on = [word for event in events for word in ("--on", event)]
        return [sys.executable, str(PROGRAM), "--source", str(source), "--folder", str(self.clips), "--elements", elements, *on, *options]

    def start(self, source, *options, **more):
        """Starts the program. What it says goes to the file `said`."""
        with open(self.folder / "said", "wb") as said:
            process = subprocess.Popen(self.command(source, *options, **more), stderr=said, env={**os.environ, "LC_ALL": "C"})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def said(self):
        return (self.folder / "said").read_text(encoding="utf-8")

    def record(self, source, *options, **more):
        """Records a file to its end, and returns the JSON of each clip in order."""
        self.assertEqual(self.start(source, *options, **more).wait(SECONDS), 0, self.said())
        self.assertEqual(self.said(), "")
        return self.facts()

    def facts(self):
        found = [json.loads(path.read_text(encoding="utf-8")) for path in self.clips.glob("*.json")]
        return sorted(found, key=lambda facts: facts["begin"])
