# SPDX-License-Identifier: LGPL-2.1-or-later
"""A clip: a file with the packets of a camera as they came, one in JSON with what is in it, and pictures."""
import contextlib
import json
import os
import pathlib
import time

import gi
import pipelines
import videos

gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402

# What puts a codec into the form that files want. The kind is written as kind_of() writes it.
PARSERS = {"video/x-h264": "h264parse", "video/x-h265": "h265parse", "video/x-av1": "av1parse",
           "video/mpeg, mpegversion=(int)4": "mpeg4videoparse", "audio/mpeg, mpegversion=(int)4": "aacparse"}
FRAGMENT = 1000  # milliseconds of a clip that a crash may cost
MOST_PICTURES = 100


def utc(nanoseconds):
    seconds, rest = divmod(nanoseconds, 10**9)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest:09d}Z"


def kind_of(caps):
    """The codec alone, as caps."""
    structure = caps.get_structure(0)
    versions = [name for number in range(structure.n_fields()) if (name := structure.nth_field_name(number)).endswith("version")]
    return Gst.Caps.from_string(", ".join([structure.get_name()] + [f"{name}=(int){structure.get_int(name)[1]}" for name in versions]))


def fits(muxer, caps):
    templates = Gst.ElementFactory.find(muxer).get_static_pad_templates()
    return any(template.direction == Gst.PadDirection.SINK and template.get_caps().can_intersect(kind_of(caps)) for template in templates)


def muxer_of(streams):
    """MP4 if it can hold the codecs, and otherwise Matroska. What both can be played while they are written, and after a crash."""
    for muxer, suffix, properties in ("mp4mux", ".mp4", {"fragment_duration": FRAGMENT}), ("matroskamux", ".mkv", {}):
        if all(fits(muxer, caps) for caps in streams):
            return pipelines.element(muxer, **properties), suffix
    raise pipelines.Refused(f"neither MP4 nor Matroska can hold {', '.join(kind_of(caps).to_string() for caps in streams)}")


def file_name(*parts):
    return "_".join(videos.short_name(part, "-") for part in parts if part)


def write_whole(path, data):
    """Readers see the old content or the new one."""
    new = path.with_name(f".{path.name}.part")
    try:
        new.write_bytes(data)
        os.replace(new, path)
    except OSError:
        with contextlib.suppress(OSError):
            new.unlink()
        raise


class Clip:
    """`first` is the packet that it begins with. on_end is called in the main loop when the file is closed, with None or an error."""

    def __init__(self, folder, stem, first, audio_caps, facts, on_end):
        streams = [first.caps] + ([audio_caps] if audio_caps else [])
        muxer, suffix = muxer_of(streams)
        self.caps, self.base, self.begin = first.caps, min(first.time, first.order), first.time
        self.stem, self.path = self.claim(folder, stem, suffix)
        self.facts = {"clip": self.path.name, **facts, "begin": first.time, "end": None, "complete": False, "events": []}
        self.pictures, self.on_end = 0, on_end
        self.pipeline, sink = Gst.Pipeline(), pipelines.element("filesink", location=str(self.path), buffer_mode=2)  # unbuffered
        self.pipeline.add(muxer)
        self.pipeline.add(sink)
        muxer.link(sink)
        self.sources = {is_video: self.source(caps, muxer, "video_%u" if is_video else "audio_%u") for is_video, caps in zip((True, False), streams)}
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        self.watch = bus.connect("message", self.on_message)
        self.pipeline.set_state(Gst.State.PLAYING)

    @staticmethod
    def claim(folder, stem, suffix):
        for number in range(1, 10000):
            free = stem if number == 1 else f"{stem}_{number}"
            path = pathlib.Path(folder) / (free + suffix)
            with contextlib.suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
                return free, path
        raise FileExistsError(17, os.strerror(17), stem)

    def source(self, caps, muxer, pad):
        source = pipelines.element("appsrc", caps=caps, format=Gst.Format.TIME, max_bytes=0)
        self.pipeline.add(source)
        last = source
        if kind_of(caps).to_string() in PARSERS:
            last = pipelines.element(PARSERS[kind_of(caps).to_string()])
            self.pipeline.add(last)
            source.link(last)
        last.link_pads("src", muxer, pad)
        return source

    def push(self, packet):
        source = self.sources.get(packet.is_video)
        if source is None or packet.order < self.base:
            return
        buffer = packet.buffer.copy()
        buffer.pts = packet.time - self.base
        buffer.dts = packet.order - self.base
        source.emit("push-buffer", buffer)
        if packet.is_video:
            self.facts["end"] = max(self.facts["end"] or 0, packet.time)

    def backlog(self):
        """Bytes that wait to be written."""
        return sum(source.get_property("current-level-bytes") for source in self.sources.values())

    def add_event(self, event):
        self.facts["events"].append({**event, "seconds": round((event["running-time"] - self.begin) / 1e9, 3)})
        self.note()

    def note(self):
        write_whole(self.path.with_name(self.stem + ".json"), json.dumps(self.facts, indent=1).encode() + b"\n")

    def picture_path(self):
        """Where the picture of the last event is to be; None if there are enough of this clip."""
        if self.pictures == MOST_PICTURES:
            return None
        self.pictures += 1
        name = self.stem + (f".{self.pictures}" if self.pictures > 1 else "") + ".jpg"
        self.facts["events"][-1]["picture"] = name
        return self.path.with_name(name)

    def close(self):
        for source in self.sources.values():
            source.emit("end-of-stream")

    def on_message(self, bus, message):
        if message.type not in (Gst.MessageType.EOS, Gst.MessageType.ERROR):
            return
        bus.disconnect(self.watch)
        bus.remove_signal_watch()
        self.pipeline.set_state(Gst.State.NULL)
        error = pipelines.text_of(message) if message.type == Gst.MessageType.ERROR else None
        self.facts.update({"error": error} if error else {"complete": True})
        try:
            if self.path.stat().st_size == 0:
                self.path.unlink()
                self.path.with_name(self.stem + ".json").unlink(missing_ok=True)
            else:
                self.note()
        except OSError as failed:
            error = error or f"{self.path}: {failed.strerror}"
        self.on_end(self, error)


def save_picture(sample, path):
    """Writes a frame as JPEG."""
    converted = GstVideo.video_convert_sample(sample, Gst.Caps.from_string("image/jpeg"), 10 * Gst.SECOND)
    sample = converted if isinstance(converted, Gst.Sample) else converted[0]
    found, data = sample.get_buffer().map(Gst.MapFlags.READ)
    if found:
        write_whole(path, bytes(data.data))
        sample.get_buffer().unmap(data)
