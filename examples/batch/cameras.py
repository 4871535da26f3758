# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cameras: each is connected for ever, and again after an interruption. Its lines go to one file after the other:

NAME.TIME.jsonl       a part that is closed; TIME is when it was begun, in UTC
.NAME.camera          the lock, as results.py describes it
.NAME.*.TIME.jsonl.part   the part that is being written. After a kill, the next process publishes its whole lines.
"""
import collections
import contextlib
import datetime
import os
import re
import threading
import time

import pipelines
import progress
from gi.repository import GLib
from results import NoFile, Part

TICK = 200  # milliseconds
LOCK = ".camera"
STAMP = "%Y%m%dT%H%M%S.%fZ"


def free_name(claim, when):
    """Returns the final name of a part that was begun at the time `when`, and the time stamp in that name. If the name
    is taken, a later microsecond is used, so that no other result is replaced."""
    while True:
        stamp = when.strftime(STAMP)
        name = f"{claim.name}.{stamp}.jsonl"
        if not claim.folder.has(name):
            return name, stamp
        when += datetime.timedelta(microseconds=1)


class CameraPart:
    """A file of a camera, from its beginning until it is published or, without a line, removed."""

    def __init__(self, claim, serial):
        self.claim, self.began = claim, time.monotonic()
        self.final, stamp = free_name(claim, datetime.datetime.now(datetime.timezone.utc))
        self.part = claim.part(f".{stamp}.jsonl", serial)

    def close(self):
        """Publishes the part, or removes it if it has no line. Returns whether there was a line."""
        if self.part.whole_lines():
            self.claim.publish(self.part, self.final)
            return True
        self.claim.discard(self.part)
        return False


def rescue(folder, claim):
    """Publishes what a process has left of the camera, be it one that was killed or this one at its end. A file that
    also has another name (a hard link) may belong to somebody else, so nothing is cut off from it."""
    for name in claim.left + [part.name for part in claim.parts]:
        with contextlib.suppress(AttributeError, ValueError, FileNotFoundError, NoFile, PermissionError):
            when = datetime.datetime.strptime(re.search(r"\.([0-9TZ.]+)\.jsonl\.part$", name)[1], STAMP)
            part = Part(folder, name, folder.open(name, os.O_RDWR))
            try:
                if os.fstat(part.handle).st_nlink == 1 and part.whole_lines():
                    part.publish(free_name(claim, when)[0])
            finally:
                part.close()
    claim.remove_parts()


class Connection:
    """One camera, connected or waiting."""

    def __init__(self, wall, camera):
        self.wall, self.camera = wall, camera
        self.claim = self.pipeline = self.part = None
        self.closing = False  # a part is being replaced
        self.serial, self.total = 0, 0
        self.troubles, self.told = set(), collections.Counter()  # events of cudacameracheck: those that last, and all
        self.attempts = pipelines.Attempts(wall.options.stall_timeout)

    def writer(self):
        self.serial += 1
        self.part = CameraPart(self.claim, self.serial)
        return {"location": self.part.part.location, "source": self.camera.source, "wall_clock": True,
                "tensor_data": self.wall.options.tensor_data}

    def connect(self):
        if self.claim is None:
            self.claim = self.wall.folder.claim(self.camera.name, LOCK)
            if self.claim is None:
                self.wait("another process has it")
                return
            rescue(self.wall.folder, self.claim)
        writer = self.writer()
        self.pipeline = pipelines.camera_pipeline(self.camera, self.wall.options.elements, writer, self.ended, self.warned,
                                                  self.troubled)
        self.attempts.begin()
        self.pipeline.start()

    def warned(self, text):
        self.wall.display.say(f"{self.camera.source}: warning: {text}")

    def troubled(self, name, begins):
        """An event of cudacameracheck."""
        self.wall.display.say(f"{self.camera.source}: {name}" + ("" if begins else " is over"))
        self.told[name] += begins
        (self.troubles.add if begins else self.troubles.discard)(name)

    def wait(self, why):
        self.wall.display.say(f"{self.camera.source}: {self.attempts.fail(why)}")

    def ended(self, error):
        try:
            with self.wall.stops:
                self.disconnect()
        except OSError as failed:
            error = f"{failed.filename or self.wall.folder.path}: {failed.strerror}"
        self.wait(error or "the camera has ended the stream")

    def disconnect(self):
        pipeline, part = self.pipeline, self.part
        self.pipeline = self.part = None
        self.closing = False
        self.troubles.clear()
        if pipeline:
            self.total += pipeline.frames()
            if not pipeline.stop():
                self.claim.left_behind()
                self.wall.display.say(f"{self.camera.source}: its pipeline does not stop and is left behind")
        if part:
            self.wall.parts += part.close()

    def rotate(self):
        old, self.closing = self.part, True
        self.pipeline.swap_writer(self.writer(), lambda: GLib.idle_add(self.rotated, old))

    def rotated(self, old):
        self.closing = False
        try:
            with self.wall.stops:
                self.wall.parts += old.close()
        except OSError as error:
            self.wall.display.say(f"{self.camera.source}: {error.filename or old.final}: {error.strerror}")
        return False

    def tick(self):
        """Connects, watches the camera, or begins its next part."""
        if self.pipeline is None:
            if self.attempts.are_due:
                self.connect()
            return
        if self.attempts.watch(self.pipeline):
            return
        if time.monotonic() - self.part.began >= self.wall.options.rotate and not self.closing:
            self.rotate()


class Wall:
    """options: elements, tensor_data, stall_timeout, rotate."""

    def __init__(self, folder, options):
        self.folder, self.options, self.parts = folder, options, 0
        self.connections = []
        self.stops = contextlib.nullcontext()
        self.loop, self.display, self.rate = GLib.MainLoop(), progress.Display(), progress.Rate()

    def add(self, camera):
        self.connections.append(Connection(self, camera))

    def tick(self):
        for connection in self.connections:
            try:
                with self.stops:
                    connection.tick()
            except (OSError, pipelines.Refused) as error:
                connection.ended(str(error))
        self.display.update(self.status())
        return True

    def frames(self):
        return sum(c.total + (c.pipeline.frames() if c.pipeline else 0) for c in self.connections)

    def status(self):
        delivering = sum(c.pipeline is not None and c.attempts.frames > 0 for c in self.connections)
        troubled = sum(bool(c.troubles) for c in self.connections)
        return (f"{delivering} of {len(self.connections)} cameras deliver, " + (f"{troubled} have a trouble, " if troubled else "")
                + f"{self.rate.update(self.frames()):.1f} frames/s, {self.parts} parts written")

    def run(self):
        for claim in self.folder.leftovers(LOCK):
            try:
                with self.stops:
                    rescue(self.folder, claim)
                    claim.release()
            except OSError as error:
                self.display.say(f"{error.filename or self.folder.path}: {error.strerror}")
        GLib.timeout_add(TICK, self.tick)
        self.loop.run()

    def abandon(self):
        """Closes every part. The pipelines stop beside one another."""
        threads = [threading.Thread(target=self.close, args=(c,), daemon=True) for c in self.connections]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(pipelines.PATIENCE + 1)

    def close(self, connection):
        try:
            connection.disconnect()
            if connection.claim:
                rescue(self.folder, connection.claim)
                connection.claim.release()
        except OSError as error:
            self.display.say(f"{connection.camera.source}: {error.filename or self.folder.path}: {error.strerror}")

    def summary(self, stopped):
        yield f"{self.parts} parts written"
        for connection in self.connections:
            if connection.told:
                troubles = ", ".join(f"{name} {count}" for name, count in sorted(connection.told.items()))
                yield f"{connection.camera.source}: {troubles}"
        yield f"stopped: {stopped}"
