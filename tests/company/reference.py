# SPDX-License-Identifier: LGPL-2.1-or-later
"""What an element does with plain frames: each one a buffer of its own, one after another, without flags, events and
layouts. The element must do the same in company. The frames that came in are cut into the parts that belong together by
what the page says (gst/docs/common.md), and each part goes through a new element."""
import dataclasses
import json

from gi.repository import Gst, GstApp  # noqa: F401  (GstApp: its functions of appsrc)

import frames
from elements import CHAINS

NEVER_FAR = 2 * Gst.SECOND  # frames that are closer in time always belong to the same part
CACHE = {}


@dataclasses.dataclass
class Part:
    """A part: frames that belong together, each as it came in and as it went out."""
    reverse: bool
    pairs: list


def parts_of(items, flushes_alone):
    """The parts of a record, and the dropped frames: ("in", Frame) without ("out", Frame).

    flushes_alone: only a flush or a restart begins a new part, as it does for the counting of every-nth."""
    parts, lost = [], []
    last = stream = waiting = None
    jump, reverse, new = False, False, True
    for kind, item in items:
        if waiting is not None and kind != "out":
            lost.append((waiting, kind == "event" and item.type in (Gst.EventType.FLUSH_START, Gst.EventType.FLUSH_STOP)))
            waiting = None
        if kind == "event":
            if item.type == Gst.EventType.FLUSH_STOP:  # a restart is recorded as a flush, too
                new, last = True, None
            elif item.type == Gst.EventType.STREAM_START:
                new, stream = new or (stream != item.parse_stream_start() and not flushes_alone), item.parse_stream_start()
            elif item.type == Gst.EventType.SEGMENT:
                jump, turned = True, item.parse_segment().rate < 0
                new, reverse = new or (turned != reverse and not flushes_alone), turned
        elif kind == "in":
            waiting = item
        elif waiting is not None:
            if (jump or waiting.flags & Gst.BufferFlags.DISCONT) and not flushes_alone:
                new = new or not follows(last, waiting.pts, reverse)
            if new or (parts[-1].pairs[-1][0].caps != waiting.caps and not flushes_alone):
                parts.append(Part(reverse, []))
            parts[-1].pairs.append((waiting, item))
            last, waiting, jump, new = waiting.pts, None, False, False
    if waiting is not None:
        lost.append((waiting, True))  # the last frame, which was still in the element at the end of the run
    return parts, lost


def follows(last, pts, reverse):
    if last is None or Gst.CLOCK_TIME_NONE in (last, pts):
        return False
    return 0 < (last - pts if reverse else pts - last) < NEVER_FAR


def times_of(part):
    """The times of a part's frames, moved and mirrored so that they begin at 0 and rise."""
    first = part.pairs[0][0].pts
    return [frame.pts if frame.pts == Gst.CLOCK_TIME_NONE else abs(frame.pts - first) for frame, _ in part.pairs]


def expected(element, backend, part, folder):
    """The frames and lines of JSON that the element makes of a part's frames in a pipeline without a neighbour."""
    caps, times = part.pairs[0][0].caps, times_of(part)
    key = (element, caps, tuple(times), tuple((frame.picture, tuple(frame.regions)) for frame, _ in part.pairs))
    if key not in CACHE:
        CACHE[key] = play(element, backend, caps, [frames.buffer_of(frame, time) for (frame, _), time in zip(part.pairs, times)],
                          folder)
    return CACHE[key]


def play(element, backend, caps, buffers, folder):
    lines = folder / "expected"
    pipeline = Gst.parse_launch(f"appsrc name=source format=time ! {element.chain(backend)} ! fakesink sync=false".format(
        lines=lines))
    record = frames.Record(lambda: None)
    record.watch(pipeline.get_by_name("last").get_static_pad("src"), "out")
    source = pipeline.get_by_name("source")
    source.set_property("caps", Gst.Caps.from_string(caps))
    pipeline.set_state(Gst.State.PLAYING)
    for buffer in buffers:
        source.push_buffer(buffer)
    source.end_of_stream()
    message = pipeline.get_bus().timed_pop_filtered(60 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if record.fault:
        raise record.fault
    if message is None or message.type == Gst.MessageType.ERROR:
        raise RuntimeError(f"plain frames: {message.parse_error() if message else 'no end'}")
    return record.frames("out"), lines_of(lines) if "{lines}" in CHAINS.get(element.name, "") else None


def lines_of(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
