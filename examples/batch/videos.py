# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which videos and cameras a run works on, how their results are called, and which of them are in its share."""
import hashlib
import os
import pathlib
import re
import stat

SUFFIXES = set(".3gp .asf .avi .flv .m2ts .m4v .mkv .mov .mp4 .mpeg .mpg .mts .mxf .ogv .ts .vob .webm .wmv .y4m".split())
LISTS = {".txt", ".list"}


class Unusable(Exception):
    """An input that cannot be used; its text says why."""


def printable(name):
    """The name as text that may stand in JSON and on a terminal. Bytes that are no UTF-8 become \\xNN."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def result_name(identity, stem):
    """A file name that no other identity has and that is the same in every run. identity: bytes."""
    readable = re.sub(r"[^A-Za-z0-9_-]+", "_", stem)[:60].strip("_") or "video"
    return f"{readable}.{hashlib.sha256(identity).hexdigest()[:16]}"


class Video:
    """A file. Its result is named after its absolute path, in which symbolic links are not resolved."""

    def __init__(self, path):
        self.path = os.path.abspath(path)
        self.source = printable(self.path)
        self.name = result_name(os.fsencode(self.path), pathlib.Path(self.path).stem)

    @property
    def uri(self):
        return pathlib.Path(self.path).as_uri()

    def state(self):
        """Its size and the time of its last change."""
        try:
            status = os.stat(self.path)
            if stat.S_ISREG(status.st_mode):
                with open(self.path, "rb"):
                    return {"size": status.st_size, "mtime_ns": status.st_mtime_ns}
        except OSError as error:
            raise Unusable(error.strerror) from error
        raise Unusable("it is no regular file")


class Camera:
    """A line of a list: a URI, or a name and a URI. Its results are named after the name, or the URI without a password."""

    def __init__(self, text):
        words = text.split()
        if len(words) not in (1, 2) or "://" not in words[-1]:
            raise Unusable("a camera is a URI, as rtsp://host/path, or a name and a URI")
        self.uri = words[-1]
        self.source = words[0] if len(words) == 2 else re.sub(r"://[^/@]*@", "://", self.uri)
        self.name = result_name(self.source.encode(), self.source.split("://")[-1])


def lines(path):
    """The entries of a list: a line each, or, if the file has NUL bytes as `find -print0` writes them, the text between two."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise Unusable(f"the list cannot be read: {error.strerror}") from error
    entries = data.split(b"\0") if b"\0" in data else data.splitlines()
    return [os.fsdecode(entry) for entry in entries if entry.strip() and not entry.startswith(b"#")]


def folder(path):
    """The videos in a folder and in the folders below it: the files with a suffix of SUFFIXES."""
    def complain(error):
        raise Unusable(f"{printable(error.filename)}: {error.strerror}")

    found = [os.path.join(parent, name) for parent, _, names in os.walk(path, onerror=complain) for name in names
             if os.path.splitext(name)[1].lower() in SUFFIXES]
    if not found:
        raise Unusable("the folder holds no videos (a list can name files with other suffixes than " +
                       " ".join(sorted(SUFFIXES)) + ")")
    return found


def expand(inputs, make, is_entry):
    """The videos or cameras that the inputs name, each once and in the order of their names, and the inputs that are
    unusable, with the reason. A list's relative paths begin at the list."""
    found, unusable = {}, []
    for name in inputs:
        try:
            if is_entry(name):
                entries = [name]
            elif os.path.isdir(name):
                entries = folder(name)
            else:
                entries = [os.path.join(os.path.dirname(name), entry) if make is Video else entry for entry in lines(name)]
            for entry in entries:
                item = make(entry)
                found[item.name] = item
        except Unusable as error:
            unusable.append((printable(name), str(error)))
    return sorted(found.values(), key=lambda item: item.source), unusable


def videos(inputs):
    def is_video(name):
        return not os.path.isdir(name) and os.path.splitext(name)[1].lower() not in LISTS
    return expand(inputs, Video, is_video)


def cameras(inputs):
    return expand(inputs, Camera, lambda name: "://" in name)


def share(items, number, count):
    """Those of the share `number` of `count`. The share of a video follows from its name alone, so that it stays where it
    is when videos are added."""
    return [item for item in items if int(item.name.rpartition(".")[2], 16) % count == number]
