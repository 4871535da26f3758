# SPDX-License-Identifier: LGPL-2.1-or-later
"""The elements of the plugin, as the registry lists them. A test that runs every element gets a new one by itself."""
import pathlib
import re

from gi.repository import Gst

# Read at once: later a test may have no right, or no descriptor, to read files.
USES = pathlib.Path(__file__).resolve().with_name("element_uses.inc").read_text(encoding="utf-8")


def names():
    Gst.init(None)
    features = Gst.Registry.get().get_feature_list_by_plugin("cudavision")
    found = sorted(feature.get_name() for feature in features if isinstance(feature, Gst.ElementFactory))
    if not found:
        raise SystemExit("GStreamer does not find the plugin cudavision")
    return found


def has(element, wanted):
    return any(spec.name == wanted for spec in Gst.ElementFactory.make(element).list_properties())


def uses():
    """All ways to use elements, as texts of gst-launch-1.0."""
    lines = re.findall(r'^(?:"|R"\()(.*?)(?:"|\)"),$', USES, re.M)
    return [*lines, *(name for name in names() if name not in [line.split()[0] for line in lines])]


def use_of(element):
    """The element with properties that give it work in a small frame, as a text for str.format()."""
    found = re.search(rf'^(?:"|R"\()({element}\b.*?)(?:"|\)"),$', USES, re.M)
    return found[1].replace("{", "{{").replace("}", "}}") if found else element
