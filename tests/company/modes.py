# SPDX-License-Identifier: LGPL-2.1-or-later
"""The ways to play a pipeline."""
from gi.repository import Gst


def forward(run):
    run.play()
    run.to_the_end()


live = forward  # with a live source, and a sink that waits for the clock


def pause(run):
    run.play()
    run.reach(4)
    run.pause()
    run.play()
    run.to_the_end()


def again(run):
    run.play()
    run.reach(5)
    run.again()
    run.to_the_end()


def step(run):
    run.pause()
    for _ in range(3):
        run.step(2)
    run.play()
    run.to_the_end()


def reverse(run):
    run.pause()
    run.seek(-1.0, 0, run.duration)
    run.play()
    run.to_the_end()


def turn(run):
    """Plays forwards, then backwards from two thirds on."""
    run.pause()
    run.seek(1.0, 0, run.duration)
    run.play()
    run.reach(run.count() + 3)
    run.seek(-1.0, 0, run.duration * 2 // 3)
    run.to_the_end()


def seek(run):
    """Seeks in PAUSED, then while playing."""
    run.pause()
    run.seek(1.0, run.duration // 2, run.duration)
    run.play()
    run.reach(run.count() + 3)
    run.seek(1.0, run.duration // 4, run.duration)
    run.to_the_end()


def rate(run):
    """Plays twice as fast, then at half speed after a seek without a flush."""
    run.pause()
    run.seek(2.0, 0, run.duration)
    run.play()
    run.reach(run.count() + 3)
    run.seek(0.5, run.duration // 2, run.duration, Gst.SeekFlags.NONE)
    run.to_the_end()


def segment(run):
    """A loop: the segment ends, and the next one begins without a flush."""
    run.pause()
    run.seek(1.0, 0, run.duration * 2 // 3, Gst.SeekFlags.FLUSH | Gst.SeekFlags.SEGMENT)
    run.play()
    run.to_the_end_of_the_segment()
    run.seek(1.0, 0, run.duration * 2 // 3, Gst.SeekFlags.SEGMENT)
    run.to_the_end_of_the_segment()


MODES = {function.__name__: function for function in (forward, reverse, seek, pause, step, rate, segment, turn, again)}
MODES["live"] = live
ALL = tuple(MODES)
FORWARD = ("forward", "pause", "step", "again")
LIVE = ("live",)
