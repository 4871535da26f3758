# SPDX-License-Identifier: LGPL-2.1-or-later
"""Removes old clips, with their JSON and pictures. Other files of the folder stay."""
import contextlib
import os
import re
import time

NAME = re.compile(r"(.+_(?:\d{8}T\d{6}\.\d{3}Z|\d+h\d\dm\d\d\.\d{3}s)_.+?)(?:\.\d+)?\.(?:mp4|mkv|jpg|json)")


def clips(folder):
    """The clips of the folder by their stems: the path and the status of each file."""
    found = {}
    for entry in os.scandir(folder):
        with contextlib.suppress(OSError):
            if (match := NAME.fullmatch(entry.name)) and entry.is_file(follow_symlinks=False):
                found.setdefault(match[1], []).append((entry.path, entry.stat()))
    return found


def clean(folder, age, size, written):
    """age: seconds, size: bytes; None is no limit. written: the stems of clips that are being written."""
    found = clips(folder)
    total = sum(status.st_size for files in found.values() for _, status in files)
    oldest_first = sorted(found, key=lambda stem: max(status.st_mtime for _, status in found[stem]))
    for stem in oldest_first:
        when = max(status.st_mtime for _, status in found[stem])
        if not (age is not None and time.time() - when > age or size is not None and total > size):
            return
        if stem not in written:
            for path, status in found[stem]:
                os.unlink(path)
                total -= status.st_size
