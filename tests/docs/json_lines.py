# SPDX-License-Identifier: LGPL-2.1-or-later
"""JSON in the pages: the documents of a block, and whether they have the members of what a command printed."""
import json

# Members that newer versions of GStreamer add to the line of a frame, so that a page may lack them.
OF_NEWER_GSTREAMER = ("detections", "classifications")


def documents(text):
    """The documents of a block: one over many lines, or one on each line. Raises ValueError."""
    try:
        return [json.loads(text)]
    except ValueError:
        return [json.loads(line) for line in text.split("\n") if line.strip()]


def members(value, path=""):
    """The paths of all members, as tensors[].id."""
    if isinstance(value, dict):
        paths = set()
        for name, item in value.items():
            paths |= {f"{path}.{name}".lstrip(".")} | members(item, f"{path}.{name}".lstrip("."))
        return paths
    return set().union(*(members(item, path + "[]") for item in value)) if isinstance(value, list) else set()


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


def complaints_of_structure(text, printed):
    """Each document of the page has the members of one of the printed documents."""
    lines = [members(document) for document in printed]
    try:
        shown = [members(document) for document in documents(text)]
    except ValueError:
        return []  # the test of programs says so
    found = []
    for paths in shown:
        more, less = min(((sorted(paths - line), sorted(filter(of_every_gstreamer, line - paths))) for line in lines),
                         key=lambda both: len(both[0]) + len(both[1]))
        if more:
            found.append(f"the command did not print the members {', '.join(more)}")
        if less:
            found.append(f"the command also printed the members {', '.join(less)}")
    return found
