# SPDX-License-Identifier: LGPL-2.1-or-later
"""The messages that no target has confirmed yet, in a file of SQLite. A message is stored before it is sent, and removed
when it is confirmed. What is committed stays when the program is killed; after a loss of power, the last moments may be
missing (synchronous=NORMAL), but the file is whole."""
import dataclasses
import json
import os
import secrets
import sqlite3
import threading

from target import Refused

OVERHEAD = 100  # bytes of a message beside its body
FETCHED = 200  # messages at once
FETCHED_BYTES = 4 << 20
RESERVE = 1 << 20  # bytes that stay free on the disk: SQLite needs space to remove messages, too
CHECKPOINT = 100  # pages: SQLite's second file stays smaller than the reserve
LEAST = 64 << 10  # bytes of messages that may wait even then
SETTINGS = f"""
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA wal_autocheckpoint = {CHECKPOINT};
"""
TABLES = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS messages(id INTEGER PRIMARY KEY AUTOINCREMENT, source TEXT, event TEXT, topic TEXT,
  retain INTEGER, body BLOB, picture BLOB);
CREATE TABLE IF NOT EXISTS sources(source TEXT PRIMARY KEY, seq INTEGER);
CREATE TABLE IF NOT EXISTS state(name TEXT PRIMARY KEY, value TEXT);
COMMIT;
"""
SIZE = f"length(body) + ifnull(length(picture), 0) + {OVERHEAD}"


class Full(Exception):
    """There is no room, and reading is to wait for it."""


@dataclasses.dataclass
class Message:
    source: str
    event: str
    record: dict | None  # before it is stored
    topic: str | None = None  # another one than the target's
    retain: bool = False
    picture: bytes | None = None
    id: int = 0
    body: bytes = b""  # when it comes out of the spool

    def size(self):
        return len(self.body) + len(self.picture or b"") + OVERHEAD


class Spool:
    def __init__(self, path, size, drops, teller):
        self.path, self.size, self.drops, self.teller = path, size, drops, teller
        self.lock = threading.RLock()
        self.dropped = 0
        try:
            with open(path, "a", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)):
                pass  # made for this user alone
            self.base = sqlite3.connect(path, timeout=1, isolation_level=None, check_same_thread=False)
            self.base.executescript(SETTINGS + TABLES)
            whole = f"SELECT ifnull(sum({SIZE}), 0), ifnull(max(id), 0) FROM messages"
            self.bytes, self.last = self.base.execute(whole).fetchone()
            self.seqs = dict(self.base.execute("SELECT source, seq FROM sources"))
            self.name = self.state("name") or self.set_state("name", secrets.token_hex(4))
        except (sqlite3.Error, OSError) as error:
            raise Refused(f"{path}: {self.why(error)}") from None

    @staticmethod
    def why(error):
        text = getattr(error, "strerror", None) or str(error)
        if "locked" in text:
            return "another cudavision-publish uses this spool: give each its own with --spool"
        if "not a database" in text or "malformed" in text or "no such column" in text:
            return "this file is no spool: remove it, or name another one with --spool"
        return f"{text}: is there space on the disk, and may this user write there?"

    def state(self, name):
        row = self.base.execute("SELECT value FROM state WHERE name = ?", (name,)).fetchone()
        return row and row[0]

    def set_state(self, name, value):
        self.base.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (name, value))
        return value

    def store(self, messages, position):
        """Stores messages, and up to where the input has been read. Raises Full if reading is to wait."""
        with self.lock:
            full, limit = self.limit()
            if not self.drops and self.bytes >= limit:
                raise Full(full)
            seqs, rows = dict(self.seqs), []
            for message in messages:
                body = message.body
                if message.record is not None:
                    seqs[message.source] = seqs.get(message.source, 0) + 1
                    record = {**message.record, "seq": seqs[message.source]}
                    body = json.dumps(record, separators=(",", ":")).encode()
                rows.append((message.source, message.event, message.topic, message.retain, body, message.picture))
            try:
                gone = self.insert(rows, seqs, position, limit)
                if gone:
                    self.drop(gone, f"{full}: the oldest messages are dropped")
            except sqlite3.OperationalError as error:
                if not self.drops:
                    raise Full(f"{self.path}: {error}") from None
                self.drop(len(rows), f"{self.path}: {error}: new messages are dropped")
            self.seqs = seqs  # where messages are missing, their numbers are

    def limit(self):
        """Says what is full, and how many bytes may wait: what the user allows, or no more than now if the disk is full."""
        disk = os.statvfs(os.path.dirname(os.path.abspath(self.path)))
        pages = "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size"
        unused = self.base.execute(pages).fetchone()[0]
        if disk.f_bavail * disk.f_frsize + unused > RESERVE:
            return "the spool is full", self.size
        return f"the disk of {self.path} is full", min(self.size, max(self.bytes, LEAST))

    def insert(self, rows, seqs, position, limit):
        """Returns how many of the oldest messages are dropped for them."""
        total = self.bytes + sum(len(row[4]) + len(row[5] or b"") + OVERHEAD for row in rows)
        with self.base:  # rolls back if something fails
            self.base.execute("BEGIN")
            self.base.executemany("INSERT INTO messages VALUES (NULL, ?, ?, ?, ?, ?, ?)", rows)
            last = self.base.execute("SELECT max(id) FROM messages").fetchone()[0]
            sources = {row[0] for row in rows}
            self.base.executemany("INSERT OR REPLACE INTO sources VALUES (?, ?)", [(s, seqs.get(s, 0)) for s in sources])
            if position is not None:
                self.set_state("position", position)
            freed, count = self.make_room(total, last, limit) if self.drops and total > limit else (0, 0)
        self.last, self.bytes = last, total - freed
        return count

    def drop(self, count, why):
        self.dropped += count
        self.teller.say_rarely("drop", f"{why}, {self.dropped} until now")

    def make_room(self, total, newest, limit):
        """Drops the oldest messages. Returns the bytes and the number of those that are gone."""
        freed = count = oldest = 0
        for oldest, size in self.base.execute(f"SELECT id, {SIZE} FROM messages WHERE id < ? ORDER BY id", (newest,)):
            freed, count = freed + size, count + 1
            if total - freed <= limit * 0.9:  # not again at the next message
                break
        self.base.execute("DELETE FROM messages WHERE id <= ?", (oldest,))
        return freed, count

    def after(self, last):
        """The next messages after the one with this id, the oldest first."""
        if last >= self.last:
            return []
        with self.lock:
            found, size = [], 0
            for row in self.base.execute("SELECT source, event, topic, retain, body, picture, id FROM messages WHERE id > ? "
                                         f"ORDER BY id LIMIT {FETCHED}", (last,)):
                source, event, topic, retain, body, picture, number = row
                found.append(Message(source, event, None, topic, bool(retain), picture, number, body))
                size += found[-1].size()
                if size > FETCHED_BYTES:
                    break
            return found

    def remove(self, ids):
        with self.lock:
            gone = self.base.execute("DELETE FROM messages WHERE id IN (SELECT value FROM json_each(?)) "
                                     f"RETURNING {SIZE}", (json.dumps(ids),)).fetchall()
            self.bytes -= sum(size for (size,) in gone)

    def count(self):
        with self.lock:
            return self.base.execute("SELECT count(*) FROM messages").fetchone()[0]

    def close(self):
        with self.lock:
            self.base.close()
