# SPDX-License-Identifier: LGPL-2.1-or-later
"""The pipeline that processes the frames of a camera: the steps, then a line of JSON and a JPEG picture for each."""
import threading
import time

from elements import WRITER
from gi.repository import Gst
from sources import said, watch_bus

try:
    import gi
    import numpy

    gi.require_version("GstCudaVision", "1.0")
    from gi.repository import GstCudaVision
except (ImportError, ValueError):
    GstCudaVision = None  # then there are no plots of histograms

REFUSED = "the last valid values stay in force"  # what elements say when values contradict one another
LONGEST_FRAME = 30  # seconds after which a frame that has not come out of the steps is given up
FRESH = 0.1  # seconds between two histograms


class Frame:
    """What comes out for a frame."""

    def __init__(self, sample, shown):
        self.sample, self.pts, self.shown = sample, sample.get_buffer().pts, shown
        self.began = time.monotonic()
        self.line = self.picture = None


def element(factory, **properties):
    made = Gst.ElementFactory.make(factory)
    for name, value in properties.items():
        made.set_property(name.replace("_", "-"), value)
    return made


def picture_caps(width):
    return Gst.Caps.from_string(f"video/x-raw,width=[1,{width}],pixel-aspect-ratio=1/1")


class Chain:
    """appsrc ! videoconvert ! STEPS ! tee, and after the tee two branches: cudavisionjson, and a JPEG encoder. Both
    branches end in a probe that takes the buffer, so no sink waits for the other. Two functions are called in threads
    of GStreamer: on_done(chain, frame) when a frame has come out, on_news(chain, fatal) at a warning or an error."""

    def __init__(self, side, steps, on_done, on_news):
        self.side, self.steps, self.on_done, self.on_news = side, steps, on_done, on_news
        self.error, self.error_step = "", None
        self.frame = None
        self.seconds = [0.0] * len(steps)  # the time that each step has taken for all frames together
        self.entered = [0.0] * len(steps)
        self.processed, self.changed, self.plotted = 0, 0.0, 0.0
        self.encode, self.histogram = False, None
        self.lock, self.probes = threading.Lock(), []
        self.build()

    def build(self):
        self.pipeline = Gst.Pipeline()
        self.entry = element("appsrc", format=Gst.Format.TIME, max_bytes=0)
        self.elements = [element(step.factory, **step.values) for step in self.steps]
        for made in self.elements:
            made.set_property("qos", False)
        tee, writer, out = element("tee"), element(WRITER, output="text"), element("jpegenc", quality=80)
        convert, self.scaled = element("videoconvert"), element("capsfilter", caps=picture_caps(640))
        self.link([self.entry, element("videoconvert"), *self.elements, tee])
        self.link([tee, writer, self.quiet_sink()])
        self.link([tee, convert, element("videoscale"), self.scaled, out, self.quiet_sink()])
        for number, made in enumerate(self.elements):
            self.probe(made, "sink", self.on_enter, number)
            self.probe(made, "src", self.on_leave, number)
        self.probe(tee, "sink", self.on_processed)
        self.probe(writer, "src", self.on_line)
        self.probe(convert, "sink", self.on_picture_wanted)
        self.probe(out, "src", self.on_picture)
        self.bus = self.pipeline.get_bus()
        watch_bus(self.bus, self.on_message)

    def probe(self, made, pad, function, *arguments):
        pad = made.get_static_pad(pad)
        self.probes.append((pad, pad.add_probe(Gst.PadProbeType.BUFFER, function, *arguments)))

    @staticmethod
    def quiet_sink():
        sink = element("fakesink", sync=False)
        sink.set_property("async", False)
        return sink

    def link(self, parts):
        for part in parts:
            if part.get_parent() is None:
                self.pipeline.add(part)
        for before, after in zip(parts, parts[1:]):
            before.link(after)

    def start(self):
        self.pipeline.set_state(Gst.State.PLAYING)  # a failure is a message on the bus, too

    def stop(self):
        self.on_done = self.on_news = lambda *_: None
        self.pipeline.set_state(Gst.State.NULL)
        self.bus.set_sync_handler(None)
        for pad, number in self.probes:  # a probe refers to this object and would keep it alive
            pad.remove_probe(number)

    def push(self, sample, shown):
        if self.frame is not None and not self.error:
            self.error = f"a frame has not come out for {LONGEST_FRAME} s: change a step to begin anew"
            self.on_news(self, True)
        self.frame = Frame(sample, shown)
        if not self.error:
            self.entry.emit("push-sample", sample)

    def busy(self):
        """Whether a frame is in the pipeline and may still come out."""
        return self.frame is not None and not self.error and time.monotonic() - self.frame.began < LONGEST_FRAME

    def set_width(self, width):
        self.scaled.set_property("caps", picture_caps(width))

    def set(self, number, values):
        """Changes properties of a step that runs."""
        with self.lock:
            self.steps[number].change(values)
            self.changed = time.monotonic()
        for name, value in values.items():
            self.elements[number].set_property(name, value)

    def values(self, number):
        """All values of a step as the element has them: some properties set others."""
        read = {}
        for name, its in self.steps[number].properties.items():
            value = self.elements[number].get_property(name)
            read[name] = value.value_nick if its.kind == "enum" else value if value is not None else ""
        return read

    def on_enter(self, _pad, _info, number):
        self.entered[number] = time.monotonic()
        return Gst.PadProbeReturn.OK

    def on_leave(self, _pad, _info, number):
        self.seconds[number] += time.monotonic() - self.entered[number]
        return Gst.PadProbeReturn.OK

    def on_processed(self, _pad, info):
        frame, now = self.frame, time.monotonic()
        if frame is None:
            return Gst.PadProbeReturn.DROP
        self.processed += 1
        with self.lock:
            if self.changed and self.changed < frame.began:
                self.changed = 0.0
                for step in self.steps:
                    step.undo.clear()
        if GstCudaVision and self.encode and now - self.plotted > FRESH:
            meta = GstCudaVision.buffer_get_tensor_meta(info.get_buffer(), "histogram")
            if meta:
                self.plotted, self.histogram = now, numpy.asarray(meta).tolist()
        return Gst.PadProbeReturn.OK

    def on_line(self, _pad, info):
        buffer = info.get_buffer()
        if self.frame:
            self.frame.line = buffer.extract_dup(0, buffer.get_size())
        return Gst.PadProbeReturn.DROP

    def on_picture_wanted(self, _pad, _info):
        if self.encode:
            return Gst.PadProbeReturn.OK
        self.done()
        return Gst.PadProbeReturn.DROP

    def on_picture(self, _pad, info):
        buffer = info.get_buffer()
        if self.frame:
            self.frame.picture = buffer.extract_dup(0, buffer.get_size())
        self.done()
        return Gst.PadProbeReturn.DROP

    def done(self):
        frame, self.frame = self.frame, None
        if frame:
            self.on_done(self, frame)

    def on_message(self, message):
        kinds = Gst.MessageType
        if message.type in (kinds.ERROR, kinds.WARNING):
            parsed = message.parse_error() if message.type == kinds.ERROR else message.parse_warning()
            number = next((n for n, made in enumerate(self.elements) if message.src == made), None)
            fatal = message.type == kinds.ERROR and not self.error
            self.hear(parsed, number, message.type == kinds.ERROR)
            self.on_news(self, fatal)

    def hear(self, parsed, number, fatal):
        if fatal:
            if not self.error:
                self.error, self.error_step, self.frame = said(parsed), number, None
        elif number is not None:
            step = self.steps[number]
            step.note = said(parsed)
            if REFUSED in step.note and step.undo:
                self.take_back(number)

    def take_back(self, number):
        """Restores the values before the last change, which the element has refused. It may refuse these, too."""
        with self.lock:
            before = self.steps[number].take_back()
            self.changed = time.monotonic()
        for name, value in before.items():
            self.elements[number].set_property(name, value)
