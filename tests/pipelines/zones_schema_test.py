#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The JSON Schema of cudavisionzones and the element accept and refuse the same files.

  zones_schema_test.py SCHEMA FILE...

FILE: the configuration files of the examples.
"""
import copy
import json
import pathlib
import sys
import unittest

import gi
import jsonschema

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

SCHEMA = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
FILES = [pathlib.Path(name) for name in sys.argv[2:]]
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

# Every member.
WHOLE = {
    "units": "pixels", "patience": 3, "window": 60,
    "lines": [{"name": "door", "from": [320, 100], "to": [320, 300], "anchor": "bottom", "types": ["person"],
               "directions": ["in", "out"], "hysteresis": 5, "least-stay": 0.2}],
    "zones": [{"name": "hall", "polygon": [[400, 0], [640, 0], [640, 480]], "anchor": 0.5, "types": ["person", "dog"],
               "inverse": False, "dwell": 10, "crowd": {"count": 5, "seconds": 2}, "direction": [1, 0], "angle": 60,
               "hysteresis": 5, "least-stay": 0.2}]}
FRACTIONS = json.loads(json.dumps(WHOLE).replace('"pixels"', '"fraction"').replace("320", "0.5").replace("400", "0.6")
                       .replace("640", "1").replace("480", "1").replace("100", "0.1").replace("300", "0.9")
                       .replace('"hysteresis": 5', '"hysteresis": 0.1'))
REQUIRED = {("lines", 0, "name"), ("lines", 0, "from"), ("lines", 0, "to"), ("zones", 0, "name"), ("zones", 0, "polygon"),
            ("zones", 0, "crowd", "count"), ("zones", 0, "direction")}  # by 'angle'


def paths(value, path=()):
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in items:
        yield from paths(item, path + (step,))


def parent(value, path):
    for step in path[:-1]:
        value = value[step]
    return value


def changed(path, value, whole=WHOLE):
    result = copy.deepcopy(whole)
    parent(result, path)[path[-1]] = value
    return result


def complaint(zones):
    """What the element says, or None if it starts."""
    element = Gst.ElementFactory.make("cudavisionzones")
    element.set_property("zones", json.dumps(zones))
    bus = Gst.Bus()
    element.set_bus(bus)
    started = element.set_state(Gst.State.PAUSED) != Gst.StateChangeReturn.FAILURE
    element.set_state(Gst.State.NULL)
    error = bus.pop_filtered(Gst.MessageType.ERROR)
    return None if started else error.parse_error().gerror.message


class ZonesSchema(unittest.TestCase):
    def agree(self, zones, what):
        said, valid = complaint(zones), VALIDATOR.is_valid(zones)
        with self.subTest(what):
            self.assertEqual(said is None, valid, f"{what}: the element says {said}")
        return valid

    def test_is_a_schema(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)

    def test_examples_are_valid(self):
        self.assertTrue(FILES)
        for file in FILES:
            self.assertTrue(self.agree(json.loads(file.read_text(encoding="utf-8")), file), file)

    def test_members_can_be_left_out(self):
        for path in [(), *(p for p in paths(WHOLE) if isinstance(p[-1], str))]:
            rest = copy.deepcopy(WHOLE)
            if path:
                del parent(rest, path)[path[-1]]
            self.assertEqual(self.agree(rest, f"without {path}"), path not in REQUIRED, path)

    def test_values_of_all_kinds(self):
        values = [None, True, "", "bottom", "center", "pixels", "fraction", "x" * 64, "x" * 65, -1, 0, 0.5, 1, 181, 1e9,
                  -1e9, 32769, [], [1], [1, 2], [-2, 2], [1, 2, 3], ["a"], ["a", "b"], ["a", 1], [""], {}, {"count": 1},
                  {"count": 0}, {"count": 10001}, {"count": 2, "more": 1}, [[0, 0], [9, 0], [0, 9]], [[0, 0], [2, 0], [0, 1]],
                  [[0, 0], [9, 0]], [0, 0], ["a", "a"]]
        accepted = 0
        for whole in WHOLE, FRACTIONS:
            self.assertTrue(self.agree(whole, whole["units"]))
            for path in paths(whole):
                for value in values:
                    accepted += self.agree(changed(path, value, whole), f"{whole['units']} {path} = {value}")
        self.assertGreater(accepted, 200)

    def test_metres_have_four_corners(self):
        corners = [[0, 0], [2, 0], [2, 2], [0, 2]]
        for metres, valid in ({"picture": corners, "ground": corners}, True), ({"picture": corners}, False), ({}, False), \
                ([], False), ({"picture": corners[:3], "ground": corners}, False), \
                ({"picture": corners + [[1, 1]], "ground": corners}, False), \
                ({"picture": corners, "ground": corners, "more": 1}, False), \
                ({"picture": [[0, 0], [2, 0], [2, 2], [0, "a"]], "ground": corners}, False):
            for whole in WHOLE, FRACTIONS:
                self.assertEqual(self.agree({**whole, "metres": metres}, metres), valid, metres)
        large = [[5 * x, 5 * y] for x, y in corners]
        self.assertTrue(self.agree({**FRACTIONS, "metres": {"picture": corners, "ground": large}}, "metres"))
        self.assertFalse(self.agree({**FRACTIONS, "metres": {"picture": large, "ground": corners}}, "no fractions"))

    def test_speeds_and_distances_need_metres(self):
        corners = [[0, 0], [2, 0], [2, 2], [0, 2]]
        for path in ("lines", 0, "min-speed"), ("lines", 0, "max-speed"), ("zones", 0, "distance"):
            for value, valid in (0, True), (2.5, True), (1000, True), (-1, False), (32769, False), ("fast", False):
                zones = changed(path, value)
                self.assertFalse(self.agree(zones, path), path)
                with_metres = {**zones, "metres": {"picture": corners, "ground": corners}}
                self.assertEqual(self.agree(with_metres, f"{path} = {value}"), valid, path)

    def test_something_is_counted(self):
        for zones in {}, {"lines": []}, {"lines": [], "zones": []}:
            self.assertFalse(self.agree(zones, zones), zones)

    def test_unknown_members_are_refused(self):
        for path in [(), ("lines", 0), ("zones", 0), ("zones", 0, "crowd")]:
            self.assertFalse(self.agree(changed(path + ("colour",), "red"), path), path)


if __name__ == "__main__":
    Gst.init(None)
    unittest.main(argv=sys.argv[:1])
