# SPDX-License-Identifier: LGPL-2.1-or-later
"""The pipeline of one connection: a source, whose encoded packets are seen, then decoder, elements and cudavisionjson."""
import time

import addresses
import gi
import pipelines

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402
from memory import Packet  # noqa: E402

# The first queue holds packets, the second one frames: of a live source, those that the elements are too slow for are dropped.
DECODE = (f"queue name=packets max-size-buffers=0 max-size-bytes=67108864 max-size-time={Gst.SECOND} ! decodebin ! "
          f"queue name=frames max-size-buffers=4 max-size-bytes=0 max-size-time=0 ! {pipelines.UPRIGHT}")
PLAIN = {"gboolean", "gint", "guint", "gint64", "guint64", "gdouble", "gchararray"}
MOST_WAITING = 16 << 20  # bytes of a clip that wait to be written; then a file is read more slowly


def running_time(segment, timestamp):
    sign, time_of_it = segment.to_running_time_full(Gst.Format.TIME, timestamp)
    return sign * time_of_it


def plain(structure):
    """The numbers and texts of a message."""
    names = [structure.nth_field_name(number) for number in range(structure.n_fields())]
    return {name: structure.get_value(name) for name in names if structure.get_field_type(name).fundamental.name in PLAIN}


def event_of(structure):
    """The event that a message of an element tells, or None."""
    name, fields = structure.get_name(), plain(structure)
    if name == "cudavisionzones":
        return fields
    if name == "cudabgsub":
        return {"event": "motion", "name": "", "running-time": fields["running-time"]} if fields.get("regions") else None
    if name.startswith("cuda") and "-" in name and all(value for value in fields.values() if isinstance(value, bool)):
        return {"event": name.partition("-")[2], "name": "", **fields}  # as cudabgsub-light
    return None


class Stream(pipelines.Pipeline):
    """`owner` gets packets, events and frames, in threads of the pipeline: take_packet(), take_event(), take_frame()."""

    def __init__(self, text, elements, writer, owner, hide):
        self.owner, self.is_live, self.has_end, self.video, self.audio = owner, None, False, None, None
        self.inside, self.front = Gst.Bin(), pipelines.source_bin(DECODE)
        self.front.add_pad(Gst.GhostPad.new("sink", self.front.get_by_name("packets").get_static_pad("sink")))
        self.inside.add(self.front)
        self.add_source(text)
        self.inside.add_pad(Gst.GhostPad.new("src", self.front.get_static_pad("src")))
        super().__init__(self.inside, elements, writer, owner.ended, owner.warned, hide)
        self.bus.enable_sync_message_emission()
        self.listener = self.bus.connect("sync-message::element", self.on_element)
        self.sink.get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, self.on_frame)

    def stop(self):
        self.bus.disconnect(self.listener)
        return super().stop()

    def add_source(self, text):
        if "://" in text.split()[0]:
            source = pipelines.element("urisourcebin", uri=text)
            source.connect("pad-added", lambda _, pad: self.parse(pad))
            self.inside.add(source)
            return
        source = pipelines.chain(text)
        self.inside.add(source)
        while pad := source.find_unlinked_pad(Gst.PadDirection.SRC):
            ghost = Gst.GhostPad.new(None, pad)
            ghost.set_active(True)
            source.add_pad(ghost)
            self.parse(ghost)
        if not source.srcpads:
            raise pipelines.Refused(f"{text!r} must not end in a sink")

    def parse(self, pad):
        parser = pipelines.element("parsebin")
        parser.connect("pad-added", lambda _, parsed: self.choose(parsed))
        self.inside.add(parser)
        pad.link(parser.get_static_pad("sink"))
        parser.sync_state_with_parent()

    def choose(self, pad):
        """The first stream of video is recorded and analysed, and the first one of sound is recorded."""
        kind = (pad.get_current_caps() or pad.query_caps(None)).get_structure(0).get_name()
        if kind.endswith("/x-raw"):
            self.has_end = True  # another attempt would give the same
            self.inside.post_message(Gst.Message.new_error(self.inside, GLib.Error.new_literal(
                Gst.StreamError.quark(), "this stream is not encoded, and cudavision-record encodes nothing: put an encoder behind "
                "the source, as x264enc tune=zerolatency key-int-max=50", Gst.StreamError.WRONG_TYPE), ""))
        if kind.startswith(("video/", "image/")) and self.video is None:
            self.video = pad
            pad.link(self.front.get_static_pad("sink"))
        else:
            sink = pipelines.element("fakesink", sync=False, **{"async": False})
            self.inside.add(sink)
            sink.sync_state_with_parent()
            pad.link(sink.get_static_pad("sink"))
            if kind.startswith("audio/") and self.audio is None:
                self.audio = pad
        pad.add_probe(Gst.PadProbeType.BUFFER, self.on_buffer)

    def ask_whether_live(self, pad):
        query = Gst.Query.new_latency()
        self.is_live = bool(pad.query(query) and query.parse_latency()[0])
        self.has_end = not self.is_live
        if self.is_live:
            self.front.get_by_name("frames").set_property("leaky", 2)  # downstream

    def on_buffer(self, pad, info):
        """A sink that waits for the first frame of the video would hold up the source, so no other packet gets to one."""
        if pad in (self.video, self.audio):
            self.remember(pad, info)
        return Gst.PadProbeReturn.OK if pad is self.video else Gst.PadProbeReturn.DROP

    def remember(self, pad, info):
        if self.is_live is None:
            self.ask_whether_live(pad)
        buffer, segment = info.get_buffer(), pad.get_sticky_event(Gst.EventType.SEGMENT, 0).parse_segment()
        shown, decoded = buffer.pts, buffer.dts
        if Gst.CLOCK_TIME_NONE in (shown, decoded):
            shown = decoded = min(shown, decoded)
        if shown == Gst.CLOCK_TIME_NONE:
            return  # nobody knows when
        is_video = pad is self.video
        is_key = is_video and not buffer.has_flags(Gst.BufferFlags.DELTA_UNIT)
        # The copy leaves a camera's own pool of buffers alone.
        self.owner.take_packet(Packet(is_video, is_key, running_time(segment, shown), running_time(segment, decoded),
                                      pad.get_current_caps(), buffer.copy_deep()))
        while not self.is_live and self.owner.backlog() > MOST_WAITING:
            time.sleep(0.01)

    def on_element(self, _bus, message):
        if event := event_of(message.get_structure()):
            self.owner.take_event(event)

    def on_frame(self, pad, info):
        segment = pad.get_sticky_event(Gst.EventType.SEGMENT, 0).parse_segment()
        if info.get_buffer().pts != Gst.CLOCK_TIME_NONE:
            self.owner.take_frame(running_time(segment, info.get_buffer().pts), info.get_buffer(), pad.get_current_caps())
        return Gst.PadProbeReturn.OK

    def utc_of(self, running):
        """The time of day of a running time, in nanoseconds; None unless the source is live."""
        clock = self.pipeline.get_clock()
        if not self.is_live or clock is None:
            return None
        return time.time_ns() - (clock.get_time() - self.pipeline.get_base_time() - running)


def hider(text):
    return (lambda said: addresses.hide(said, text)) if "://" in text.split()[0] else (lambda said: addresses.hide_all(said, text))
