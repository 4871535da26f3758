# SPDX-License-Identifier: LGPL-2.1-or-later
"""JSON in the pages: the documents of a block, and whether they are what a command printed."""
import json
import math
import re

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

# Members that newer versions of GStreamer add to the line of a frame, so that a page may lack them.
OF_NEWER_GSTREAMER = ("detections", "classifications")


def documents(text):
    """The documents of a block: one over many lines, or one on each line. Raises ValueError."""
    try:
        return [json.loads(text)]
    except ValueError:
        return [json.loads(line) for line in text.split("\n") if line.strip()]


def printed_documents(printed):
    found = []
    for line in printed.split("\n"):
        try:
            found.append(json.loads(line))
        except ValueError:
            pass  # other output of the command
    return [document for document in found if isinstance(document, dict)]


def of_every_gstreamer(path):
    return path.split(".")[0].rstrip("[]") not in OF_NEWER_GSTREAMER


def without_newer(document):
    return {name: value for name, value in document.items() if of_every_gstreamer(name)}


def is_equal(shown, line):
    """The pages show what the commands print on Debian 12, to the last digit. Other versions of the decoder give
    slightly different pixels: then numbers with decimals may differ by one percent."""
    if Gst.version() < (1, 24) or not isinstance(shown, float) or not isinstance(line, float):
        return shown == line
    return math.isclose(shown, line, rel_tol=0.01)


def differences(shown, line, path=""):
    """The paths at which two values differ, with both values."""
    if isinstance(shown, dict) and isinstance(line, dict):
        for name in shown.keys() | line.keys():
            yield from differences(shown.get(name), line.get(name), f"{path}.{name}".lstrip("."))
    elif isinstance(shown, list) and isinstance(line, list) and len(shown) == len(line):
        for number, (one, other) in enumerate(zip(shown, line)):
            yield from differences(one, other, f"{path}[{number}]")
    elif not is_equal(shown, line):
        yield f"{path} is {json.dumps(line)[:80]}, not {json.dumps(shown)[:80]}"


def nearest(document, printed):
    """The printed document that a page shows: that of the same frame, otherwise the one that differs least."""
    same = [line for line in printed if line.get("frame") == document.get("frame")] or printed
    return min(same, key=lambda line: len(list(differences(document, without_newer(line)))))


def complaints_of_values(text, printed):
    """Each document of the page is one of the printed documents, but for what newer versions of GStreamer add."""
    try:
        shown = documents(text)
    except ValueError:
        return []  # programs.py reports this fault
    return [f"the command printed: {difference}" for document in shown
            for difference in sorted(differences(without_newer(document),
                                                 without_newer(nearest(document, printed))))]


TOKEN = re.compile(r'("(?:\\.|[^"\\])*"|[{}\[\],:]|\s+|[^\s{}\[\],:"]+)')
WIDTH = 118


def rewritten(text, printed):
    """The text of a block with the values that the commands printed. Lines stay as they are if only values differ."""
    out, shown = [], documents(text)
    for document in shown:
        line = json.dumps(without_newer(nearest(document, printed)), separators=(",", ":"), ensure_ascii=False)
        tokens, new = TOKEN.findall(text if len(shown) == 1 else json.dumps(document)), TOKEN.findall(line)
        old = [token for token in tokens if not token.isspace()]
        if len(old) == len(new) and all(a == b for a, b in zip(old, new) if a in "{}[],:" or b in "{}[],:"):
            values = iter(new)
            out.append("".join(token if token.isspace() else next(values) for token in tokens).strip())
        else:
            out.append(wrapped(new))
    return "\n".join(out) + "\n"


def wrapped(tokens):
    """Breaks the text into lines of at most WIDTH columns, after commas."""
    lines = [""]
    for unit in re.findall(r"[^\0]*?,\0|[^\0]+", "".join(token + "\0" * (token == ",") for token in tokens)):
        if len(lines[-1]) + len(unit) > WIDTH:
            lines.append("  ")
        lines[-1] += unit.rstrip("\0")
    return "\n".join(lines)
