# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where frames come from: files, devices, addresses and source elements, all named on the command line."""
import os
import pathlib
import re
import shlex
import stat

import addresses
from elements import UPRIGHT, Refused, can_be_quoted, in_pipeline, split
from gi.repository import GLib, Gst

TEST_PICTURE = "videotestsrc is-live=true ! video/x-raw,width=640,height=480,framerate=25/1"
PATIENCE = 2 * Gst.SECOND  # the longest wait for the frame of a seek
PLAYED = Gst.SeekFlags.FLUSH | Gst.SeekFlags.ACCURATE


class Source:
    """A source as it was named on the command line."""

    def __init__(self, text):
        text = path_of(text)
        path = pathlib.Path(text)
        self.text, self.is_file, self.is_address = text, False, False
        self.live = True  # frames come at the pace of the source
        if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text):
            self.is_address, self.parts = True, [("uridecodebin", {"uri": text})]
            self.name = addresses.public(text)
        elif os.path.exists(text):
            if stat.S_ISCHR(path.stat().st_mode):
                self.parts = [("v4l2src", {"device": text})]
            elif path.is_file():
                self.is_file, self.live = True, False
                self.parts = [("filesrc", {"location": str(path.resolve())}), ("decodebin", {})]
            else:
                raise Refused(f"{text}: neither a file nor a device")
            self.name = os.fsencode(path.name).decode(errors="replace")
        elif text.strip() and Gst.ElementFactory.find(text.split()[0]):
            split(text)
            self.parts, self.name = None, addresses.without_secrets(text).split(" ! ")[0]
            self.make()  # raises Refused for wrong elements at the start
        else:
            raise Refused(f"{text}: no file, device, address or source element of this name")
        # Whether a value of a step may follow it in a pipeline's text: a quote behind a backslash does not end a text.
        self.can_be_written = (not re.search(r"\\[\"'](\s|$)", text) if self.parts is None else
                               all(can_be_quoted(value) for _, values in self.parts for value in values.values()))

    def words(self, quote):
        """The source as in a pipeline's text, without the passwords of an address."""
        if self.parts is None:
            text = addresses.without_secrets(self.text)
            return text if quote is in_pipeline else shlex.join(shlex.split(text))
        shown = {"uri": self.name} if self.is_address else {}
        return " ! ".join(" ".join([factory, *(quote(name, shown.get(name, value)) for name, value in values.items())])
                          for factory, values in self.parts)

    def make(self):
        """A bin with the source, whose last element is not linked."""
        text = self.text
        if self.parts is not None:
            text = " ! ".join(f"{factory} name=part{n}" for n, (factory, _) in enumerate(self.parts))
        try:
            pipeline = Gst.parse_launch(f"{text} ! {UPRIGHT} ! video/x-raw ! appsink name=frames emit-signals=true "
                                        "max-buffers=2")
        except GLib.Error as error:
            raise Refused(f"{self.name}: {error.message}") from error
        for number, (_, values) in enumerate(self.parts or ()):
            for name, value in values.items():
                pipeline.get_by_name(f"part{number}").set_property(name, value)
        return pipeline


def path_of(text):
    """Replaces a URI file:///… by the path of the file, which is read like any other file."""
    if not re.match("file:", text, re.IGNORECASE):
        return text
    try:
        return GLib.filename_from_uri(text)[0]
    except GLib.Error as error:
        raise Refused(f"{text}: {error.message}") from error


class Player:
    """A source that runs. Three functions are called in a thread of GStreamer: on_frame(sample), on_note(text) at a
    warning, and on_end(text): once after an error, with its text, and at each end of the stream with an empty text."""

    def __init__(self, source, on_frame, on_note, on_end):
        self.source, self.on_frame, self.on_note, self.on_end = source, on_frame, on_note, on_end
        self.ended, self.decodes = False, False
        self.pipeline = source.make()
        self.sink, self.bus = self.pipeline.get_by_name("frames"), self.pipeline.get_bus()
        self.sink.set_property("sync", not (source.is_address or source.live and source.parts is not None))
        self.signals = [(self.sink, self.sink.connect(f"new-{what}", self.on_sample, f"pull-{what}"))
                        for what in ("sample", "preroll")]
        self.signals.append((self.pipeline, self.pipeline.connect("deep-element-added", self.on_element)))
        watch_bus(self.bus, self.on_message)

    def start(self):
        self.pipeline.set_state(Gst.State.PLAYING)  # a failure is a message on the bus, too

    def stop(self):
        self.ended = True
        self.pipeline.set_state(Gst.State.NULL)
        self.bus.set_sync_handler(None)
        for sender, signal in self.signals:  # a handler refers to this object and would keep it alive
            sender.disconnect(signal)

    def waits(self):
        """What the first frame waits for."""
        if self.decodes:
            return "Waiting for the first frame of the decoder."
        if self.source.parts:
            return "Waiting for the source: no video has come yet."
        return "Waiting for the first frame of the source."

    def on_element(self, _pipeline, _parent, added):
        kind = added.get_factory() and added.get_factory().get_metadata("klass") or ""
        self.decodes |= kind.startswith("Codec/Decoder") and "Audio" not in kind

    def on_sample(self, sink, action):
        sample = sink.emit(action)
        if sample and not self.ended:
            own = Gst.Sample.new(sample.get_buffer(), sample.get_caps(), None, None)
            del sample  # so that the sink can reuse its own sample
            self.on_frame(own)
        return Gst.FlowReturn.OK

    def on_message(self, message):
        if message.type == Gst.MessageType.ERROR:
            self.end(self.without_secrets(said(message.parse_error())))
        elif message.type == Gst.MessageType.WARNING and "no_more_pads" in (message.parse_warning()[1] or ""):
            self.end("it has no video that can be decoded")
        elif message.type == Gst.MessageType.WARNING:
            self.on_note(self.without_secrets(said(message.parse_warning())))
        elif message.type == Gst.MessageType.EOS:
            self.end("")

    def without_secrets(self, text):
        return text if self.source.is_file else addresses.hide_all(text, self.source.text)

    def end(self, text):
        if not self.ended:
            self.ended = bool(text) or not self.source.is_file
            self.on_end(text)

    def pause(self, paused):
        self.pipeline.set_state(Gst.State.PAUSED if paused else Gst.State.PLAYING)

    def seek(self, time):
        return self.pipeline.seek_simple(Gst.Format.TIME, PLAYED, max(0, int(time)))

    def forward(self):
        """Shows the next frame in a pause. The frame before it must have come."""
        self.pipeline.get_state(PATIENCE)
        self.sink.send_event(Gst.Event.new_step(Gst.Format.BUFFERS, 1, 1.0, True, False))

    def duration(self):
        known, duration = self.pipeline.query_duration(Gst.Format.TIME)
        return duration if known else 0


def watch_bus(bus, on_message):
    """Calls on_message in the thread that posts, and leaves at most one message on the bus: the message is passed on
    and taken off, because one that a handler in Python drops would never be freed."""

    def handle(_bus, message):
        on_message(message)
        bus.pop()
        return Gst.BusSyncReply.PASS

    bus.set_sync_handler(handle)


def said(parsed):
    """The text of an error or a warning, with the part of the details that a user understands."""
    error, details = parsed
    last = (details or "").strip().split("\n")[-1]
    more = f" ({last[:200]})" if "\n" in (details or "") and last not in error.message else ""
    return "".join(c if c.isprintable() else " " for c in error.message[:400] + more)
