# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the programs of this folder share: the frames of a pipeline, one after the other."""
import pathlib
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
gi.require_version("GstCudaVision", "1.0")
from gi.repository import Gst, GstApp, GstCudaVision  # noqa: E402,F401

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from one_file import read_nothing_else  # noqa: E402
from plain_errors import launch, source_of, text_of, upright  # noqa: E402,F401

Gst.init(None)
read_nothing_else()


def arguments(count):
    """The first `count` arguments of the program. If there are fewer, it ends and prints its usage."""
    if len(sys.argv) <= count:
        raise SystemExit(f"{sys.modules['__main__'].__doc__.strip()}\n\nSOURCE: a file, or elements as for gst-launch-1.0, "
                         'such as "v4l2src"')
    return sys.argv[1 : count + 1]


def numbers(argument, count):
    """The numbers of an argument such as 400,275."""
    try:
        found = [float(number) for number in argument.split(",")]
    except ValueError:
        found = []
    if len(found) != count:
        raise SystemExit(f"{argument!r} must be {count} numbers with commas between them, as {','.join(['100'] * count)}")
    return found


def events(description, zones):
    """Yields the events of cudavisionzones, which must be named `zones` in the pipeline: structures with event, name,
    id and so on. zones: its lines and zones, as JSON. The sink is part of the description."""
    pipeline = launch(description)
    pipeline.get_by_name("zones").set_property("zones", zones)
    pipeline.set_state(Gst.State.PLAYING)
    kinds = Gst.MessageType.ELEMENT | Gst.MessageType.EOS | Gst.MessageType.ERROR
    try:
        while (message := pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, kinds)).type != Gst.MessageType.EOS:
            if message.type == Gst.MessageType.ERROR:
                raise SystemExit(text_of(message))
            if message.has_name("cudavisionzones"):
                yield message.get_structure()
    finally:
        pipeline.set_state(Gst.State.NULL)


def frames(description):
    """Yields the buffers that leave the pipeline. Its sink must not be part of the description."""
    return (sample.get_buffer() for sample in samples(description))


def samples(description, location=None):
    """Yields the buffers with their caps. location: the file that the element `file` reads. It is set as a property,
    because a pipeline's text cannot hold every name of a file."""
    pipeline = launch(f"{description} ! appsink name=sink sync=false max-buffers=2 wait-on-eos=false")
    if location:
        pipeline.get_by_name("file").set_property("location", location)
    sink = pipeline.get_by_name("sink")
    bus = pipeline.get_bus()
    pipeline.set_state(Gst.State.PLAYING)
    message = None
    try:
        while not sink.is_eos():
            if sample := sink.try_pull_sample(100 * Gst.MSECOND):
                yield sample
            message = message or bus.pop_filtered(Gst.MessageType.ERROR)  # drops all other messages from the bus
            if message and not sample:
                raise SystemExit(text_of(message))
    finally:
        pipeline.set_state(Gst.State.NULL)
