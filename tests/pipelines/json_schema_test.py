#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Validates the lines of cudavisionjson after every element against its JSON Schema, and wrong lines, too.

  json_schema_test.py SCHEMA BUILD_FOLDER

Debian: python3-jsonschema. Without it the test fails.
"""
import copy
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

import jsonschema

SCHEMA_FILE, BUILD = pathlib.Path(sys.argv[1]), sys.argv[2]
SCHEMA = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
SOURCE = "videotestsrc pattern={} num-buffers={} ! video/x-raw,format=GRAY8,width=96,height=64"

# Every member that this GStreamer or these pipelines may lack.
WHOLE_LINE = {
    "source": "door", "frame": 0, "pts": 0, "running-time": None, "utc": "2026-11-22T12:34:56.123456789Z",
    "width": 640, "height": None,
    "keypoints": [{"x": 1.5, "y": 2, "response": None, "angle": None}, {"unreadable": "there is no list"}],
    "lines": [{"rho": 1.0, "theta": 0.5, "votes": 3, "x1": 0.0, "y1": 1.0, "x2": 2.0, "y2": None},
              {"unreadable": "there is no list"}],
    "regions": [{"type": None, "x": -1, "y": 2, "width": 3, "height": 4, "score": None,
                 "params": {"colour": {"label": "red", "sure": True, "share": 0.5, "nothing": None},
                            "classification": [{"label": "female"}, {"label": "smiling"}],
                            "embedding": {"data": [0.5, -1, None, [1, "a"]], "inner": {"x": 5, "more": {"y": []}}}}}],
    "detections": [{"class": "car", "x": -1, "y": -2, "width": 3, "height": 4, "confidence": 0.5, "tracking-id": 7,
                    "classes": [{"class": "red", "confidence": 0.75}]}],
    "classifications": [{"class": "street", "confidence": 0.125}],
    "tensors": [
        {"id": "none", "dims": [3], "type": "u8"},
        {"id": "summary", "dims": [1, 3], "type": "f32", "min": 1.0, "max": None, "sum": None, "mean": None},
        {"id": "field", "dims": [1, 1, 2], "type": "f32", "moving": None,
         "components": 2 * [{"min": None, "max": None, "mean": None, "median": None, "p99": None}]},
        {"id": "full", "dims": [2], "type": "i32", "data": [-1, None]},
        {"id": "changed", "unreadable": "no data"}, {"id": None, "unreadable": "no id"}]}


def errors_of(line):
    return [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(line)]


def changed(path, value):
    """WHOLE_LINE with another value at the path, or without that member."""
    line = copy.deepcopy(WHOLE_LINE)
    item = line
    for step in path[:-1]:
        item = item[step]
    if value is MISSING:
        del item[path[-1]]
    else:
        item[path[-1]] = value
    return line


MISSING = object()


class Lines(unittest.TestCase):
    def lines_of(self, elements, properties="", pattern="snow", frames=2):
        """The lines that cudavisionjson writes after the elements, all of them valid."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "lines.jsonl"
            subprocess.run(["gst-launch-1.0", "-q"] + shlex.split(
                f"{SOURCE.format(pattern, frames)} ! {elements} ! cudavisionjson {properties} location={file} ! fakesink"),
                check=True, timeout=300)
            lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        self.assertEqual(len(lines), frames)
        for line in lines:
            self.assertEqual(errors_of(line), [])
        return lines

    def test_histogram(self):
        for data, member in (("none", "type"), ("summary", "mean"), ("full", "data")):
            for line in self.lines_of("cudahistogram", f"tensor-data={data}"):
                self.assertIn(member, line["tensors"][0])

    def test_maps(self):
        line = self.lines_of("cudacanny display=false ! cudalocalhist reduce=entropy display=false")[0]
        self.assertEqual([tensor["type"] for tensor in line["tensors"]], ["u8", "f32"])

    def test_keypoints_and_lines(self):
        line = self.lines_of("cudasigma2kp display=false ! cudahough threshold=20 display=false")[0]
        self.assertTrue(line["keypoints"])
        self.assertIsNone(line["keypoints"][0]["angle"])
        self.assertTrue(line["lines"])
        line = self.lines_of("cudasigma2kp orientation=true display=false ! cudahough display=false", pattern="black")[0]
        self.assertEqual((line["keypoints"], line["lines"]), ([], []))

    def test_boxes(self):
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "model.txt"  # 36 weights and the bias
            model.write_text("\n".join(f"{i % 7 - 3}e-1" for i in range(37)), encoding="ascii")
            line = self.lines_of(f"cudahog model-location={model} win-width=16 win-height=16 hit-threshold=-9 "
                                 "group-threshold=0 descriptor=true")[0]
        self.assertTrue(line["regions"])
        self.assertTrue(all(isinstance(region["score"], float) for region in line["regions"]))
        self.assertEqual(line["tensors"][0]["id"], "hog")

    def test_flow(self):
        for data, member in (("none", "type"), ("summary", "components"), ("full", "data")):
            lines = self.lines_of("cudaopticalflow preset=fast", f"tensor-data={data}", pattern="ball")
            self.assertEqual(lines[0]["tensors"], [])
            self.assertEqual([tensor["id"] for tensor in lines[1]["tensors"]], ["optical-flow", "optical-flow-valid"])
            self.assertIn(member, lines[1]["tensors"][0])

    def test_source_and_time(self):
        line = self.lines_of("identity", "source='T\u00fcr 1' wall-clock=true")[0]
        self.assertEqual(list(line), ["source", "frame", "pts", "running-time", "utc", "width", "height", "regions",
                                      "tensors"])


