# SPDX-License-Identifier: LGPL-2.1-or-later
"""The elements of the plugin, as the registry lists them. A test that runs every element gets a new one by itself."""
import os
import re

from gi.repository import Gst

USES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "element_uses.inc")


def names():
    Gst.init(None)
    features = Gst.Registry.get().get_feature_list_by_plugin("cudavision")
    found = sorted(feature.get_name() for feature in features if isinstance(feature, Gst.ElementFactory))
    if not found:
        raise SystemExit("GStreamer does not find the plugin cudavision")
    return found


def has(element, wanted):
    return any(spec.name == wanted for spec in Gst.ElementFactory.make(element).list_properties())


def use_of(element):
    """The element with properties that give it work in a small frame."""
    with open(USES, encoding="utf-8") as uses:
        found = re.search(rf'^"({element}\b[^"]*)",$', uses.read(), re.M)
    return found[1] if found else element
