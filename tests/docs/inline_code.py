#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the fragments of pipelines in the text of all pages, as `cudacanny output=overlay` or `mode=temporal`.

usage: inline_code.py

An element must exist and have the properties behind it. A property without an element must be one of this plugin's, and
have that value. Fragments with other signs, as … or a placeholder in capitals, are left alone.
"""
import re
import sys

import gi

import pipelines
from links import CODE
from pages import Report, all_pages, name_of, text_outside_blocks
from property_tables import elements

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

SETTING = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*=(?!True|False|None)[\w.*#-]+")  # True is Python's
PIPELINE = re.compile(r"[a-z][\w-]*( (!|[a-z][\w-]*=\S+|[a-z][\w-]*))+")
# Elements of GStreamer whose properties the pages name without them.
OTHERS = ("appsink", "fakesink", "filesrc", "identity", "jpegenc", "queue", "rtspsrc", "v4l2src", "videotestsrc")


def complaint_of_setting(setting, candidates):
    name, _, value = setting.partition("=")
    owners = [element for element in candidates if element.find_property(name) is not None]
    if not owners:
        return f"no element has the property {name}"
    complaints = [pipelines.complaint_of_property(element, name, value) for element in owners]
    return None if None in complaints else complaints[0]


def complaints_of(code, known, candidates):
    words = code.split()
    if words and all(SETTING.fullmatch(word) for word in words):
        return filter(None, (complaint_of_setting(word, candidates) for word in words))
    if len(words) == 2 and words[0] in known and re.fullmatch(r"[a-z][\w-]*", words[1]):
        missing = Gst.ElementFactory.make(words[0]).find_property(words[1]) is None
        return [f"{words[0]} has no property {words[1]}"] if missing else []
    if PIPELINE.fullmatch(code) and ("!" in words or words[0] in known or words[0].startswith("cuda")):
        return pipelines.complaints(words)
    return []


def main():
    Gst.init(None)
    report, count = Report(), 0
    known = elements()
    candidates = [element for name in (*known, *OTHERS) if (element := Gst.ElementFactory.make(name)) is not None]
    for page in all_pages():
        text = text_outside_blocks(page)
        for match in CODE.finditer(text):
            code = " ".join(match.group(2).split())
            count += "=" in code or " ! " in code
            place = f"{name_of(page)}:{text.count(chr(10), 0, match.start()) + 1}"
            for complaint in complaints_of(code, known, candidates):
                report.complain(place, f"`{code}`: {complaint}")
    return report.finish(f"inline code: {count} fragments")


if __name__ == "__main__":
    sys.exit(main())
