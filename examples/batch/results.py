# SPDX-License-Identifier: LGPL-2.1-or-later
"""The folder of results, which several processes and machines may share.

NAME.jsonl        the result, complete
NAME.made.json    what it was made with; written last, and only then is the video done
.NAME.lock        locked (flock) by the process that works on the video; names the files that it is writing
.NAME.*.part      what that process is writing

A name that begins with a dot belongs to a process. If that process is dead, its lock is free, and the next one that takes
it removes what the dead one has left.
"""
import fcntl
import json
import os
import socket

BLOCK = 1 << 16
HOST = "".join(c for c in socket.gethostname() if c.isalnum() or c == "-")


def sync_folder(path):
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove(path):
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def whole_lines(path):
    """Cuts the line off that its writer did not complete. Returns whether there is a line."""
    with open(path, "r+b") as file:
        end = file.seek(0, os.SEEK_END)
        while end > 0:
            begin = max(0, end - BLOCK)
            file.seek(begin)
            newline = file.read(end - begin).rfind(b"\n")
            end = begin + newline + 1 if newline >= 0 else begin
            if newline >= 0:
                break
        file.truncate(end)
    return end > 0


def count_lines(path):
    with open(path, "rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(BLOCK), b""))


def publish(part, path):
    """Gives a complete file its final name. After a crash of the machine the name stands for the whole file or for none."""
    handle = os.open(part, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    os.rename(part, path)
    sync_folder(os.path.dirname(path))


class Claim:
    """The right to write the results of one name, until it is released or the process ends."""

    def __init__(self, folder, name, suffix, handle):
        self.folder, self.name, self.handle = folder, name, handle
        self.lock = folder.path_of(f".{name}{suffix}")
        self.parts = []
        text = os.pread(handle, 1 << 16, 0).decode("ascii", "replace")
        self.left = [folder.path_of(line) for line in text.split("\n")[:-1] if "/" not in line]

    def part(self, suffix, serial=0):
        """A name to write to. It stands in the lock before the file exists, so that none is left unknown."""
        path = self.folder.path_of(f".{self.name}.{HOST}-{os.getpid()}-{serial}{suffix}.part")
        self.parts.append(path)
        self.note()
        return path

    def note(self):
        text = "".join(os.path.basename(path) + "\n" for path in self.left + self.parts).encode()
        os.ftruncate(self.handle, 0)
        if os.pwrite(self.handle, text, 0) != len(text):
            raise OSError(28, os.strerror(28), self.lock)

    def publish(self, part, path):
        publish(part, path)
        self.parts.remove(part)

    def remove_parts(self):
        for path in self.left + self.parts:
            remove(path)
        self.left, self.parts = [], []

    def release(self):
        self.remove_parts()
        remove(self.lock)
        os.close(self.handle)


class Folder:
    def __init__(self, path):
        self.path = os.path.abspath(path)
        os.makedirs(self.path, exist_ok=True)

    def path_of(self, name):
        return os.path.join(self.path, name)

    def claim(self, name, suffix=".lock"):
        """None while another process has it."""
        path = self.path_of(f".{name}{suffix}")
        while True:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(handle), os.stat(path)):
                    return Claim(self, name, suffix, handle)
            except BlockingIOError:
                os.close(handle)
                return None
            except FileNotFoundError:
                pass
            except OSError:
                os.close(handle)
                raise
            os.close(handle)  # its owner has removed the lock since it was opened: there is a new one, or none

    def leftovers(self, suffix):
        """Claims of what dead processes have left."""
        with os.scandir(self.path) as entries:
            names = [entry.name[1 : -len(suffix)] for entry in entries
                     if entry.name.startswith(".") and entry.name.endswith(suffix)]
        for name in names:
            if claim := self.claim(name, suffix):
                yield claim

    def record(self, name):
        """What the result was made with, or None."""
        try:
            with open(self.path_of(f"{name}.made.json"), encoding="utf-8") as file:
                made = json.load(file)
            if os.stat(self.path_of(f"{name}.jsonl")).st_size == made["bytes"]:
                return made["made_with"]
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            pass
        return None

    def withdraw(self, name):
        """The result is to be made again: whoever reads it meanwhile finds no claim that it is up to date."""
        remove(self.path_of(f"{name}.made.json"))

    def finish(self, claim, part, made, parquet=None):
        """Publishes a result, and then the record of what it was made with. made: the record but for what the result tells."""
        name = claim.name
        record = claim.part(".made")
        with open(record, "w", encoding="ascii") as file:
            counts = {"result": f"{name}.jsonl", "frames": count_lines(part), "bytes": os.stat(part).st_size}
            json.dump(made | counts, file, indent=1)
            file.write("\n")
        if parquet:
            claim.publish(parquet, self.path_of(f"{name}.parquet"))
        claim.publish(part, self.path_of(f"{name}.jsonl"))
        claim.publish(record, self.path_of(f"{name}.made.json"))
        claim.release()
