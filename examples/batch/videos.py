# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which videos and cameras a run works on, how their results are called, and which of them are in its share."""
import hashlib
import os
import pathlib
import re
import stat
import unicodedata

import addresses

SUFFIXES = set(".3gp .asf .avi .flv .m2ts .m4v .mkv .mov .mp4 .mpeg .mpg .mts .mxf .ogv .ts .vob .webm .wmv .y4m".split())
LISTS = {".txt", ".list"}
LONGEST = 60  # bytes of a name that are kept, so that names with a suffix are short enough for file systems


class Unusable(Exception):
    """An input that cannot be used; its text says why."""


def printable(name):
    """The name as text that may stand in JSON and on a terminal. Bytes that are no UTF-8 become \\xNN."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def is_address(name):
    return bool(addresses.ADDRESS.match(name)) and not os.path.lexists(name)


def short_name(text, joint):
    """What of a text a file name keeps: letters, marks and digits of all scripts, with a joint for anything else. It does not
    begin with a -, which commands take for an option."""
    kept = "".join(c if c in "_-" or unicodedata.category(c)[0] in "LMN" else " " for c in unicodedata.normalize("NFC", text))
    return re.sub(" +", joint, kept).encode()[:LONGEST].decode(errors="ignore").lstrip("_-").rstrip("_" + joint)


def result_name(identity, stem):
    """A file name that no other identity has and that is the same in every run. Both arguments are bytes."""
    short = short_name(stem.decode(errors="replace"), "_")
    return os.fsdecode(f"{short or 'video'}.{hashlib.sha256(identity).hexdigest()[:16]}".encode())


class Video:
    """A file. Its result is named after its absolute path, in which symbolic links are not resolved."""

    def __init__(self, path):
        if is_address(path):
            raise Unusable("this is an address: --cameras reads addresses")
        self.path = os.path.abspath(path)
        self.source = printable(self.path.replace("\\", "\\\\"))  # no other path becomes the same text
        self.name = result_name(os.fsencode(self.path), os.fsencode(pathlib.Path(self.path).stem))

    @property
    def uri(self):
        return pathlib.Path(self.path).as_uri()

    def state(self):
        """The size of the file and the time of its last change."""
        try:
            status = os.stat(self.path)
            if stat.S_ISREG(status.st_mode):
                with open(self.path, "rb"):
                    return {"size": status.st_size, "mtime_ns": status.st_mtime_ns}
        except OSError as error:
            raise Unusable(error.strerror) from error
        raise Unusable("it is no regular file")


class Camera:
    """A line of a list: a URI, or a name and a URI. The name, or what may be shown of the URI, names the results."""

    def __init__(self, text):
        words = text.split()
        if len(words) not in (1, 2) or "://" not in words[-1] or "://" in words[0] and len(words) == 2:
            raise Unusable("a camera is a URI, as rtsp://host/path, or a name and a URI")
        if not words[-1].isprintable():
            raise Unusable("the URI is no text")
        self.uri = words[-1]
        self.source = printable(words[0] if len(words) == 2 else addresses.public(self.uri))
        self.name = result_name(self.source.encode(), self.source.split("://")[-1].encode())


def lines(path):
    """The entries of a list, with their numbers: each line, or, if the file has NUL bytes, as `find -print0` writes,
    each text that a NUL byte ends."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise Unusable(f"the list cannot be read: {error.strerror}") from error
    entries = data.split(b"\0") if b"\0" in data else data.splitlines()
    return [(number, os.fsdecode(entry)) for number, entry in enumerate(entries, 1)
            if entry.strip() and not entry.startswith(b"#")]


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
    """The videos or cameras that the inputs name, each once, in the order of their names, and the unusable inputs with
    reasons. Relative paths start at the folder of their list. An input that may hold a password is called by number."""
    found, where, unusable = {}, {}, []

    def add(entry, label):
        try:
            item = make(entry)
            if found.setdefault(item.name, item).uri != item.uri:
                raise Unusable(f"its name is {item.source!r}, as that of {where[item.name]}: give each a name of its own in front")
            where.setdefault(item.name, label)
        except Unusable as error:
            unusable.append((label, str(error)))

    def entries(name, label):
        if is_entry(name):
            return [(name, label)]
        if os.path.isdir(name):
            return [(path, label) for path in folder(name)]
        begin = os.path.dirname(name) if make is Video else ""
        return [(entry if is_address(entry) else os.path.join(begin, entry), f"{label}, line {number}")
                for number, entry in lines(name)]

    for number, name in enumerate(inputs, 1):
        label = f"input {number}" if is_address(name) or make is Camera and not os.path.lexists(name) else printable(name)
        try:
            for entry, place in entries(name, label):
                add(entry, place)
        except Unusable as error:
            unusable.append((label, str(error)))
    return sorted(found.values(), key=lambda item: item.source), unusable


def videos(inputs):
    def is_video(name):
        return not os.path.isdir(name) and os.path.splitext(name)[1].lower() not in LISTS
    return expand(inputs, Video, is_video)


def cameras(inputs):
    return expand(inputs, Camera, lambda name: "://" in name)


def share(items, number, count):
    """The items of the share `number` of `count`. Only the name of an item decides on its share, so that it stays in
    its share when others are added."""
    return [item for item in items if int(item.name.rpartition(".")[2], 16) % count == number]
