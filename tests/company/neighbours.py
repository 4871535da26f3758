# SPDX-License-Identifier: LGPL-2.1-or-later
"""The neighbours: elements of GStreamer that change times, geometry, flags or memory. A new one is one line."""
import dataclasses
import re
from typing import Callable

from gi.repository import Gst

import hooks
from modes import ALL, FORWARD, LIVE

ONCE = ("forward", "pause", "step")  # gst_parse_launch() links sometimes pads at the first start only
FILE = tuple(mode for mode in ALL if mode not in ("again", "live"))
SPLIT = tuple(mode for mode in FILE if mode not in ("rate", "segment"))  # splitmuxsrc refuses these seeks
ENCODED = "{source} ! videoconvert ! jpegenc"


@dataclasses.dataclass(frozen=True)
class Neighbour:
    name: str
    text: str  # for gst-launch-1.0; {source} is a source, with the element behind it if that stands in front
    behind: str = ""  # what is promised behind an element: same, moved or lost; nothing if it cannot stand there
    keeps: bool = False  # the element gets the pictures of the source as they are
    modes: tuple = ALL
    frames: int = 12  # of the source
    least: int = 3  # frames that must come out, so that the run says something
    format: str = "I420"
    moves: Callable = None  # maps a point of the element's frame to its place behind the neighbour
    beside: str = ""  # a second pipeline that plays at the same time
    hook: Callable = None  # is called with the run (run.py) before the pipelines are made
    after: Callable = None  # is called with the run after the pipelines were made
    is_endless: bool = False  # no end of the stream comes
    crops: bool = False  # the neighbour attaches crops without being asked

    def missing(self):
        """The elements that this GStreamer does not have, and modules that this Python does not have."""
        texts = " ! ".join((self.text, self.beside)).replace(". ", ". ! ")
        words = re.findall(r"(?:^|! *)([a-z][a-z0-9-]+)(?= |$)", texts)
        return [word for word in words if not Gst.ElementFactory.find(word)] + (hooks.missing(self.hook) if self.hook else [])


def shift(dx, dy):
    return lambda x, y: (x + dx, y + dy)


