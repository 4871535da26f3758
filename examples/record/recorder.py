# SPDX-License-Identifier: LGPL-2.1-or-later
"""A camera: connected, or waiting for the next attempt. It decides which packets a clip gets."""
import concurrent.futures
import contextlib
import threading
import time

import gi
import pipelines
from clips import Clip, file_name, save_picture, utc
from memory import Memory
from stream import Stream

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

LATE = 4 * Gst.SECOND  # how much later than its time an event may come: `leave` waits for the patience of the zones
RETRY = 2  # seconds between two attempts to write
MOST_WAITING = 64 << 20  # bytes of a clip of a live source that wait for a slow disk
workers = concurrent.futures.ThreadPoolExecutor(1)  # they make pictures


class Recorder:
    """options: before, after, longest (nanoseconds), memory (bytes), folder, elements, lines, stall_timeout, wants() and pictures.
    say: a function that tells a text. on_closed: is called when a clip has been closed."""

    def __init__(self, camera, options, say, on_closed):
        self.camera, self.options, self.on_closed = camera, options, on_closed
        self.say = lambda text: say(f"{camera.source}: {text}")
        self.lock = threading.RLock()
        self.stream, self.attempts = None, pipelines.Attempts(options.stall_timeout)
        self.is_done = self.has_failed = False  # of a file
        self.open = set()  # clips that are not closed yet, also after their last packet
        self.forget()

    def forget(self):
        """What belongs to one connection. Times: `until` when the clip ends, `now` of the last frame that was analysed."""
        self.memory, self.clip, self.cursor, self.until, self.now = Memory(self.options.memory), None, 0, None, 0
        self.waiting_pictures, self.retry_at, self.is_told = [], 0, False

    # --- what the stream tells, in its threads ---

    def take_packet(self, packet):
        with self.lock:
            self.memory.append(packet)
            self.go_on()

    def take_frame(self, when, buffer, caps):
        with self.lock:
            self.now = max(self.now, when)
            ready = [path for time_of_event, path in self.waiting_pictures if time_of_event <= when]
            if ready:
                self.waiting_pictures = [one for one in self.waiting_pictures if one[0] > when]
                workers.submit(self.save_picture, Gst.Sample.new(buffer, caps, None, None), ready)
            self.go_on()

    def take_event(self, event):
        with self.lock:
            event.setdefault("running-time", self.now)
            if self.options.wants(event):
                self.add(event)

    def backlog(self):
        return self.clip.backlog() if self.clip else 0

    # --- which packets are written ---

    def add(self, event):
        when = event["running-time"]
        begin, end = when - self.options.before, when + self.options.after
        if self.until is not None and begin <= self.until:
            self.until = max(self.until, end)
            if self.clip and not self.joins_motion(event):
                self.note(event)
        else:
            self.close()
            self.until = end
            self.begin_clip(event, self.memory.begin(begin), begin)
        self.go_on()

    def joins_motion(self, event):
        """Motion that goes on is one event."""
        last = self.clip.facts["events"][-1:]
        if event["event"] != "motion" or not last or last[0]["event"] != "motion":
            return False
        last[0]["last-running-time"] = event["running-time"]
        return True

    def note(self, event):
        when = self.stream.utc_of(event["running-time"])
        event = event | ({"utc": utc(when)} if when else {})
        with self.writing():
            self.clip.add_event(event)
            if self.options.pictures and (path := self.clip.picture_path()):
                self.waiting_pictures.append((event["running-time"], path))
                self.clip.note()

    @contextlib.contextmanager
    def writing(self):
        """A clip does without what cannot be written beside it."""
        try:
            yield
        except OSError as error:
            self.tell_once(f"{error.filename}: {error.strerror}")

    def tell_once(self, text):
        if not self.is_told:
            self.say(text)
        self.is_told = True

    def begin_clip(self, event, number, wanted, continues=None):
        """Opens a clip that begins with the packet of this number."""
        if number is None:
            return
        first = self.memory.at(number)
        when = self.stream.utc_of(first.time)
        facts = {"source": self.camera.source, "wanted": max(0, wanted), **({"utc": utc(when)} if when else {}),
                 **({"continues": continues} if continues else {})}
        kind = file_name(event["event"], event["name"]) if event else "on"
        when = self.stream.utc_of(event["running-time"] if event else first.time)
        stem = f"{self.camera.name}_{stamp(when, event['running-time'] if event else first.time)}_{kind}"
        try:
            self.clip = Clip(self.options.folder, stem, first, self.memory.audio_caps, facts, self.closed)
        except (OSError, pipelines.Refused) as error:
            self.failed(str(error))
            return
        self.open.add(self.clip)
        for packet in self.memory.sound_before(number):
            self.clip.push(packet)
        self.cursor = number
        if event:
            self.note(event)
        else:
            with self.writing():
                self.clip.note()

    def go_on(self):
        """Writes what is wanted, and drops what nobody needs."""
        if self.until is not None:
            if self.clip is None and time.monotonic() >= self.retry_at:
                self.try_again()
            if self.clip:
                self.write()
            if self.now > self.until + self.options.before + LATE:
                self.close()
        self.memory.trim(self.now - self.options.before - LATE, self.cursor if self.clip else self.memory.end)
        if self.memory.is_short and self.until is None:
            self.memory.is_short = False
            self.tell_once("--memory is too small for --before: clips begin later")

    def try_again(self):
        """After an error, at the next key frame."""
        number = self.memory.begin(self.until)
        if number is not None and self.memory.at(number).time <= self.until and number >= self.cursor:
            self.begin_clip(None, number, self.memory.at(number).time)

    def write(self):
        while self.clip and self.cursor < self.memory.end:
            packet = self.memory.at(self.cursor)
            if packet.is_video and packet.order > self.until:
                return
            too_long = packet.time - self.clip.begin >= self.options.longest
            if packet.is_key and (too_long or not packet.caps.is_equal(self.clip.caps)):
                before = self.clip
                self.shut()
                self.begin_clip(None, self.cursor, packet.time, before.path.name)
                continue
            self.clip.push(packet)
            self.cursor += 1
            if self.stream.is_live and self.clip.backlog() > MOST_WAITING:
                self.failed("the disk is too slow")

    def shut(self):
        if self.clip:
            self.clip.close()
            self.clip = None

    def close(self):
        self.shut()
        self.until = None

    def failed(self, why):
        """The clip has ended too early. The next one begins when the disk has room."""
        self.shut()
        self.retry_at = time.monotonic() + RETRY
        self.tell_once(f"{why}: recording goes on when it can")

    def closed(self, clip, error):
        """In the main loop."""
        with self.lock:
            self.open.discard(clip)
            if error is None:
                if self.is_told:
                    self.say("recording goes on")
                self.is_told = False
            elif self.clip is clip:
                self.clip = None
                self.failed(error)
        self.on_closed()

    def save_picture(self, sample, paths):
        for path in paths:
            try:
                save_picture(sample, path)
            except OSError as error:
                self.say(f"{path}: {error.strerror}")
            except Exception as error:  # noqa: BLE001  # GStreamer's, such as frames in the memory of a GPU
                self.say(f"{path}: no picture: {getattr(error, 'message', error)}")

    # --- the connection, in the main loop ---

    def connect(self):
        self.forget()
        self.stream = Stream(self.camera.text, self.options.elements, self.options.writer(self.camera), self, self.camera.hide)
        self.options.prepare(self.stream.elements)
        self.attempts.begin()
        self.stream.start()

    def warned(self, text):
        self.say(f"warning: {text}")

    def ended(self, error):
        has_end = self.camera.is_file or self.stream is not None and self.stream.has_end
        self.disconnect()
        if has_end:
            self.is_done, self.has_failed = True, error is not None
            if error:
                self.say(error)
            return
        self.say(self.attempts.fail(error or "the camera has ended the stream"))

    def disconnect(self):
        if self.stream is None:
            return
        if not self.stream.stop():
            self.say("its pipeline does not stop and is left behind")
        with self.lock:
            if self.clip:
                self.write()
            self.close()
            self.stream = None

    def tick(self):
        if self.is_done:
            return
        if self.stream is None:
            if self.attempts.are_due:
                self.connect()
            return
        self.attempts.watch(self.stream)


def stamp(when, running):
    """For a name: the time of day in UTC, or the time in the file."""
    if when is not None:
        return f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime(when // 10**9))}.{when // 10**6 % 1000:03}Z"
    milliseconds = max(0, running) // 10**6
    return f"{milliseconds // 3600000}h{milliseconds // 60000 % 60:02}m{milliseconds // 1000 % 60:02}.{milliseconds % 1000:03}s"
