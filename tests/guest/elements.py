# SPDX-License-Identifier: LGPL-2.1-or-later
"""The elements of the plugin, as its registry lists them, in pipelines where they have work."""
import os
import re
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp  # noqa: E402,F401

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from plugin_elements import has, names, use_of  # noqa: E402

Gst.init(None)

# Other elements are used as tests/support/element_uses.inc says. {e}: the element; {boxes}: one that gives it regions.
VARIANTS = {
    "cudabgsub": ["{e} min-area=1"],
    "cudacanny": ["{e} gaussian-sigma=1.4"],
    "cudahog": ["{e} model=people hit-threshold=-5"],
    "cudahough": ["{e}", "{e} mode=segments theta=0.0125"],
    "cudalocalhist": ["{e}", "{e} reduce=distance"],
    "cudasigma2kp": ["{e} orientation=true"],
    "cudainpaint": ["{e} region-x=40 region-y=30 region-width=24 region-height=24 attach-mask=true"],
    "cudavisionjson": ["{boxes} ! {e} location=/dev/null tensor-data=full"],
    "cudavisiontrack": ["{boxes} ! {e} min-hits=0"],
    "cudavisionoverlay": ["{boxes} ! cudaopticalflow display=false ! {e}"],
}
BOXES = "cudahog model=people hit-threshold=-5 display=false"


def on_cpu(text):
    """The part of a pipeline with all of its elements on the CPU."""
    def choose(word):
        return word.group() + (" backend=cpu" if has(word.group(), "backend") else "")
    return re.sub(r"\bcuda\w+", choose, text)


def pipelines(name, boxes=BOXES):
    """Parts of pipelines with this element, whose name is `e`."""
    return [on_cpu(text.format(e=name, boxes=boxes)).replace(name, f"{name} name=e") for text in VARIANTS.get(name, [use_of(name)])]


def all_pipelines(**options):
    return [text for name in names() for text in pipelines(name, **options)]
