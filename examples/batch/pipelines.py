# SPDX-License-Identifier: LGPL-2.1-or-later
"""The pipeline that turns one video, or one camera, into lines of JSON."""
import pathlib
import sys
import threading
import time

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import addresses  # noqa: E402
from one_file import read_nothing_else, read_nothing_local  # noqa: E402,F401
from videos import printable  # noqa: E402

Gst.init(None)
NO_REASON = "GStreamer stopped to read it and gave no reason"
MOST_WARNINGS = 20  # different ones of a pipeline: more are not told
PATIENCE = 10  # seconds that a pipeline may take to stop
LONGEST_PAUSE = 60  # seconds between two attempts to connect a camera
UPRIGHT = "videoconvert ! videoflip video-direction=auto"  # phones store portraits sideways, with a tag
CAMERA_FRAMES = f"queue leaky=downstream max-size-buffers=4 max-size-bytes=0 max-size-time=0 ! {UPRIGHT}"


class Refused(Exception):
    """GStreamer refuses a description; the text is GStreamer's."""


def chain(description):
    """A bin whose last element is to be linked."""
    try:
        return Gst.parse_bin_from_description(description, False)
    except (GLib.Error, UnicodeError) as error:
        raise Refused(f"{description!r}: {getattr(error, 'message', error)}") from error


def ghost(made, description, direction, name):
    pad = made.find_unlinked_pad(direction)
    if pad is None:
        end = "begin with a source" if direction == Gst.PadDirection.SINK else "end in a sink"
        raise Refused(f"{description!r} must not {end}: frames go in and come out")
    made.add_pad(Gst.GhostPad.new(name, pad))


def elements_bin(description):
    made = chain(description)
    ghost(made, description, Gst.PadDirection.SINK, "sink")
    ghost(made, description, Gst.PadDirection.SRC, "src")
    return made


def source_bin(description):
    made = chain(description)
    ghost(made, description, Gst.PadDirection.SRC, "src")
    return made


def element(factory, **properties):
    made = Gst.ElementFactory.make(factory)
    if made is None:
        raise Refused(f"GStreamer has no element {factory}: is its plugin installed, and does GST_PLUGIN_PATH name its folder?")
    for name, value in properties.items():
        made.set_property(name.replace("_", "-"), value)
    return made


def check(elements, decode):
    """Refuses descriptions that no video could be run with, such as wrong names, properties and models."""
    element("cudavisionjson")
    source_bin(decode)
    made, bus = elements_bin(elements), Gst.Bus()
    made.set_bus(bus)
    started = made.set_state(Gst.State.PAUSED)
    message = bus.pop_filtered(Gst.MessageType.ERROR)
    made.set_state(Gst.State.NULL)
    if message or started == Gst.StateChangeReturn.FAILURE:
        raise Refused(f"{elements!r}: {text_of(message) if message else 'it does not start'}")


def version():
    return Gst.Registry.get().find_plugin("cudavision").get_version()


def name_of(source):
    """The kind of an element: its own name has a number that depends on how many the process has made before."""
    return source.get_factory().get_name() if isinstance(source, Gst.Element) and source.get_factory() else source.get_name()


def text_of(message, hide=str):
    """GStreamer's text of an error or a warning, with the part of its details that a user understands. hide: a function that removes
    secrets from a text. A camera chooses some of the words, so no character that controls a terminal may remain."""
    error, details = message.parse_error() if message.type == Gst.MessageType.ERROR else message.parse_warning()
    last = (details or "").strip().split("\n")[-1]
    more = hide(last) if "\n" in (details or "") and last not in error.message else ""
    return printable(f"{name_of(message.src)}: {hide(error.message)[:400]}" + (f" ({more[:200]})" if more else ""))