class Schema(unittest.TestCase):
    def test_is_a_schema(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)

    def test_every_member_is_described(self):
        for name, definition in [("line", SCHEMA)] + list(SCHEMA["$defs"].items()):
            for member, schema in definition.get("properties", {}).items():
                self.assertIn("description", schema, f"{name}.{member}")

    def test_is_installed(self):
        installed = json.loads(subprocess.check_output(["meson", "introspect", BUILD, "--installed"]))
        target = pathlib.Path(installed[str(SCHEMA_FILE.resolve())])
        self.assertEqual(target.parts[-3:], ("share", "gst-cudavision", "cudavisionjson.schema.json"))

    def test_line_with_all_members_is_accepted(self):
        self.assertEqual(errors_of(WHOLE_LINE), [])

    def test_line_without_optional_members_is_accepted(self):
        for path in (("source",), ("utc",), ("keypoints",), ("lines",), ("detections",), ("classifications",),
                     ("regions", 0, "params"), ("detections", 0, "tracking-id")):
            self.assertEqual(errors_of(changed(path, MISSING)), [], path)

    def test_wrong_lines_are_refused(self):
        for path, value in (
                (("frame",), MISSING), (("frame",), -1), (("frame",), 0.5), (("frame",), None), (("pts",), "0"),
                (("tensors",), MISSING), (("regions",), None), (("width",), 0), (("source",), 5), (("other",), 1),
                (("utc",), "2026-11-22 12:34:56"), (("utc",), "2026-11-22T12:34:56.123456789+01:00"),
                (("keypoints", 0, "angle"), MISSING), (("keypoints", 0, "size"), 3), (("lines", 0, "votes"), 1.5),
                (("regions", 0, "w"), 3), (("regions", 0, "width"), MISSING), (("regions", 0, "x"), 0.5),
                (("keypoints", 1, "x"), 1), (("keypoints", 1, "unreadable"), None), (("lines", 1, "unreadable"), MISSING),
                (("keypoints", 0, "unreadable"), "and read"), (("tensors", 4, "id"), MISSING), (("tensors", 4, "dims"), [1]),
                (("tensors", 4, "unreadable"), MISSING), (("tensors", 0, "unreadable"), "and read"), (("tensors", 0, "id"), None),
                (("regions", 0, "unreadable"), "never"),
                (("regions", 0, "score"), "much"), (("regions", 0, "params"), {"colour": "red"}),
                (("regions", 0, "params"), {}), (("regions", 0, "params"), {"colour": ["red", "blue"]}),
                (("regions", 0, "params"), {"colour": [{"label": "red"}]}),
                (("detections",), []), (("detections", 0, "h"), 4), (("detections", 0, "classes"), MISSING),
                (("classifications", 0, "confidence"), True), (("tensors", 0, "dims"), []), (("tensors", 0, "dims"), [0]),
                (("tensors", 0, "type"), "f64"), (("tensors", 0, "data"), 1), (("tensors", 0, "min"), 1),
                (("tensors", 1, "mean"), MISSING), (("tensors", 1, "data"), [1]), (("tensors", 2, "moving"), MISSING),
                (("tensors", 2, "moving"), 1.5), (("tensors", 2, "type"), "i32"), (("tensors", 2, "components"), []),
                (("tensors", 2, "components", 0, "p99"), MISSING), (("tensors", 3, "data"), ["1"])):
            self.assertNotEqual(errors_of(changed(path, value)), [], (path, value))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
