# SPDX-License-Identifier: LGPL-2.1-or-later
"""Looks up the elements and properties of a pipeline that cannot run here."""
import re

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GObject, Gst  # noqa: E402

# Elements that this machine may lack, since they need a card, a camera or a package. All others must exist.
MAYBE_MISSING = re.compile(r"nv\w+|cuda(upload|download|convert|scale|convertscale|ipcsrc|ipcsink)|"
                           r"gl(upload|videomixer|download)|v4l2src|libcamerasrc|autovideos(ink|rc)|\w*imagesink|"
                           r"(rtsp|srt|rtmp2?|whip|udp)\w*(src|sink)|x264enc|avdec_\w+|vp[89]enc|edgedetect")


def enum_values(element, spec):
    """The values of a property of an enum type. PyGObject gives its type for a value in every version, and for the
    specification only before 3.50."""
    kind = type(element.get_property(spec.name))
    values = getattr(kind, "__enum_values__", None)  # newer versions have Python's enums
    return list(values.values()) if values else list(kind)


def complaint_of_property(element, name, value):
    spec = element.find_property(name)
    if spec is None:
        return f"{element.get_factory().get_name()} has no property {name}"
    if spec.value_type.is_a(GObject.TYPE_ENUM) and not hasattr(spec, "minimum"):
        values = enum_values(element, spec)
        if value not in [v.value_nick for v in values] + [str(int(v)) for v in values]:
            return f"{name} of {element.get_factory().get_name()} has no value {value}"
    if hasattr(spec, "minimum") and re.fullmatch(r"-?[\d.]+(e-?\d+)?", value) and \
            not spec.minimum <= float(value) <= spec.maximum:
        return f"{name} of {element.get_factory().get_name()} cannot be {value}"
    return None


def complaints(words):
    """What is wrong with the words of a pipeline, as gst-launch-1.0 receives them."""
    found, element, begins = [], None, True
    for word in words:
        if word == "!":
            begins = True
        elif re.fullmatch(r"[a-z][\w-]*\.([\w%-]+)?", word):
            begins = True  # a pad of a named element
        elif re.match(r"(video|audio|image|application|text)/", word):
            begins = False
        elif "=" in word and not begins:
            name, _, value = word.partition("=")
            if element is not None and name not in ("name",) and (text := complaint_of_property(element, name, value)):
                found.append(text)
        elif re.fullmatch(r"[a-z][\w-]*", word):
            begins, element = False, Gst.ElementFactory.make(word)
            if element is None and not MAYBE_MISSING.fullmatch(word):
                found.append(f"there is no element {word}")
        elif word not in ("(", ")"):
            found.append(f"{word} is neither an element nor a property")
    return found


def without_options(words):
    """The pipeline in the words of a gst-launch-1.0 command."""
    rest = list(words[1:])
    while rest and rest[0].startswith("-"):
        rest.pop(0)
    for position, word in enumerate(rest):
        if word in (">", ">>", "<"):
            return rest[:position]
    return rest
