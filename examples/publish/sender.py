# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sends what is in the spool, in its order, and begins anew after trouble with the first message that is not confirmed."""
import collections
import contextlib
import os
import select
import sqlite3
import threading
import time

from target import Trouble

LONGEST_PAUSE = 30  # seconds between two attempts
REMOVE_AFTER = 1  # seconds that confirmed messages stay in the spool, so that many are removed at once


class Sender(threading.Thread):
    def __init__(self, spool, link, timeout, teller, at_fault):
        super().__init__(daemon=True)
        self.spool, self.link, self.timeout, self.teller, self.at_fault = spool, link, timeout, teller, at_fault
        self.wake, self.waker = os.pipe()
        os.set_blocking(self.wake, False)
        os.set_blocking(self.waker, False)
        self.stopping, self.failed, self.idle = False, None, False
        self.done, self.removed = set(), time.monotonic()
        self.troubled, self.pause = None, 0

    def stop(self):
        self.stopping = True
        self.notify()

    def notify(self):
        """There are new messages, or the end has come."""
        self.idle = False
        with contextlib.suppress(BlockingIOError):  # the last one has not been read yet
            os.write(self.waker, b"x")

    def run(self):
        try:
            while not self.stopping:
                self.attempt()
        except Exception as error:  # a fault: the program ends and says so
            self.failed = f"{type(error).__name__}: {error}"
            self.at_fault()
        self.remove(at_once=True)

    def attempt(self):
        began = time.monotonic()
        try:
            self.link.connect()
            self.serve()
        except Trouble as trouble:
            if str(trouble) != self.troubled:
                self.teller.say(f"{trouble}; it is tried again, and messages wait in the spool")
            self.troubled = str(trouble)
            if time.monotonic() - began > LONGEST_PAUSE:
                self.pause = 0
        finally:
            self.link.close()
        end = time.monotonic() + self.pause
        while not self.stopping and (rest := end - time.monotonic()) > 0:
            self.drain()
            select.select([self.wake], [], [], rest)
        self.pause = min(LONGEST_PAUSE, 2 * self.pause or 0.1)

    def drain(self):
        with contextlib.suppress(BlockingIOError):
            os.read(self.wake, 4096)

    def serve(self):
        """Until the end or until trouble."""
        last, ready, sent = 0, collections.deque(), {}  # sent: when, by the ids of messages that are not confirmed
        while not self.stopping:
            if not ready:
                self.drain()
                found = self.spool.after(last)
                ready.extend(message for message in found if message.id not in self.done)
                last = found[-1].id if found else last
            while ready and len(sent) < self.link.window:
                message = ready.popleft()
                self.link.send(message)
                sent[message.id] = time.monotonic()
            self.idle = not sent and not ready and last >= self.spool.last
            confirmed = [number for number in self.link.confirmed(self.wake, 1) if sent.pop(number, None)]
            self.done.update(confirmed)
            self.remove()
            if confirmed:
                self.recovered()
            elif sent and time.monotonic() - next(iter(sent.values())) > self.timeout:
                raise Trouble(f"{self.link.target} has confirmed nothing for {self.timeout:g} s")

    def recovered(self):
        self.pause = 0
        if self.troubled:
            self.troubled = None
            self.teller.say(f"{self.link.target} confirms messages again")

    def remove(self, at_once=False):
        """Removes confirmed messages from the spool. On a full disk they are kept in mind until that works."""
        now = time.monotonic()
        if not self.done or (now - self.removed < REMOVE_AFTER and not at_once):
            return
        self.removed = now
        try:
            self.spool.remove(list(self.done))
            self.done.clear()
        except sqlite3.OperationalError as error:
            self.teller.say_rarely("remove", f"{self.spool.path}: {error}: sent messages stay there until there is space")
