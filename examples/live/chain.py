# SPDX-License-Identifier: LGPL-2.1-or-later
"""The pipeline that processes the frames of a camera: the steps, then a line of JSON and a JPEG picture for each."""
import collections
import math
import threading
import time

from elements import MOST_MEMORY, MOST_STEPS, WRITER, OutputSize, noted
from heat import Heat
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
LONGEST_FRAME = 30  # seconds after which steps that still work on a frame are given up
SLOW = 2  # seconds from which on the page says what a picture waits for
MOST_HELD = 256 * MOST_STEPS  # frames in the steps, of which the oldest is forgotten: each step holds 256 at most
FRESH = 0.1  # seconds between two histograms


class Frame:
    """What comes out for a frame."""

    def __init__(self, pts, shown):
        self.pts, self.shown, self.began = pts, shown, time.monotonic()
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
    branches end in a probe that takes the buffer, so no sink waits for the other. A step may hold frames back until
    later ones have come, so that the end of the work on one frame and the coming out of another are two things. Three
    functions are called in threads of GStreamer: on_idle(chain, seconds) when all work on a frame is done,
    on_done(chain, frame) when a frame has come out, on_news(chain, fatal) at a warning or an error."""

    def __init__(self, side, steps, on_idle, on_done, on_news):
        self.side, self.steps, self.on_idle, self.on_done, self.on_news = side, steps, on_idle, on_done, on_news
        self.error, self.error_step = "", None
        self.notes = []  # the last warnings of elements that are no steps
        self.inside = collections.deque(maxlen=MOST_HELD)  # the frames in the steps, the oldest first
        self.frame = None  # the frame behind the steps
        self.pushed = self.begun = self.finished = 0  # frames
        self.began = self.came_out = time.monotonic()  # the work on the last frame; the last frame that came out
        self.took = 0.0  # seconds of the last finished work
        self.seconds = [0.0] * len(steps)  # the time that each step has taken for all frames together
        self.entered = [None] * len(steps)  # when a frame has entered a step that it has not left
        self.preparing = None  # the step that has got the format of new frames last, while no frame has reached it
        self.size = 0, 0  # of the frames behind the steps
        self.processed, self.changed, self.plotted = 0, 0.0, 0.0
        self.encode, self.histogram, self.heat = False, None, Heat()
        self.lock, self.probes = threading.Lock(), []
        self.build()

    def build(self):
        self.pipeline = Gst.Pipeline()
        self.entry = element("appsrc", format=Gst.Format.TIME, max_bytes=0)
        self.elements = [element(step.factory, **step.of_element(step.values)) for step in self.steps]
        for step, made in zip(self.steps, self.elements):
            made.set_property("qos", False)
            if "max-memory" in step.properties:
                made.set_property("max-memory", step.values.get("max-memory", MOST_MEMORY))
        tee, writer, out = element("tee"), element(WRITER, output="text"), element("jpegenc", quality=80)
        convert, self.scaled = element("videoconvert"), element("capsfilter", caps=picture_caps(640))
        sized = [part for step, made in zip(self.steps, self.elements) for part in (made, *self.filters_of(step))]
        self.link([self.entry, element("videoconvert"), *sized, tee])
        self.link([tee, writer, self.quiet_sink()])
        self.link([tee, convert, element("videoscale"), self.scaled, out, self.quiet_sink()])
        for number, made in enumerate(self.elements):
            self.probe(made, "sink", self.on_enter, number)
            self.probe(made, "sink", self.on_event, number, kind=Gst.PadProbeType.EVENT_DOWNSTREAM)
            self.probe(made, "src", self.on_leave, number)
        self.probe(self.entry, "src", self.on_begun)
        self.probe(tee, "sink", self.on_event, None, kind=Gst.PadProbeType.EVENT_DOWNSTREAM)
        self.probe(tee, "sink", self.on_processed)
        self.probe(writer, "src", self.on_line)
        self.probe(convert, "sink", self.on_picture_wanted)
        self.probe(out, "src", self.on_picture)
        self.signal = self.entry.connect("need-data", self.on_need)
        self.bus = self.pipeline.get_bus()
        watch_bus(self.bus, self.on_message)

    def probe(self, made, pad, function, *arguments, kind=Gst.PadProbeType.BUFFER):
        pad = made.get_static_pad(pad)
        self.probes.append((pad, pad.add_probe(kind, function, *arguments)))

    @staticmethod
    def quiet_sink():
        sink = element("fakesink", sync=False)
        sink.set_property("async", False)
        return sink

    @staticmethod
    def filters_of(step):
        return [element("capsfilter", caps=Gst.Caps.from_string(step.caps()))] if step.caps() else []

    def link(self, parts):
        for part in parts:
            if part.get_parent() is None:
                self.pipeline.add(part)
        for before, after in zip(parts, parts[1:]):
            before.link(after)

    def start(self):
        self.pipeline.set_state(Gst.State.PLAYING)  # a failure is a message on the bus, too

    def stop(self):
        self.on_idle = self.on_done = self.on_news = lambda *_: None
        self.pipeline.set_state(Gst.State.NULL)
        self.bus.set_sync_handler(None)
        self.entry.disconnect(self.signal)
        for pad, number in self.probes:  # a probe refers to this object and would keep it alive
            pad.remove_probe(number)

    def push(self, sample, shown):
        if self.error:
            return
        with self.lock:
            self.inside.append(Frame(sample.get_buffer().pts, shown))
            self.pushed, self.began = self.pushed + 1, time.monotonic()
        self.entry.emit("push-sample", sample)

    def busy(self):
        """Whether the steps work on a frame."""
        return self.pushed > self.finished and not self.error

    def tick(self):
        """Whether the steps are given up now. Then they are to be stopped in a thread that may wait for them."""
        if self.busy() and time.monotonic() - self.began > LONGEST_FRAME:
            self.error = f"{self.at_work()} has worked on a frame for {LONGEST_FRAME} s: change a step to begin anew"
            self.on_news(self, True)
            return True
        return False

    def at_work(self):
        number = next((n for n, entered in enumerate(self.entered) if entered is not None), self.preparing)
        return "The encoder" if number is None else self.steps[number].factory

    def delivers(self):
        """Whether frames come out, or new steps still have time for the first one."""
        return not self.error and time.monotonic() - self.came_out < LONGEST_FRAME

    def waits(self):
        """A sentence about what the next picture waits for, if it does not come at once, or an empty text."""
        now, frame = time.monotonic(), "a frame" if self.processed else "the first frame"
        if self.error:
            return "The steps have failed: change one to begin anew."
        if self.busy() and now - self.began > max(SLOW, self.took):
            return f"{self.at_work()} has worked on {frame} for {now - self.began:.0f} s."
        if self.took > SLOW:
            return f"The steps are slow: they worked on the last frame for {self.took:.1f} s."
        if len(self.inside) > 1 and (not self.processed or now - self.came_out > SLOW):
            return f"The steps hold {len(self.inside)} frames back. The first one comes out when later ones have come."
        return "" if self.processed else "Waiting for the first frame behind the steps."

    def set_width(self, width):
        self.scaled.set_property("caps", picture_caps(width))

    def set(self, number, values):
        """Changes properties of a step that runs."""
        with self.lock:
            self.steps[number].change(values)
        self.apply(number, values)

    def apply(self, number, values):
        """Sets properties of the element. Only a frame that begins later shows that it accepts them."""
        self.changed = math.inf
        for name, value in values.items():
            self.elements[number].set_property(name, value)
        self.changed = time.monotonic()

    def values(self, number):
        """All values of a step as the element has them: some properties set others."""
        read = {}
        for name, its in self.steps[number].properties.items():
            if its.deprecated:
                continue
            if isinstance(its, OutputSize):
                read[name] = self.steps[number].values.get(name, its.default)
                continue
            value = self.elements[number].get_property(name)
            read[name] = value.value_nick if its.kind == "enum" else value if value is not None else ""
        return read

    def on_begun(self, _pad, _info):
        self.begun += 1
        self.entered = [None] * len(self.steps)
        return Gst.PadProbeReturn.OK

    def on_need(self, _source, _length):
        """The entry wants the next frame: the last one has gone through all steps, or into one that holds it back."""
        if self.finished < self.begun == self.pushed:
            self.finished, self.took = self.begun, time.monotonic() - self.began
            self.on_idle(self, self.took)

    def on_event(self, _pad, info, number):
        """Elements allocate when they get the format of the frames, which can take long, and is before the first frame."""
        event = info.get_event()
        if event.type == Gst.EventType.CAPS:
            self.preparing = number
            if number is None:
                caps = event.parse_caps().get_structure(0)
                self.size = caps.get_int("width")[1], caps.get_int("height")[1]
                self.on_news(self, False)
        return Gst.PadProbeReturn.OK

    def on_enter(self, _pad, _info, number):
        self.entered[number] = time.monotonic()
        return Gst.PadProbeReturn.OK

    def on_leave(self, _pad, _info, number):
        if self.entered[number] is not None:  # not the second frame that one frame has set free
            self.seconds[number] += time.monotonic() - self.entered[number]
            self.entered[number] = None
        return Gst.PadProbeReturn.OK

    def on_processed(self, _pad, info):
        now = time.monotonic()
        with self.lock:
            frame = self.frame = self.frame_at(info.get_buffer().pts)
            if frame is None:
                return Gst.PadProbeReturn.DROP
            self.processed, self.came_out = self.processed + 1, now
            if self.changed and self.changed < frame.began:
                self.changed = 0.0
                for step in self.steps:
                    step.undo.clear()
        if GstCudaVision and self.encode and now - self.plotted > FRESH:
            meta = GstCudaVision.buffer_get_tensor_meta(info.get_buffer(), "histogram")
            if meta:
                self.plotted, self.histogram = now, numpy.asarray(meta).tolist()
        return Gst.PadProbeReturn.OK

    def frame_at(self, pts):
        """Takes the frame that comes out, and forgets those before it, which the steps have dropped. The oldest one if a
        step has changed the time."""
        number = next((n for n, frame in enumerate(self.inside) if frame.pts == pts), 0)
        for _ in range(number):
            self.inside.popleft()
        return self.inside.popleft() if self.inside else None

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
                self.error, self.error_step = said(parsed), number
            return
        text = said(parsed)
        if number is None:
            self.notes = noted(self.notes, text)
            return
        step = self.steps[number]
        if REFUSED in text and step.undo:
            self.take_back(number)
        step.notes = noted(step.notes, text)  # last, so that a page that sees it sees the values of before

    def take_back(self, number):
        """Restores the values before the last change, which the element has refused. It may refuse these, too."""
        with self.lock:
            before = self.steps[number].take_back()
        self.apply(number, before)
