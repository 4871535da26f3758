# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs videos, several at once, until each is done or has failed."""
import collections
import contextlib
import errno
import time

import parquet
import pipelines
import progress
from gi.repository import GLib
from videos import Unusable

TICK = 200  # milliseconds
STANDS = 5  # ticks after which a pipeline without a running thread counts as dead
WITH_WARNINGS = 3  # the exit status of --strict if all videos are done, but some with warnings
ANOTHER = 2  # seconds until a video that another process works on is looked at again


FATAL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO, errno.ESTALE, errno.EMFILE, errno.ENFILE}


def of_one_video(error):
    """Whether an error concerns a single result, such as one that belongs to another user, and not the whole folder."""
    return error.errno not in FATAL


def described(error):
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)


class OutputFails(Exception):
    """No result can be written; the text says why."""


class Run:
    """One video while it is worked on."""

    def __init__(self, batch, job, claim, state):
        self.batch, self.job, self.claim, self.state = batch, job, claim, state
        self.part = claim.part(".jsonl")
        writer = {"location": self.part.location, "source": job.video.source, "tensor_data": batch.options.tensor_data}
        self.warnings = []
        self.pipeline = pipelines.video_pipeline(job.video, batch.options.decode, batch.options.elements, writer, self.ended,
                                                 self.warned)
        self.frames, self.moved, self.stood = 0, time.monotonic(), 0

    def ended(self, error):
        self.batch.protect(self.batch.ended, self, error)

    def warned(self, text):
        self.warnings.append(text)
        self.batch.display.say(f"{self.job.video.source}: warning: {text}")

    def watch(self):
        """Gives up on a video that makes no frame for too long, or whose pipeline has no running thread any more."""
        frames = self.pipeline.frames()
        if frames != self.frames:
            self.frames, self.moved, self.stood = frames, time.monotonic(), 0
            return
        self.stood = self.stood + 1 if self.pipeline.stands() else 0
        if self.stood == STANDS:
            self.pipeline.fail(pipelines.NO_REASON)
        elif time.monotonic() - self.moved > self.batch.options.stall_timeout:
            self.pipeline.end(f"no frame came for {self.batch.options.stall_timeout:g} s, after {frames} frames")

    def passed(self):
        """The part of the video that has passed, from 0 to 1."""
        now, end = self.pipeline.position()
        return min(1, now / end) if now is not None and end else 0


class Job:
    """A video that is to be done, and how often that was tried."""

    def __init__(self, video, size):
        self.video, self.size, self.tries = video, max(1, size), 0
        self.error = None


