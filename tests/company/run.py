# SPDX-License-Identifier: LGPL-2.1-or-later
"""A pipeline with an element, a neighbour and a source, which is played in one of the modes (modes.py) and recorded."""
from gi.repository import Gst

import frames

PATIENCE = 60 * Gst.SECOND
RATE = 20  # frames a second
SOURCE = ("videotestsrc name=source{number} pattern={pattern} {more} ! "
          f"video/x-raw,format={{format}},width=128,height=128,framerate={RATE}/1")
END = "fakevideosink name=end sync={sync} qos={sync} enable-last-sample=false"


class Fault(Exception):
    """What a pipeline did that it must not do."""


class Run:
    """in_front: the neighbour stands in front of the element; otherwise it stands behind."""

    def __init__(self, neighbour, element, mode, in_front, backend, folder):
        self.neighbour, self.element, self.mode, self.in_front = neighbour, element, mode, in_front
        self.backend, self.folder = backend, folder
        self.is_live = mode == "live"
        self.record, self.end = frames.Record(self.tell), frames.Record(self.tell)
        self.others = []  # records of elements that replaced the first one (hooks.py)
        self.sources = frames.Record(lambda: None)
        self.beside, self.pipeline, self.warnings, self.times = [], None, [], []
        self.values = {}  # values for the placeholders in the neighbour's text, set by its hook
        self.has_ended = False
        self.made = set()  # pictures of sources
        self.closers = []  # functions that are called at the end of the run
        self.promise = None

    @property
    def duration(self):
        return self.neighbour.frames * Gst.SECOND // RATE

    # --- building ---

    def source(self, number, pattern):
        counts = self.mode in COUNTED and not self.neighbour.is_endless
        more = ("is-live=true " if self.is_live else "") + (f"num-buffers={self.neighbour.frames}" if counts else "")
        return SOURCE.format(number=number, pattern=pattern, more=more, format=self.neighbour.format)

    def chain(self, number=0):
        """The element as text. number: which element, if several are used in turn."""
        more = "message=true" if self.is_live and self.element.posts else ""
        return self.element.chain(self.backend, more).format(lines=self.lines_file(number))

    def lines_file(self, number):
        return self.folder / f"lines{number}"

    def text(self, template):
        source = self.source(1, "spokes horizontal-speed=2")
        if not self.in_front:
            source += " ! " + self.chain()
        return template.format(source=source, source2=self.source(2, "circular horizontal-speed=3"), folder=self.folder,
                               **self.values)

    def build(self):
        neighbour = self.neighbour
        if neighbour.hook:
            neighbour.hook(self)
        if neighbour.beside:
            self.beside.append(Gst.parse_launch(self.text(neighbour.beside)))
        if self.pipeline is None:
            end = END.format(sync="true" if self.is_live else "false")
            middle = " ! " + self.chain() if self.in_front else ""
            self.pipeline = Gst.parse_launch(f"{self.text(neighbour.text)}{middle} ! {end}")
        for pipeline in [self.pipeline] + self.beside:
            self.watch(pipeline)
        if neighbour.after:
            neighbour.after(self)

    def watch(self, pipeline):
        """Records what passes the elements with known names."""
        for number in "12":
            if source := pipeline.get_by_name(f"source{number}"):
                self.sources.watch(source.get_static_pad("src"), "source" + number, with_walkers=True)
        if pipeline.get_by_name("last"):
            self.watch_element(pipeline, self.record)
        if end := pipeline.get_by_name("end"):
            self.end.watch(end.get_static_pad("sink"), "out")

    def watch_element(self, pipeline, record):
        last = pipeline.get_by_name("last")
        first = pipeline.get_by_name("first") or last
        record.watch(first.get_static_pad("sink"), "in", with_walkers=True)
        record.watch(last.get_static_pad("src"), "out")

    def by_name(self, name):
        pipelines = [self.pipeline] + self.beside
        return next((found for pipeline in pipelines if pipeline and (found := pipeline.get_by_name(name))), None)

    # --- playing ---

    def tell(self):
        """A frame has passed."""
        if self.pipeline:
            self.pipeline.post_message(Gst.Message.new_application(self.pipeline, Gst.Structure.new_empty("frame")))

    def play(self):
        for pipeline in self.beside + [self.pipeline]:
            if pipeline.set_state(Gst.State.PLAYING) == Gst.StateChangeReturn.FAILURE:
                self.wait(lambda message: False, "start")

    def pause(self):
        for pipeline in self.beside:
            pipeline.set_state(Gst.State.PLAYING)
        self.pipeline.set_state(Gst.State.PAUSED)
        self.wait_for_state()

    def wait_for_state(self):
        result = self.pipeline.get_state(PATIENCE)[0]
        if result == Gst.StateChangeReturn.FAILURE:
            self.wait(lambda message: False, "start")
        if result == Gst.StateChangeReturn.ASYNC:
            raise Fault("the pipeline hangs in a change of state")

    def stop(self):
        for record in (self.record, self.end, self.sources, *self.others):
            record.stops = True
        for pipeline in [self.pipeline] + self.beside:
            if pipeline:
                pipeline.set_state(Gst.State.NULL)

    def close(self):
        if self.is_live and self.pipeline:
            self.promise = self.promised()
        self.stop()
        for closer in self.closers:
            closer()

    def again(self):
        """Stops everything and plays it once more. All history is forgotten."""
        self.stop()
        self.pipeline.get_bus().set_flushing(True)
        self.pipeline.get_bus().set_flushing(False)
        self.has_ended = False
        if self.element.name == "cudavisionjson":  # it begins its file anew
            self.record.items.clear()
        self.record.items.append(("event", Gst.Event.new_flush_stop(True)))
        for record in (self.record, self.end, self.sources, *self.others):
            record.stops = False
        self.play()

    def seek(self, rate, start, stop, flags=Gst.SeekFlags.FLUSH):
        self.has_ended = False
        if not self.pipeline.seek(rate, Gst.Format.TIME, flags | Gst.SeekFlags.ACCURATE, Gst.SeekType.SET, start,
                                  Gst.SeekType.SET, stop):
            raise Fault("the seek is refused")
        if flags & Gst.SeekFlags.FLUSH:
            self.wait_for_state()

    def step(self, count):
        self.pipeline.send_event(Gst.Event.new_step(Gst.Format.BUFFERS, count, 1.0, True, False))
        self.wait(lambda message: self.has_ended or message.type in (Gst.MessageType.STEP_DONE, Gst.MessageType.SEGMENT_DONE),
                  "step")

    def to_the_end(self):
        if self.neighbour.is_endless:
            self.reach(self.neighbour.frames)
        else:
            self.wait(lambda message: self.has_ended, "end of the stream")

    def to_the_end_of_the_segment(self):
        self.wait(lambda message: message.type == Gst.MessageType.SEGMENT_DONE, "end of the segment")

    def count(self):
        return len(self.end.frames("out"))

    def reach(self, count):
        """Waits until so many frames have come to the end."""
        if not self.has_ended and self.count() < count:
            self.wait(lambda message: self.has_ended or self.count() >= count, f"frame {count}")

    def wait(self, until, what):
        bus = self.pipeline.get_bus()
        while True:
            message = bus.timed_pop(PATIENCE)
            if message is None:
                raise Fault(f"it hangs: no {what} after {len(self.record.frames('in'))} frames")
            self.take(message)
            if until(message):
                return

    def take(self, message):
        if message.type == Gst.MessageType.ERROR:
            raise Fault(f"{message.src.get_name()}: {message.parse_error()}")
        if message.type == Gst.MessageType.WARNING and is_ours(message.src):
            self.warnings.append(f"{message.src.get_name()}: {message.parse_warning()[0].message}")
        elif message.type == Gst.MessageType.LATENCY:
            self.pipeline.recalculate_latency()
        elif message.type == Gst.MessageType.EOS:
            self.has_ended = True
        elif message.type == Gst.MessageType.ELEMENT and message.get_structure().has_field("processing-time"):
            if message.src.get_name() == "last":
                self.times.append(message.get_structure().get_uint64("processing-time")[1])

    def promised(self):
        """The latency that the element adds, or None if nothing is live here."""
        last, latencies = self.by_name("last"), []
        if last is None:
            return None  # it is in a server, or taken out
        for pad in (last.get_static_pad("src"), last.get_static_pad("sink").get_peer()):
            query = Gst.Query.new_latency()
            if not pad.query(query) or not query.parse_latency()[0]:
                return None
            latencies.append(query.parse_latency()[1])
        return latencies[0] - latencies[1]


def is_ours(element):
    factory = element.get_factory() if isinstance(element, Gst.Element) else None
    return factory is not None and factory.get_plugin_name() == "cudavision"


# Modes whose source ends by itself; the others seek, and end where the segment ends.
COUNTED = ("forward", "pause", "again", "live", "step")
