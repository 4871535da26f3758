# SPDX-License-Identifier: LGPL-2.1-or-later
"""The people who were marked by hand in vtest.avi, and what a pipeline says of their frames."""
import json
import pathlib
import subprocess


def marked():
    """The content of vtest_people.json."""
    return json.loads((pathlib.Path(__file__).parent / "vtest_people.json").read_text(encoding="utf-8"))


def regions_of(video, elements):
    """The regions of each frame that cudavisionjson writes behind these elements."""
    pipeline = f"filesrc location={video} ! decodebin ! videoconvert ! {elements} ! cudavisionjson ! fakesink"
    lines = subprocess.run(["gst-launch-1.0", "-q", *pipeline.split()], check=True, capture_output=True, text=True).stdout
    return [json.loads(line)["regions"] for line in lines.splitlines()]


def intersection(a, b):
    """The area that two boxes share."""
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    return max(width, 0) * max(height, 0)


def intersection_over_union(a, b):
    """The area that two boxes share, relative to the area that they cover together."""
    both = intersection(a, b)
    return both / (a[2] * a[3] + b[2] * b[3] - both)
