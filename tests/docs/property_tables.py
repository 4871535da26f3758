#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the tables of properties and of fields of messages in the pages of the elements against the plugin.

usage: property_tables.py            says which tables differ from the plugin
       property_tables.py --write    writes the tables of the plugin into the pages

A table stands between `<!-- properties of cudacanny -->` and `<!-- end -->`. The properties that all elements share
stand in one table, `<!-- properties of all elements -->`. `<!-- fields of messages -->` begins the table of the fields
that the messages of frames have, with all the properties of tests/support/element_uses.inc.
"""
import difflib
import math
import re
import sys

import gi

from pages import ROOT, Report, all_pages, name_of
from pipelines import enum_values

sys.path.append(str(ROOT / "tests" / "support"))
from plugin_elements import has, names as elements, uses  # noqa: E402

gi.require_version("Gst", "1.0")
from gi.repository import GObject, Gst  # noqa: E402

COMMON_OWNERS = ("GstCudaVisionFilter", "GstBaseTransform")
MESSAGES = "fields of messages"
MARKED = re.compile(rf"(<!-- (?:properties of ([\w ]+)|{MESSAGES}) -->\n)(.*?)(<!-- end -->)", re.S)
HEAD = "| property | default | values | meaning | a new value applies from the |\n|---|---|---|---|---|\n"
WELL_KNOWN = {2**31 - 1: "2³¹ − 1", 2**64 - 1: "2⁶⁴ − 1"}


def properties_of(element):
    return [spec for spec in Gst.ElementFactory.make(element).list_properties()
            if spec.owner_type.name not in ("GstObject", "GstElement")]


def own_properties(element):
    return [spec for spec in properties_of(element) if spec.owner_type.name not in COMMON_OWNERS]


def common_properties():
    return [spec for spec in properties_of("cudacanny") if spec.owner_type.name in COMMON_OWNERS]


def escaped(text):
    return re.sub(r"([|*<])", r"\\\1", text)


def number(value):
    if isinstance(value, int):
        return WELL_KNOWN.get(value, f"{value:,}" if value >= 1_000_000 else str(value))
    if value > 0 and abs(math.pi / value - round(math.pi / value)) < 1e-9:
        return "π" if value > 3 else f"π/{round(math.pi / value)}"
    return f"{value:,.0f}" if value >= 1_000_000 else f"{value:.10g}"


def default_of(spec, element):
    value = element.get_property(spec.name)  # the default of the specification is wrong for GStreamer's qos
    if isinstance(value, bool):
        return "`true`" if value else "`false`"
    if spec.value_type.is_a(GObject.TYPE_ENUM):
        return f"`{value.value_nick}`"
    if isinstance(value, (int, float)):
        return number(value)
    return f"`{value}`" if value else "none"


def values_of(spec, element):
    if spec.value_type.is_a(GObject.TYPE_ENUM):
        return ", ".join(f"`{value.value_nick}`" for value in enum_values(element, spec))
    if spec.value_type == GObject.TYPE_BOOLEAN:
        return "`true`, `false`"
    if hasattr(spec, "minimum"):
        return f"{number(spec.minimum)} to {number(spec.maximum)}"
    return "text"


def meaning_of(spec, element):
    text = escaped(spec.blurb)
    if spec.value_type.is_a(GObject.TYPE_ENUM):
        text += "".join(f"<br>`{value.value_nick}`: {escaped(value.value_name)}" for value in enum_values(element, spec))
    return text


def applies(spec):
    flags = int(spec.flags)
    if not flags & int(GObject.ParamFlags.WRITABLE):
        return "(read-only)"
    if flags & int(Gst.PARAM_CONTROLLABLE):
        return "next frame, controllable"
    return "next start" if flags & int(Gst.PARAM_MUTABLE_READY) else "next frame"


def fields_of(use):
    """The names and types of the fields that the message of a frame has."""
    pipeline = Gst.parse_launch(f"videotestsrc num-buffers=1 pattern=snow ! video/x-raw,format=GRAY8,width=160,height=160 ! "
                                f"{use} post-messages=true ! fakesink")
    pipeline.set_state(Gst.State.PLAYING)
    kinds = Gst.MessageType.ELEMENT | Gst.MessageType.ERROR | Gst.MessageType.EOS
    message = pipeline.get_bus().timed_pop_filtered(60 * Gst.SECOND, kinds)
    while message and message.type == Gst.MessageType.ELEMENT and "-" in message.get_structure().get_name():
        message = pipeline.get_bus().timed_pop_filtered(60 * Gst.SECOND, kinds)  # that was an event, such as cudabgsub-light
    structure = message.get_structure() if message and message.type == Gst.MessageType.ELEMENT else None
    fields = {} if structure is None else {structure.nth_field_name(i): structure.get_field_type(structure.nth_field_name(i)).name
                                           for i in range(structure.n_fields())}
    pipeline.set_state(Gst.State.NULL)
    return fields


def table_of_messages():
    fields = {name: {} for name in elements() if has(name, "post-messages")}
    for use in [*uses(), "cudahog model=people"]:
        if use.split()[0] in fields:
            fields[use.split()[0]].update(fields_of(use.replace(" post-messages=true", "")))
    shared = set.intersection(*(set(own) for own in fields.values()))
    rows = {"every element": {field: kind for field, kind in fields["cudacanny"].items() if field in shared}}
    rows |= {f"`{name}`": {field: kind for field, kind in own.items() if field not in shared} for name, own in fields.items()}
    return "| element | fields |\n|---|---|\n" + "".join(
        f"| {name} | {', '.join(f'`{field}` ({kind})' for field, kind in own.items())} |\n" for name, own in rows.items() if own)


def table_of(name):
    if name == MESSAGES:
        return table_of_messages()
    specs = common_properties() if name == "all elements" else own_properties(name)
    if not specs:
        return "The element has no properties of its own.\n"
    element = Gst.ElementFactory.make("cudacanny" if name == "all elements" else name)
    return HEAD + "".join(f"| `{spec.name}` | {default_of(spec, element)} | {values_of(spec, element)} "
                          f"| {meaning_of(spec, element)} | {applies(spec)} |\n" for spec in specs)


def difference(old, new):
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), "the page", "the plugin", lineterm="", n=0)
    return "\n  ".join(lines)


def visit(page, known, write, report):
    """Compares or replaces the tables of a page. Returns the names of its tables."""
    text, names = page.read_text(encoding="utf-8"), []

    def replaced(match):
        name, place = match.group(2) or MESSAGES, f"{name_of(page)}:{text.count(chr(10), 0, match.start()) + 1}"
        names.append(name)
        if name not in known:
            report.complain(place, f"the plugin has no element {name}")
            return match.group(0)
        new = table_of(name)
        if not write and new != match.group(3):
            report.complain(place, f"the table of {name} differs from the plugin; property_tables.py --write writes it"
                            f"\n  {difference(match.group(3), new)}")
        return match.group(1) + new + match.group(4)
    new_text = MARKED.sub(replaced, text)
    if write and new_text != text:
        page.write_text(new_text, encoding="utf-8")
        print(f"{name_of(page)}: written")
    return names


def main():
    Gst.init(None)
    report, known, found = Report(), [*elements(), "all elements", MESSAGES], []
    for page in all_pages():
        found += visit(page, known, "--write" in sys.argv, report)
    for name in known:
        if found.count(name) != 1:
            report.complain("the pages", f"the table of {name} is there {found.count(name)} times instead of once")
    return report.finish(f"properties: {len(found)} tables")


if __name__ == "__main__":
    sys.exit(main())
