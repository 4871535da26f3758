# SPDX-License-Identifier: LGPL-2.1-or-later
"""The folder of results, which several processes, machines and users may share.

NAME.jsonl        the result, complete
NAME.made.json    what it was made with; written last, and only then is the video done
.NAME.lock        locked (flock) by the process that works on the video; an empty file
.NAME.*.part      what that process is writing

A name that begins with a dot belongs to a process. If that process is dead, its lock is free, and the next process that
takes the lock removes what the dead one has left. Others may have put anything under any of these names. So no symbolic
link in the folder is followed, nothing is read from a lock, and a process writes only to files that it has made itself.
"""
import contextlib
import errno
import fcntl
import json
import os
import re
import socket
import stat

BLOCK = 1 << 16
LONGEST_RECORD = 1 << 20  # bytes
ATTEMPTS = 100
HOST = "".join(c for c in socket.gethostname() if c.isalnum() or c == "-")
NAME = r"[^.]+\.[0-9a-f]{16}"  # as videos.py makes them


class NoFile(OSError):
    """Under this name is a link, a folder or something else that is no regular file."""


class Part:
    """A file that is being written. Whoever may write to the folder can rename the file, or put another under its name;
    the handle still refers to this file."""

    def __init__(self, folder, name, handle):
        self.folder, self.name, self.handle = folder, name, handle
        self.location = f"/proc/self/fd/{handle}"  # for code that opens a path
        self.in_use = False  # by a pipeline that hangs: the handle stays open, so that no other file gets its number

    def whole_lines(self):
        """Cuts off the last line if its writer did not complete it. Returns whether a line is left."""
        end = os.fstat(self.handle).st_size
        while end > 0:
            begin = max(0, end - BLOCK)
            newline = os.pread(self.handle, end - begin, begin).rfind(b"\n")
            end = begin + newline + 1 if newline >= 0 else begin
            if newline >= 0:
                break
        os.ftruncate(self.handle, end)
        return end > 0

    def count(self):
        """Returns the number of lines and of bytes."""
        with open(self.location, "rb") as file:
            return sum(block.count(b"\n") for block in iter(lambda: file.read(BLOCK), b"")), os.fstat(self.handle).st_size

    def publish(self, name):
        """Gives the complete file its final name, which stands for the whole file even after a crash of the machine."""
        os.fsync(self.handle)
        self.folder.rename(self, name)

    def close(self):
        if not self.in_use:
            os.close(self.handle)


class Claim:
    """The right to write the results of one name, until it is released or the process ends."""

    def __init__(self, folder, name, lock, handle, left):
        self.folder, self.name, self.lock, self.handle = folder, name, lock, handle
        self.left = left  # the names of the parts that a dead process has left
        self.parts = []

    def part(self, suffix, serial=0):
        """A new file to write to."""
        for serial in range(serial, serial + ATTEMPTS):
            name = f".{self.name}.{HOST}-{os.getpid()}-{serial}{suffix}.part"
            with contextlib.suppress(FileExistsError):
                self.parts.append(Part(self.folder, name, self.folder.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL)))
                return self.parts[-1]
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), self.folder.path_of(name))

    def publish(self, part, name):
        part.publish(name)
        self.parts.remove(part)
        part.close()

    def discard(self, part):
        self.folder.remove(part.name)
        self.parts.remove(part)
        part.close()

    def left_behind(self):
        """Marks the parts as in use by a pipeline that does not stop."""
        for part in self.parts:
            part.in_use = True

    def remove_parts(self):
        for name in self.left:
            self.folder.clear(name)
        while self.parts:
            part = self.parts.pop()
            self.folder.clear(part.name)
            part.close()
        self.left = []

    def release(self):
        self.remove_parts()
        self.folder.clear(self.lock)
        os.close(self.handle)