class Batch:
    """options: elements, decode, tensor_data, parquet, jobs, retries, stall_timeout, strict."""

    def __init__(self, folder, options):
        self.folder, self.options = folder, options
        self.made_with = {"elements": options.elements, "decode": options.decode, "tensor_data": options.tensor_data,
                          "parquet": options.parquet, "cudavision": pipelines.version()}
        self.todo, self.elsewhere = collections.deque(), collections.deque()
        self.running, self.failed, self.done, self.before = [], [], 0, 0
        self.warned = []  # for each video that is done with warnings, its name and they
        self.frames, self.weight, self.weight_done = 0, 0, 0
        self.hung = False  # a pipeline did not stop: the process cannot end in the ordinary way
        self.fatal = None
        self.stops = contextlib.nullcontext()
        self.loop, self.display = GLib.MainLoop(), progress.Display()
        self.rate, self.left = progress.Rate(), None

    def add(self, video):
        try:
            state = video.state()
            done = self.is_done(video, state)
        except Unusable as error:
            self.fail(video.source, str(error))
            return
        except OSError as error:
            self.fail(video.source, described(error))
            return
        if done:
            self.before += 1
            return
        job = Job(video, state["size"])
        self.todo.append(job)
        self.weight += job.size

    def is_done(self, video, state):
        made_with, warnings = self.folder.record(video.name)
        if made_with != self.made_with | state:
            return False
        self.note(video, warnings)
        return True

    def note(self, video, warnings):
        if warnings:
            self.warned.append((video.source, warnings))

    def fail(self, name, why):
        self.failed.append((name, why))
        self.display.say(f"{name}: failed: {why}")

    # --- one video ---

    def start(self, job):
        """Begins a video, unless it cannot be read, is done meanwhile, or another process works on it."""
        try:
            state = job.video.state()
            claim = self.folder.claim(job.video.name)
        except Unusable as error:
            self.settle_failed(job, str(error))
            return
        except OSError as error:
            self.output_fails(job, error)
            return
        if claim is None:
            self.elsewhere.append((time.monotonic() + ANOTHER, job))
            return
        try:
            claim.remove_parts()
            if self.is_done(job.video, state):
                claim.release()
                self.settle(job)
                self.before += 1
                return
            job.tries += 1
            self.folder.withdraw(job.video.name)
            run = Run(self, job, claim, state)
        except OSError as error:
            claim.release()
            self.output_fails(job, error)
            return
        self.running.append(run)
        run.pipeline.start()

    def output_fails(self, job, error):
        """Called when the result of a video cannot be written. Raises the error if it concerns the whole folder."""
        if not of_one_video(error):
            raise error
        self.settle_failed(job, described(error))

    def settle_failed(self, job, why):
        self.settle(job)
        self.fail(job.video.source, why)

    def settle(self, job):
        self.weight_done += job.size

    def ended(self, run, error):
        """Called at the end of a pipeline, or after its error. If the output fails, abandon() will release the run."""
        seconds = run.pipeline.position()
        if not run.pipeline.stop():
            self.hung = True
            run.claim.left_behind()
            self.display.say(f"{run.job.video.source}: its pipeline does not stop and is left behind")
        if run.pipeline.full:
            raise OutputFails(error.replace(run.part.location, self.folder.path_of(run.part.name)))
        error = error or self.changed(run)
        if error:
            run.claim.release()
            self.give_up(run.job, error)
        else:
            try:
                self.finish(run, seconds)
            except OSError as failed:
                if of_one_video(failed):
                    run.claim.release()
                self.output_fails(run.job, failed)
        self.running.remove(run)
        self.frames += run.pipeline.frames()
        self.fill()

    def changed(self, run):
        try:
            return None if run.job.video.state() == run.state else "the file changed while it was read"
        except Unusable as error:
            return str(error)

    def finish(self, run, seconds):
        table = None
        if self.options.parquet:
            table = run.claim.part(".parquet")
            parquet.convert(run.part.location, table.location)
        made = {"video": run.job.video.source, "made_with": self.made_with | run.state, "warnings": run.warnings}
        self.folder.finish(run.claim, run.part, made, table)
        self.done += 1
        self.note(run.job.video, run.warnings)
        self.settle(run.job)
        last, end = seconds
        if last and end and last < 0.9 * end:
            self.display.say(f"{run.job.video.source}: note: it ends after {last:.1f} s of {end:.1f} s, as if it were cut off")

    def give_up(self, job, error):
        if error == pipelines.NO_REASON:
            error = job.error or error  # of the previous try
        job.error = error
        if job.tries <= self.options.retries:
            self.display.say(f"{job.video.source}: will be tried again: {error}")
            self.todo.append(job)
        else:
            self.settle_failed(job, error)

    # --- all of them ---

    def fill(self):
        """Begins as many videos as may run at once; ends the loop when there is nothing left."""
        now = time.monotonic()
        while self.elsewhere and self.elsewhere[0][0] <= now:
            self.todo.append(self.elsewhere.popleft()[1])
        while self.todo and len(self.running) < self.options.jobs:
            self.start(self.todo.popleft())
        if not (self.todo or self.running or self.elsewhere):
            self.loop.quit()

    def tick(self):
        for run in list(self.running):
            run.watch()
        self.fill()
        self.display.update(self.status())
        return True

    def status(self):
        part = (self.weight_done + sum(run.job.size * run.passed() for run in self.running)) / max(1, self.weight)
        frames = self.frames + sum(run.pipeline.frames() for run in self.running)
        total = self.before + self.done + len(self.failed) + len(self.todo) + len(self.running) + len(self.elsewhere)
        more = f", {len(self.failed)} failed" if self.failed else ""
        more += f", {len(self.elsewhere)} with other processes" if self.elsewhere else ""
        return (f"{progress.bar(part)} {self.before + self.done} of {total} videos{more}, "
                f"{self.rate.update(frames):.0f} frames/s, {self.left.text(part)}")

    def protect(self, action, *arguments):
        """Calls the action. If the output folder fails, or the program itself does, the run ends."""
        try:
            with self.stops:
                return action(*arguments)
        except OutputFails as error:
            self.fatal = str(error)
        except OSError as error:
            self.fatal = f"{error.filename or self.folder.path}: {error.strerror or error}"
        except Exception:
            self.fatal = "the program failed"
            self.loop.quit()
            raise
        self.loop.quit()
        return False

    def sweep(self):
        for claim in self.folder.leftovers(".lock"):
            claim.release()

    def run(self):
        self.left = progress.Left()
        GLib.timeout_add(TICK, self.protect, self.tick)
        GLib.idle_add(lambda: self.protect(self.fill) and False)
        self.protect(self.sweep)
        if self.fatal is None:
            self.loop.run()
        self.abandon()
        return 1 if self.failed or self.fatal else WITH_WARNINGS if self.options.strict and self.warned else 0

    def abandon(self):
        """Leaves no half-written result. Pipelines may still be running, and write to files without names then."""


        for run in self.running:
            try:
                run.claim.left_behind()
                run.claim.release()
            except OSError as error:
                self.display.say(f"{run.claim.lock}: {error.strerror}")

    def summary(self, stopped=None):
        """Lines for a person. stopped: why not all has been done."""
        left = len(self.todo) + len(self.running) + len(self.elsewhere)
        took = time.monotonic() - self.left.began if self.left else 0
        yield (f"{self.done} videos done in {progress.hours(took)} ({self.frames} frames), {self.before} done before, "
               f"{len(self.failed)} failed, {left} left")
        for name, warnings in self.warned:
            yield f"done with {len(warnings)} warning{'s' * (len(warnings) > 1)}: {name}: {warnings[0]}"
        for name, why in self.failed:
            yield f"failed: {name}: {why}"
        if self.fatal or stopped:
            yield f"stopped: {self.fatal or stopped}"
