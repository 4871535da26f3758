#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random lives of elements in a program that imports NumPy first.

usage: lives.py [WORD...]            a case for each element
       lives.py --live NAME STEPS SEED   one life: four threads use the element at the same time

CUDAVISION_GUEST_STEPS is the number of steps of each element; the ordinary run takes 400. CUDAVISION_GUEST_SEED is the
seed; a failure names it.
"""
import numpy  # the first import, before GStreamer
import collections
import faulthandler
import functools
import os
import random
import sys
import threading
import time

import elements
import tap
from elements import Gst
from gi.repository import GObject
from place import set_stacks

STEPS = tap.at_least("CUDAVISION_GUEST_STEPS", 400)
SEED = tap.at_least("CUDAVISION_GUEST_SEED", 1)
FORMATS = ["NV12", "GRAY8", "RGBA", "I420", "GRAY16_LE", "P010_10LE", "YUY2"]
TEXTS = ["", "red", "#80ff0000", "*", "person", "nonsense", "\u00e4\"\\\n"]
LOCATIONS = ["", "/dev/null", "/nowhere/at/all"]  # nothing that could be written over
LEFT_ALONE = {"name", "parent"}


def a_value(rng, spec, default):
    """A value of the property within its range, often a small one."""
    if spec.value_type == GObject.TYPE_STRING:
        return rng.choice(LOCATIONS if spec.name.endswith("location") else TEXTS)
    if spec.value_type.is_a(GObject.TYPE_ENUM):  # newer versions of PyGObject have Python's enums
        values = getattr(type(default), "__enum_values__", None)
        return rng.choice(list(values.values() if values else type(default)))
    if isinstance(default, bool):
        return rng.random() < 0.5
    if not hasattr(spec, "minimum"):
        return default
    least, most = spec.minimum, spec.maximum
    if isinstance(default, float):
        return rng.choice([least, most, default, rng.uniform(least, min(most, 3 * default + 1))])
    return rng.choice([least, most, default, rng.randint(least, min(most, least + 24)), rng.randint(least, most)])


class Life:
    def __init__(self, name, steps, seed):
        self.steps, self.seed, self.counts = steps, seed, collections.Counter()
        self.pipeline = Gst.parse_launch("videotestsrc name=src ! capsfilter name=caps ! " + elements.pipelines(name)[0]
                                         + " ! fakesink name=sink sync=false")
        self.element = self.pipeline.get_by_name("e")
        self.specs = [spec for spec in self.element.list_properties() if spec.name not in LEFT_ALONE]
        self.defaults = {spec.name: self.element.get_property(spec.name) for spec in self.writable()}
        self.ended = threading.Event()
        self.element.get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, self.look)
        self.renegotiate(random.Random(seed))

    def writable(self):
        return [spec for spec in self.specs if spec.flags & GObject.ParamFlags.WRITABLE]

    def look(self, _, info):
        """The program looks at each frame with NumPy."""
        buffer = info.get_buffer()
        if buffer is not None:
            found, mapped = buffer.map(Gst.MapFlags.READ)
            if found:
                numpy.frombuffer(mapped.data, numpy.uint8).sum()
                buffer.unmap(mapped)
            self.counts["frames"] += 1
        return Gst.PadProbeReturn.OK

    # --- what the four threads do ---

    def renegotiate(self, rng):
        caps = f"video/x-raw,format={rng.choice(FORMATS)},width={rng.randint(1, 97)},height={rng.randint(1, 130)}"
        self.pipeline.get_by_name("caps").set_property("caps", Gst.Caps.from_string(caps))

    def change_state(self, rng):
        state = rng.choice([Gst.State.NULL, Gst.State.READY, Gst.State.PAUSED, Gst.State.PLAYING, Gst.State.PLAYING])
        self.pipeline.set_state(state)

    def flush(self, rng):
        pad = self.element.get_static_pad("sink")
        pad.send_event(Gst.Event.new_flush_start())
        time.sleep(rng.random() / 1000)
        pad.send_event(Gst.Event.new_flush_stop(rng.random() < 0.5))

    def seek(self, rng):
        flags = rng.choice([Gst.SeekFlags.FLUSH, Gst.SeekFlags.FLUSH | Gst.SeekFlags.SEGMENT])
        self.pipeline.seek(rng.choice([0.5, 1.0, 2.0]), Gst.Format.TIME, flags, Gst.SeekType.SET, rng.randint(0, Gst.SECOND),
                           Gst.SeekType.NONE, 0)

    def send_event(self, rng):
        pad, event = rng.choice([
            ("sink", Gst.Event.new_gap(0, Gst.SECOND)), ("sink", Gst.Event.new_eos()), ("src", Gst.Event.new_reconfigure()),
            ("src", Gst.Event.new_latency(Gst.SECOND)), ("src", Gst.Event.new_qos(Gst.QOSType.UNDERFLOW, 2.0, Gst.SECOND, 0))])
        self.element.get_static_pad(pad).send_event(event)

    def query(self, rng):
        caps = Gst.Caps.from_string(f"video/x-raw,format={rng.choice(FORMATS)},width=64,height=64,framerate=30/1")
        downstream = [lambda: Gst.Query.new_allocation(caps, rng.random() < 0.5), Gst.Query.new_drain]
        either = [
            lambda: Gst.Query.new_caps(caps), lambda: Gst.Query.new_accept_caps(caps),
            lambda: Gst.Query.new_context("gst.cuda.context"), lambda: Gst.Query.new_context("nonsense"), Gst.Query.new_latency,
            lambda: Gst.Query.new_position(Gst.Format.TIME), lambda: Gst.Query.new_segment(Gst.Format.TIME),
            lambda: Gst.Query.new_custom(Gst.QueryType.CUSTOM, Gst.Structure.new_empty("anything"))]
        pad = rng.choice(["sink", "src"])
        self.element.get_static_pad(pad).query(rng.choice(either + downstream if pad == "sink" else either)())

    def set_context(self, rng):
        context = Gst.Context.new(rng.choice(["gst.cuda.context", "nonsense"]), rng.random() < 0.5)
        self.element.set_context(context)
        self.element.get_contexts()

    def set_property(self, rng):
        spec = rng.choice(self.writable())
        self.element.set_property(spec.name, a_value(rng, spec, self.defaults[spec.name]))

    def read_property(self, rng):
        self.element.get_property(rng.choice(self.specs).name)

    # In PAUSED, GStreamer itself waits for ever in two flushes at a time, in a seek that does not flush, and when one
    # element alone is stopped. So only the main thread flushes (STEPS), and it stops the whole pipeline.
    THREADS = [[query, query, query, set_context], [set_property, read_property], [read_property, query, send_event]]
    STEPS = [change_state, change_state, change_state, renegotiate, seek, flush, set_property]

    def beside(self, number):
        rng = random.Random(self.seed * 10 + number)
        while not self.ended.is_set():
            self.take(rng, self.THREADS[number])
            time.sleep(rng.random() / 1000)

    def take(self, rng, choices):
        step = rng.choice(choices)
        self.counts[step.__name__] += 1
        step(self, rng)

    def recover(self):
        """Restarts the pipeline with default properties after an error, as from properties that contradict others."""
        if self.pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR) is None:
            return
        self.counts["errors"] += 1
        self.pipeline.set_state(Gst.State.NULL)
        for name, value in self.defaults.items():
            self.element.set_property(name, value)
        self.pipeline.set_state(Gst.State.PLAYING)

    def run(self):
        rng = random.Random(self.seed)
        threads = [threading.Thread(target=self.beside, args=(number,)) for number in range(len(self.THREADS))]
        for thread in threads:
            thread.start()
        self.pipeline.set_state(Gst.State.PLAYING)
        for _ in range(self.steps):
            self.take(rng, self.STEPS)
            time.sleep(rng.random() / 200)
            self.recover()
        self.ended.set()
        self.pipeline.set_state(Gst.State.NULL)  # ends what the other threads wait for
        for thread in threads:
            thread.join()
        print(f"{self.steps} steps, " + ", ".join(f"{count} {what}" for what, count in sorted(self.counts.items())))
        if not self.counts["frames"]:
            sys.exit("no frame passed")


def case(name):
    try:
        return tap.run([sys.executable, __file__, "--live", name, str(STEPS), str(SEED)], seconds=60 + STEPS)
    except tap.Failed as fault:
        raise tap.Failed(f"seed {SEED}: {fault}") from None


if __name__ == "__main__":
    if sys.argv[1:2] == ["--live"]:
        faulthandler.enable()
        faulthandler.dump_traceback_later(50 + int(sys.argv[3]))
        threading.stack_size(1 << 20)
        if "GUEST_STACK" in os.environ:
            set_stacks()  # of GStreamer's threads
        Life(sys.argv[2], int(sys.argv[3]), int(sys.argv[4])).run()
    else:
        tap.play_cases([(name, functools.partial(case, name)) for name in elements.names()])