NEIGHBOURS = [
    Neighbour("nothing", "{source}", "same", True),
    Neighbour("queue", "{source} ! queue", "same", True),
    Neighbour("queue leaky=upstream", "{source} ! queue leaky=upstream max-size-buffers=1", "same", True, FORWARD + LIVE, 40,
              least=1),
    Neighbour("queue leaky=downstream", "{source} ! queue leaky=downstream max-size-buffers=1", "same", True, FORWARD + LIVE, 40,
              least=1),
    Neighbour("videorate, to more frames", "{source} ! videorate ! video/x-raw,framerate=50/1", "same", True),
    Neighbour("videorate, to fewer frames", "{source} ! videorate ! video/x-raw,framerate=2/3", "same", True, FORWARD, 120),
    Neighbour("imagefreeze", "{source} ! imagefreeze num-buffers=12", "same", True, FORWARD),
    Neighbour("valve", "{source} ! valve name=valve", "same", True, FORWARD, 50, after=hooks.close_for_a_while),
    Neighbour("tee, both branches draw", "{source} ! tee name=t ! queue ! cudahough threshold=20 ! fakesink sync=false t. ! queue",
              "same", True),
    Neighbour("input-selector", "input-selector name=n {source} ! n. {source2} ! n. n.", "same", True, FORWARD,
              after=hooks.select_in_turn),
    Neighbour("concat", "concat name=n {source} ! n. {source2} ! n. n.", "", True, FORWARD),
    Neighbour("concat, times that go on", "concat name=n {source} ! n. {source2} ! n. n.", "", True, FORWARD, after=hooks.go_on),
    Neighbour("every flag, and gap events", "{source} ! identity name=flagged", "same", True, after=hooks.mark),
    Neighbour("a bin that is taken out and put in", "{source} ! identity name=before", "", True, ("forward", "pause", "live"), 40,
              hook=hooks.put_in_and_out),
    Neighbour("videocrop", "{source} ! videocrop left=32 top=16", "moved", moves=shift(-32, -16)),
    Neighbour("videobox", "{source} ! videobox left=-16 top=-8", "moved", moves=shift(16, 8)),
    Neighbour("aspectratiocrop", "{source} ! aspectratiocrop aspect-ratio=4/3", "moved", moves=shift(0, -16)),
    Neighbour("videoflip, mirrored", "{source} ! videoflip video-direction=horiz", "moved", moves=lambda x, y: (127 - x, y)),
    Neighbour("videoflip, turned", "{source} ! videoflip video-direction=90r", "moved", moves=lambda x, y: (127 - y, x)),
    Neighbour("rotate", "{source} ! rotate angle=0.2", "lost", format="RGB"),
    Neighbour("videoscale", "{source} ! videoscale ! video/x-raw,width=256,height=256", "moved",
              moves=lambda x, y: (2 * x + 0.5, 2 * y + 0.5)),
    Neighbour("videoscale with borders", "{source} ! videoscale ! video/x-raw,width=256,height=128,pixel-aspect-ratio=1/1",
              "moved", moves=shift(64, 0)),
    Neighbour("videoconvert", "{source} ! videoconvert ! video/x-raw,format=RGB", "moved", moves=shift(0, 0)),
    Neighbour("deinterlace", "{source} ! interlace field-pattern=1:1 ! deinterlace", "", modes=FORWARD + LIVE),
    Neighbour("compositor", "compositor name=n sink_1::alpha=0.5 {source} ! n. {source2} ! n. n. ! video/x-raw,framerate=20/1",
              "moved", modes=FORWARD, moves=shift(0, 0)),
    Neighbour("jpegdec", ENCODED + " ! jpegdec", "moved", moves=shift(0, 0)),
    Neighbour("decodebin", ENCODED + " ! decodebin", "moved", modes=ONCE, moves=shift(0, 0)),
    Neighbour("decodebin3", ENCODED + " ! decodebin3", "moved", modes=ONCE, moves=shift(0, 0)),
    Neighbour("qtdemux", "filesrc location={file} ! qtdemux ! jpegdec", modes=FILE, hook=hooks.clip),
    Neighbour("splitmuxsrc", "splitmuxsrc location={files} ! jpegdec", modes=SPLIT, hook=hooks.clips),
    Neighbour("playbin with video-filter", "playbin", modes=FILE + ("again",), hook=hooks.playbin),
    Neighbour("multifilesrc", "multifilesrc location={pictures} caps=image/jpeg,framerate=20/1 ! jpegdec", modes=FORWARD,
              hook=hooks.pictures),
    Neighbour("fdsrc, raw frames", "fdsrc fd={read} ! rawvideoparse format=i420 width=128 height=128 framerate=20/1", "lost", True,
              ("forward", "pause"), beside="{source} ! fdsink name=writer fd={write}", hook=hooks.pipe, after=hooks.end_of_pipe),
    Neighbour("shmsrc", "shmsrc socket-path={folder}/shm num-buffers=12 ! video/x-raw,format=I420,width=128,height=128,"
              "framerate=20/1", "lost", True, ("forward", "pause"),
              beside="{source} ! shmsink socket-path={folder}/shm wait-for-connection=true sync=false shm-size=4000000"),
    Neighbour("intervideosrc", "intervideosrc channel={folder} ! video/x-raw,format=I420,width=128,height=128,framerate=20/1",
              "same", False, LIVE, beside="{source} ! intervideosink channel={folder}", is_endless=True),
    Neighbour("intersrc", "intersrc producer-name={folder}", "same", True, LIVE, beside="{source} ! intersink producer-name={folder}",
              is_endless=True),
    Neighbour("appsrc with odd layouts", "appsrc name=odd format=time", "", True, ("forward", "pause"), crops=True,
              after=hooks.push_odd),
    Neighbour("RTSP server and client", "rtspsrc location={address} latency=20 protocols=tcp ! rtpvrawdepay", "lost", modes=LIVE,
              hook=hooks.serve, is_endless=True),
]