class Folder:
    def __init__(self, path):
        self.path = os.path.abspath(path)
        os.makedirs(self.path, exist_ok=True)
        self.handle = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def path_of(self, name):
        return os.path.join(self.path, name)

    @contextlib.contextmanager
    def naming(self, name):
        """A context in which errors name the file with its whole path."""
        try:
            yield
        except OSError as error:
            error.filename, error.filename2 = self.path_of(name), None
            raise

    def open(self, name, flags):
        """A handle of a regular file. Does not wait for the other end of a pipe."""
        with self.naming(name):
            try:
                handle = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666, dir_fd=self.handle)
            except OSError as error:
                if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
                    raise NoFile(error.errno, "it is no regular file") from error
                raise
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                os.close(handle)
                raise NoFile(errno.EINVAL, "it is no regular file")
            return handle

    def status(self, name):
        return os.stat(name, dir_fd=self.handle, follow_symlinks=False)

    def has(self, name):
        with contextlib.suppress(FileNotFoundError):
            return bool(self.status(name))
        return False

    def remove(self, name):
        with self.naming(name), contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.handle)

    def clear(self, name):
        """Removes a file that nobody needs any more, unless it is a folder or belongs to another user."""
        with contextlib.suppress(PermissionError, IsADirectoryError):
            self.remove(name)

    def rename(self, part, name):
        with self.naming(name):
            if not os.path.samestat(os.fstat(part.handle), self.status(part.name)):
                raise OSError(errno.EPERM, "somebody else has replaced the file before it was complete")
            os.rename(part.name, name, src_dir_fd=self.handle, dst_dir_fd=self.handle)
            os.fsync(self.handle)

    def names(self, pattern):
        """The names of the regular files that match the pattern."""
        with os.scandir(self.handle) as entries:
            return [entry.name for entry in entries
                    if re.fullmatch(pattern, entry.name) and entry.is_file(follow_symlinks=False)]

    def open_lock(self, lock):
        """A handle of the lock, and whether it is new. Everyone who may use the folder may lock the empty file."""
        for _ in range(ATTEMPTS):
            try:
                return self.open(lock, os.O_RDWR), False
            except PermissionError:
                return self.open(lock, os.O_RDONLY), False  # enough for a lock, except on NFS
            except FileNotFoundError:
                with contextlib.suppress(FileExistsError):
                    handle = self.open(lock, os.O_RDWR | os.O_CREAT | os.O_EXCL)
                    with contextlib.suppress(OSError):  # not every file system has modes
                        os.fchmod(handle, 0o666)
                    return handle, True
            except NoFile:
                self.remove(lock)
        raise OSError(errno.EBUSY, "somebody else replaces it again and again", self.path_of(lock))

    def claim(self, name, suffix=".lock"):
        """Locks a name and returns the Claim, or None while another process holds the lock."""
        lock = f".{name}{suffix}"
        for _ in range(ATTEMPTS):
            handle, new = self.open_lock(lock)
            with contextlib.ExitStack() as stack:
                stack.callback(os.close, handle)
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    return None
                with contextlib.suppress(FileNotFoundError):
                    if os.path.samestat(os.fstat(handle), self.status(lock)):
                        left = [] if new else self.names(rf"\.{re.escape(name)}\..+\.part")
                        stack.pop_all()
                        return Claim(self, name, lock, handle, left)
            # its owner has removed the lock since it was opened: there is a new one, or none
        return None

    def leftovers(self, suffix):
        """Yields a claim for each lock that a dead process has left."""
        for lock in self.names(rf"\.{NAME}{re.escape(suffix)}"):
            with contextlib.suppress(OSError):  # the lock is another user's, who has to remove it
                if claim := self.claim(lock[1 : -len(suffix)], suffix):
                    yield claim

    def record(self, name):
        """What the result was made with, or None, and the warnings that came meanwhile."""
        try:
            with open(self.open(f"{name}.made.json", os.O_RDONLY), encoding="utf-8") as file:
                made = json.loads(file.read(LONGEST_RECORD))
            result = self.status(f"{name}.jsonl")
            if stat.S_ISREG(result.st_mode) and result.st_size == made["bytes"]:
                warnings = [text for text in made.get("warnings", []) if isinstance(text, str)]
                return made["made_with"], ["".join(c if c.isprintable() else " " for c in text) for text in warnings]
        except (FileNotFoundError, NoFile, ValueError, KeyError, TypeError, RecursionError):
            pass
        return None, []

    def withdraw(self, name):
        """Removes the record of a result that is to be made again, so that no reader believes it to be up to date."""
        self.remove(f"{name}.made.json")

    def finish(self, claim, part, made, parquet=None):
        """Publishes a result, then the record of what it was made with. made: what the result itself does not show."""
        name = claim.name
        record = claim.part(".made")
        lines, size = part.count()
        with open(record.location, "w", encoding="ascii") as file:
            json.dump(made | {"result": f"{name}.jsonl", "frames": lines, "bytes": size}, file, indent=1)
            file.write("\n")
        if parquet:
            claim.publish(parquet, f"{name}.parquet")
        claim.publish(part, f"{name}.jsonl")
        claim.publish(record, f"{name}.made.json")
        claim.release()
