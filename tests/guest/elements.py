# SPDX-License-Identifier: LGPL-2.1-or-later
"""The elements of the plugin, as its registry lists them, in pipelines where they have work."""
import re

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp  # noqa: E402,F401

Gst.init(None)

# What is not here is tested with its defaults. {e} stands for the element, {boxes} for what gives it work.
VARIANTS = {
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


def names():
    """The elements of the plugin."""
    features = Gst.Registry.get().get_feature_list_by_plugin("cudavision")
    found = sorted(feature.get_name() for feature in features if isinstance(feature, Gst.ElementFactory))
    if not found:
        raise SystemExit("the registry has no plugin cudavision")
    return found


def on_cpu(text):
    """The part of a pipeline with all of its elements on the CPU."""
    def choose(word):
        element = Gst.ElementFactory.make(word.group())
        return word.group() + (" backend=cpu" if element and element.find_property("backend") else "")
    return re.sub(r"\bcuda\w+", choose, text)


def pipelines(name, boxes=BOXES):
    """Parts of pipelines with this element, whose name is `e`."""
    return [on_cpu(text.format(e=name, boxes=boxes)).replace(name, f"{name} name=e") for text in VARIANTS.get(name, ["{e}"])]


def all_pipelines(**options):
    return [text for name in names() for text in pipelines(name, **options)]
