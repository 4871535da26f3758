# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where lines come from: the standard input, a named pipe, or a file that grows."""
import json
import os
import select
import stat
import zlib

from target import Refused

BLOCK = 1 << 16
LONGEST_LINE = 32 << 20  # bytes; longer lines are left out
MARK = 200  # bytes before a place by which it is known again
POLL = 0.2  # seconds between two looks at a file


class Lines:
    """Cuts what is read into lines."""

    def __init__(self, teller):
        self.teller, self.rest, self.too_long = teller, b"", False

    def feed(self, data):
        *whole, self.rest = (self.rest + data).split(b"\n") if b"\n" in data else [self.rest + data]
        if whole and self.too_long:
            del whole[0]
            self.too_long = False
        if len(self.rest) > LONGEST_LINE:
            size = LONGEST_LINE >> 20
            self.teller.say_rarely("long", f"a line of more than {size} MB is left out: is tensor-data=full needed?")
            self.rest, self.too_long = b"", True
        return whole


class Pipe:
    """The standard input, or a named pipe, whose writer may come later. It ends when its writers have gone."""

    position = None

    def __init__(self, file):
        self.file = file

    def read(self, wake):
        """What there is; b"" at the end, None if `wake` can be read."""
        ready = select.select([self.file, wake], [], [])[0]
        return None if wake in ready else os.read(self.file, BLOCK)


class Growing:
    """A file, from where the program was when it was ended. It never ends; if it is replaced or emptied, the new one is
    read from its beginning."""

    def __init__(self, path, file, position, lines):
        self.path, self.lines = path, lines
        self.open(file)
        offset = json.loads(position)[-1] if position else 0
        if position == self.described(offset):
            self.offset = os.lseek(file, offset, os.SEEK_SET)

    def open(self, file):
        self.file, self.inode, self.offset = file, os.fstat(file).st_ino, 0
        self.lines.rest = b""

    @property
    def position(self):
        """What is stored with the messages: the end of the last line that is whole."""
        return self.described(self.offset - len(self.lines.rest))

    def described(self, offset):
        """A place in this file. If the file was emptied and has grown again, other bytes are before it."""
        before = zlib.crc32(os.pread(self.file, MARK, max(0, offset - MARK)))
        return json.dumps([os.path.realpath(self.path), self.inode, before, offset])

    def read(self, wake):
        while not (data := os.read(self.file, BLOCK)):
            try:
                named = os.stat(self.path)
                if named.st_ino != self.inode or named.st_size < self.offset:
                    old, new = self.file, os.open(self.path, os.O_RDONLY)
                    self.open(new)
                    os.close(old)
                    continue
            except OSError:
                pass  # it may come back
            if select.select([wake], [], [], POLL)[0]:
                return None
        self.offset += len(data)
        return data


def opened(path, position, lines):
    """The source of lines of this name."""
    if path == "-":
        if os.isatty(0):
            raise Refused("there are no lines: write gst-launch-1.0 -q … ! cudavisionjson ! fakesink | cudavision-publish …")
        return Pipe(0)
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}: a named pipe is made by mkfifo, a file by cudavisionjson") from None
    kind = os.fstat(file).st_mode
    if stat.S_ISFIFO(kind):
        return Pipe(file)
    if stat.S_ISREG(kind):
        return Growing(path, file, position, lines)
    raise Refused(f"{path}: lines come from a named pipe or from a file")