class Pipeline:
    """SOURCE ! ELEMENTS ! cudavisionjson ! fakesink. These functions are called in the main loop: on_end once, with None at
    the end of the stream or with the text of the error; on_warning with the text of each warning, once for each; and
    on_trouble with the name of an event of cudacameracheck, and whether it begins."""

    def __init__(self, source, elements, writer, on_end, on_warning, hide=str, on_trouble=None):
        self.pipeline, self.hide = Gst.Pipeline(), hide
        self.elements, self.writer = elements_bin(elements), element("cudavisionjson", **writer)
        self.sink = element("fakesink", sync=False, enable_last_sample=False)
        self.on_end, self.on_warning, self.on_trouble, self.warnings = on_end, on_warning, on_trouble, set()
        self.full = False  # set when the disk had no space for the result
        self.no_video = False
        self.before = self.counted = 0
        parts = source, self.elements, self.writer, self.sink
        for part in parts:
            self.pipeline.add(part)
        for before, after in zip(parts, parts[1:]):
            before.link(after)
        self.bus = self.pipeline.get_bus()
        self.bus.add_signal_watch()
        self.watch = self.bus.connect("message", self.on_message)

    def start(self):
        self.pipeline.set_state(Gst.State.PLAYING)  # a failure is a message on the bus, too

    def on_message(self, _bus, message):
        if message.type == Gst.MessageType.WARNING:
            self.warn(message)
        told = message.get_structure() if message.type == Gst.MessageType.ELEMENT and self.on_trouble else None
        if told and told.get_name() == "cudacameracheck-event":
            self.on_trouble(told.get_string("event"), told.get_string("state") == "begin")
        if message.type == Gst.MessageType.ERROR:
            error = message.parse_error()[0]
            full = error.matches(Gst.ResourceError.quark(), Gst.ResourceError.NO_SPACE_LEFT)
            self.full = full and message.src == self.writer
            self.fail(text_of(message, self.hide))
        elif message.type == Gst.MessageType.EOS:
            self.end(None if self.frames() else "it has no frame that can be decoded")

    def warn(self, message):
        if "no_more_pads" in (message.parse_warning()[1] or ""):  # an error follows
            self.no_video = True
            return
        text = text_of(message, self.hide)
        if text not in self.warnings and len(self.warnings) < MOST_WARNINGS:
            self.warnings.add(text)
            self.on_warning(text)

    def fail(self, error):
        self.end("it has no video stream that can be decoded" if self.no_video else error)

    def end(self, error):
        if self.on_end:
            on_end, self.on_end = self.on_end, None
            on_end(error)

    def stands(self):
        """Whether no thread of the pipeline runs: decodebin loses an error that comes while it adds the element."""
        running = []

        def note(pad):
            running.append(pad.get_task_state() == Gst.TaskState.STARTED)

        complete = self.pipeline.iterate_recurse().foreach(lambda part: part.iterate_pads().foreach(note))
        return complete == Gst.IteratorResult.DONE and not any(running)

    def frames(self):
        """The number of frames that have been written. The sink counts them, so that no thread of the pipeline waits
        for Python. A flush resets the sink's count."""
        counted = self.sink.get_property("stats").get_value("rendered")
        if counted < self.counted:
            self.before += self.counted
        self.counted = counted
        return self.before + counted

    def position(self):
        """Seconds of the video that have passed, and those that it has; None where unknown."""
        known, now = self.sink.query_position(Gst.Format.TIME)
        long, end = self.pipeline.query_duration(Gst.Format.TIME)
        return (now / Gst.SECOND if known and now >= 0 else None, end / Gst.SECOND if long and end > 0 else None)

    def stop(self):
        """Returns whether the pipeline has stopped. One that hangs in an element is left behind."""
        self.on_end = self.on_warning = None  # otherwise this object and its owner would keep one another alive
        self.bus.disconnect(self.watch)  # otherwise the bus and this object would keep one another alive for ever
        self.bus.remove_signal_watch()
        stopping = threading.Thread(target=self.pipeline.set_state, args=(Gst.State.NULL,), daemon=True)
        stopping.start()
        stopping.join(PATIENCE)
        return not stopping.is_alive()


    def swap_writer(self, writer, on_swapped):
        """Replaces this writer with another one between two frames. on_swapped is called when the old writer has closed
        its file, in a thread of the pipeline or in this one."""
        def swap(_pad, _info):
            old, self.writer = self.writer, element("cudavisionjson", **writer)
            self.elements.unlink(old)
            old.unlink(self.sink)
            old.set_state(Gst.State.NULL)
            self.pipeline.remove(old)
            self.pipeline.add(self.writer)
            self.writer.link(self.sink)
            self.writer.sync_state_with_parent()
            self.elements.link(self.writer)
            on_swapped()
            return Gst.PadProbeReturn.REMOVE

        self.elements.get_static_pad("src").add_probe(Gst.PadProbeType.IDLE, swap)


class Attempts:
    """When a camera is connected: at once, and after each failure later than after the last one, until frames have come again."""

    def __init__(self, stall_timeout):
        self.stall_timeout, self.pause, self.next = stall_timeout, 1, 0
        self.frames, self.moved = 0, 0  # of the connection: how many have come, and when the last one was noticed

    @property
    def are_due(self):
        return time.monotonic() >= self.next

    def begin(self):
        self.frames, self.moved = 0, time.monotonic()

    def fail(self, why):
        """Returns the text that tells of the failure."""
        text = f"{why}; the next attempt is in {self.pause} s"
        self.next, self.pause = time.monotonic() + self.pause, min(LONGEST_PAUSE, 2 * self.pause)
        return text

    def watch(self, pipeline):
        """Ends a pipeline from which no frame has come for too long. Returns whether it has."""
        frames, now = pipeline.frames(), time.monotonic()
        if frames != self.frames:
            self.frames, self.moved, self.pause = frames, now, 1
        elif now - self.moved > self.stall_timeout:
            pipeline.end(f"no frame came for {self.stall_timeout:g} s")
            return True
        return False


def video_pipeline(video, decode, elements, writer, on_end, on_warning):
    source = source_bin(f"filesrc name=video ! {decode}")
    source.get_by_name("video").set_uri(video.uri)  # a URI can name any file; a property takes UTF-8 alone
    return Pipeline(source, elements, writer, on_end, on_warning)


def camera_pipeline(camera, elements, writer, on_end, on_warning, on_trouble=None):
    """Frames that the elements are too slow for are dropped in the queue."""
    source = source_bin(f"uridecodebin name=camera ! {CAMERA_FRAMES}")
    source.get_by_name("camera").set_property("uri", camera.uri)
    return Pipeline(source, elements, writer, on_end, on_warning, lambda text: addresses.hide(text, camera.uri), on_trouble)
