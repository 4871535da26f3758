# SPDX-License-Identifier: LGPL-2.1-or-later
"""Surroundings: what else goes on in the process."""
import ctypes
import locale
import os
import subprocess
import threading

from place import LIBC, demand, load, place, remark, silence
from places_of_threads import threads

@place("the locale of the environment", is_case=False)
def decimal_comma():
    locale.setlocale(locale.LC_ALL, "")
    demand(locale.localeconv()["decimal_point"] != ".", "the locale has a decimal point")
    yield None


def busy(work):
    """Calls work() on another thread during the play, as often as possible. Returns how often."""
    ended, calls = threading.Event(), 0

    def call():
        nonlocal calls
        while not ended.is_set():
            work()
            calls += 1

    thread = threading.Thread(target=call)
    thread.start()
    yield None
    ended.set()
    thread.join()
    demand(calls > 0, "the other thread did nothing")
    remark(f"{calls} calls on the other thread")


@place("the environment changes all the time")
def environment_changes():
    number = iter(range(1 << 60))
    yield from busy(lambda: os.putenv(f"GUEST_{next(number) % 1000}", "x" * 100))


@place("the environment is not read for each frame", preload="libguest_refuse.so")
def environment_reads():
    import play
    load()
    with silence():
        play.everything()
        reads = []
        for frames in (3, 9):
            before = LIBC.guest_asked(b"environment")
            play.everything(frames)
            reads.append(LIBC.guest_asked(b"environment") - before)
    demand(reads[0] == reads[1], f"3 frames read the environment {reads[0]} times, 9 frames {reads[1]} times")
    yield None


@place("another OpenCV and oneTBB work at the same time")
def opencv():
    import cv2
    import numpy
    picture = numpy.arange(320 * 240, dtype=numpy.uint8).reshape(240, 320)
    cv2.setNumThreads(4)
    yield from busy(lambda: cv2.goodFeaturesToTrack(cv2.GaussianBlur(picture, (9, 9), 2), 100, 0.1, 5))


# --- many and again ---

def descriptors():
    return len(os.listdir("/proc/self/fd"))


@place("one of a hundred elements")
def hundred():
    from play import Gst, elements
    names = [name for name in elements.names() if name != "cudavisionjson"]
    line = "videotestsrc num-buffers=2 ! video/x-raw,format=NV12,width=64,height=130 ! " + " ! ".join(
        f"{name} name=e{number}" for number, name in enumerate(names))
    load()
    Gst.Bus().timed_pop(0)
    before = descriptors()
    pipelines = [Gst.parse_launch(line + " ! fakesink sync=false") for _ in range(100 // len(names))]
    for pipeline in pipelines:
        for number in range(len(names)):
            element = pipeline.get_by_name(f"e{number}")
            if element.find_property("n-threads"):
                element.set_property("n-threads", 1024)
        pipeline.set_state(Gst.State.PLAYING)
    most = 0
    for pipeline in pipelines:
        while (message := pipeline.get_bus().timed_pop_filtered(
                Gst.MSECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)) is None:
            most = max(most, len(threads()))
        demand(message.type == Gst.MessageType.EOS, "an error")
    demand(most < os.cpu_count(), f"{most} threads")
    for pipeline in pipelines:
        pipeline.set_state(Gst.State.NULL)
    demand(not threads(), "threads are left")
    del pipeline, pipelines, element, message
    demand(descriptors() <= before, f"{descriptors()} descriptors are open, and {before} before")
    remark(f"{100 // len(names) * len(names)} elements with at most {most} threads of their own")
    yield None


@place("the plugin is unloaded and comes again")
def unload():
    import play
    from play import Gst
    with silence():
        play.everything()
    plugin = Gst.Registry.get().find_plugin("cudavision")
    file = plugin.get_filename()
    Gst.Registry.get().remove_plugin(plugin)
    del plugin
    loaded = ctypes.CDLL(file, mode=os.RTLD_NOLOAD)
    for _ in range(50):
        LIBC.dlclose(ctypes.c_void_p(loaded._handle))
    with open("/proc/self/maps", encoding="ascii") as maps:
        demand(file in maps.read(), "the plugin's code has gone")
    demand("NODELETE" in subprocess.check_output(["readelf", "--dynamic", file], text=True), "the plugin can be unloaded")
    Gst.Registry.get().scan_path(os.path.dirname(file))
    yield None
