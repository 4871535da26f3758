# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plays every element, and writes what comes out of it: a sum of each frame, lines of JSON, errors and warnings."""
import hashlib
import os
import time

import elements
from elements import Gst
from place import Hooks

# Elements that fail at the start or at the first frame, with an error that names the reason.
REFUSED = [
    "cudahistogram name=e range-min=200 range-max=100",
    "cudahough name=e min-theta=2.5 max-theta=1.25",
    "cudahog name=e model-location={files}/decimal_comma.txt",
    "cudahog name=e model-location=/nowhere/model.yml",
    "cudainpaint name=e mask-location=/nowhere/mask.png",
    "cudavisionjson name=e location=/nowhere/lines.jsonl",
]
# Models with decimal points, in each format.
MODELS = [f"cudahog name=e model-location={{files}}/model.{kind} hit-threshold=-5" for kind in ("txt", "xml", "yml")]
FRAMES = 3
SECONDS = 20  # for a pipeline


def write(text):
    """Writes without sys.stdout's buffer, so that the text stays in order with the lines of cudavisionjson."""
    os.write(1, f"{text}\n".encode())


def play(text, frames=FRAMES, hooks=Hooks()):
    pipeline = Gst.parse_launch(
        f"videotestsrc num-buffers={frames} ! video/x-raw,format=NV12,width=320,height=240 ! {text} ! "
        "cudavisionjson location=- ! appsink name=sink sync=false async=false wait-on-eos=false")

    def enter(pad, info):
        hooks.entering()
        return Gst.PadProbeReturn.REMOVE

    pipeline.get_by_name("e").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, enter)
    sink, bus = pipeline.get_by_name("sink"), pipeline.get_bus()
    write(text)
    pipeline.set_state(Gst.State.PLAYING)
    sums, error, end = [], None, time.monotonic() + SECONDS
    while error is None and not sink.is_eos() and time.monotonic() < end:
        if (sample := sink.try_pull_sample(Gst.SECOND // 10)) is not None:
            buffer = sample.get_buffer()
            sums.append(hashlib.sha256(buffer.extract_dup(0, buffer.get_size())).hexdigest())
            hooks.came(len(sums))
        error = first_error(bus)
    pipeline.set_state(Gst.State.NULL)
    hooks.ended()
    write("\n".join(sums) if error is None else f"error of {error.src.get_name()}: {error.parse_error()[0].message}")


def first_error(bus):
    """Returns the first error on the bus, or None if there is none. Writes the warnings before it."""
    while (message := bus.pop_filtered(Gst.MessageType.ERROR | Gst.MessageType.WARNING)) is not None:
        if message.type == Gst.MessageType.ERROR:
            return message
        write(f"warning of {message.src.get_name()}: {message.parse_warning()[0].message}")
    return None


def everything(frames=FRAMES, hooks=Hooks()):
    files = os.environ["GUEST_FILES"]
    made = [elements.on_cpu(text.format(files=files)) for text in MODELS + REFUSED]
    for text in elements.all_pipelines() + made:
        play(text, frames, hooks)
