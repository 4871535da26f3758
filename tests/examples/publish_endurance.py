#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that cudavision-publish loses nothing: cut connections, a killed broker, a full disk, a killed program, and what
it costs. `tests/run.sh publish` runs all of it; the test command, without CUDAVISION_PUBLISH_FULL, about a thousandth.
Prints figures."""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from publish_parts import MISSING, PROGRAM, TOPIC, Broker, Cutter, Publisher, Subscriber, line, text
from waiting import until

FULL = bool(os.environ.get("CUDAVISION_PUBLISH_FULL"))
CAMERAS = 16
PATIENCE = 7200 if FULL else 60


def scaled(full, least):
    return full if FULL else least


def lines_of(count, first=0):
    return (line(n, f"cam{n % CAMERAS}") for n in range(first, first + count))


class Tally:
    """Reads what the subscriber has received. Of each camera the numbers must go up by one, but for repetitions."""

    def __init__(self, subscriber, gaps=False):
        self.file, self.gaps = open(subscriber.file, encoding="utf-8"), gaps
        self.last, self.missing, self.repeated, self.rest = {}, 0, 0, ""

    def read(self):
        """The number of different messages until now, with those that are missing."""
        for one in self.file:
            self.rest += one
            if self.rest.endswith("\n"):
                self.take(json.loads(self.rest.split(" ", 2)[2]))
                self.rest = ""
        return sum(self.last.values())

    def take(self, message):
        source, seq = message["source"], message["seq"]
        step = seq - self.last.get(source, 0)
        if step <= 0:
            self.repeated += 1
            return
        if step > 1 and not self.gaps:
            raise AssertionError(f"{source}: {seq} comes after {self.last.get(source, 0)}")
        self.missing += step - 1
        self.last[source] = seq

    def wait(self, count):
        until(lambda: self.read() >= count, f"{count} messages", PATIENCE)
        if self.read() != count:
            raise AssertionError(f"{self.read()} messages, not {count}")


def status(process, name):
    found = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    return int(found.partition(f"{name}:")[2].split()[0])


def seconds_of(process):
    """The processor time that a process has used."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@unittest.skipIf(MISSING, f"missing: {MISSING}")
class EnduranceTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="publish.", ignore_cleanup_errors=True)))
        self.broker = Broker(self.folder)
        self.addCleanup(self.broker.kill)
        self.subscriber = Subscriber(self.broker)
        self.addCleanup(self.subscriber.stop)

    def publisher(self, *options, port=None, **more):
        found = Publisher(self.folder, f"mqtt://127.0.0.1:{port or self.broker.port}/{TOPIC}", *options, **more)
        self.addCleanup(found.clean_up)
        return found

    def tally(self, gaps=False):
        found = Tally(self.subscriber, gaps)
        self.addCleanup(found.file.close)
        return found

    def feed(self, program, count):
        """Writes lines in a thread, as a pipeline would."""
        def write():
            for one in lines_of(count):
                program.process.stdin.write(one + "\n")
            program.process.stdin.close()
        thread = threading.Thread(target=write, daemon=True)
        thread.start()
        self.addCleanup(thread.join)

    def test_a_million_lines_with_five_hundred_cuts_arrive_in_order(self):
        count, cuts = scaled(1_000_000, 1000), scaled(500, 3)
        cutter = Cutter(self.broker.port, 210 * count // (cuts + 1), cuts)
        began = time.monotonic()
        program = self.publisher("--when-full", "wait", "--spool-size", "16M", "--linger", str(PATIENCE), port=cutter.port)
        self.feed(program, count)
        tally = self.tally()
        until(lambda: tally.read() > count // 10 or program.process.poll() is not None, "a tenth", PATIENCE)
        early = status(program.process, "VmRSS") if program.process.poll() is None else None
        tally.wait(count)
        late = status(program.process, "VmHWM") if program.process.poll() is None else early
        self.assertEqual(program.process.wait(PATIENCE), 0, program.told())
        self.assertEqual(cutter.cuts, cuts)
        print(f"{count} lines, {cuts} cuts: {time.monotonic() - began:.0f} s, {tally.repeated} repetitions, memory from {early} to {late} KB")
        self.assertLess(late or 0, (early or 0) + 30_000)

    def test_ten_thousand_lines_survive_a_broker_that_is_killed(self):
        count = scaled(10_000, 200)
        self.broker.save()  # with the session of the subscriber
        program = self.publisher("--linger", str(PATIENCE))
        program.write(lines_of(count // 2))
        tally = self.tally()
        until(lambda: tally.read() > count // 4, "a quarter")
        self.broker.process.send_signal(signal.SIGSTOP)  # so that messages are on their way when it dies
        program.write(lines_of(count - count // 2, count // 2))
        time.sleep(1)
        self.broker.kill()
        until(lambda: "it is tried again" in program.told(), "the loss is told")
        self.broker.start()
        self.assertEqual(program.end()[0], 0)
        tally.wait(count)
        print(f"{count} lines, broker killed: {tally.repeated} repetitions")
        self.assertIn("confirms messages again", program.told())

    def small_disk(self, *options):
        """The program with its spool on a disk of 2 MB."""
        disk = self.folder / "disk"
        disk.mkdir()
        script = 'mount -t tmpfs -o size=2M tmpfs "$0" && exec "$@"'
        unshare = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
        if subprocess.run([*unshare, "sh", "-c", script, disk, "true"], check=False, capture_output=True).returncode:
            self.skipTest("this user cannot mount a small disk")
        command = [*unshare, "sh", "-c", script, str(disk), sys.executable, str(PROGRAM)]
        return Publisher(self.folder, f"mqtt://127.0.0.1:{self.broker.port}/{TOPIC}", *options, spool="disk/spool", program=command)

    def test_a_full_disk_under_the_spool_loses_nothing_if_reading_waits(self):
        count = scaled(20_000, 5000)
        self.broker.save()
        self.broker.kill()
        program = self.small_disk("--when-full", "wait", "--linger", str(PATIENCE))
        self.addCleanup(program.clean_up)
        self.feed(program, count)
        until(lambda: "reading waits" in program.told(), "the full disk is told")
        self.broker.start()
        tally = self.tally()
        tally.wait(count)
        self.assertEqual(program.process.wait(PATIENCE), 0)
        print(f"{count} lines, full disk, waiting: {tally.repeated} repetitions")

    def test_a_full_disk_under_the_spool_drops_the_oldest_messages_and_says_so(self):
        count = scaled(20_000, 5000)
        self.broker.save()
        self.broker.kill()
        program = self.small_disk("--linger", str(PATIENCE))
        self.addCleanup(program.clean_up)
        program.write(lines_of(count))
        until(lambda: "full: the oldest messages are dropped" in program.told(), "the full disk is told")
        self.broker.start()
        tally = self.tally(gaps=True)
        tally.wait(count)  # the last one of each camera arrives
        self.assertIn("confirms messages again", program.told())
        self.assertEqual(program.end()[0], 0)
        self.assertTrue(0 < tally.missing < count - 1000, tally.missing)
        print(f"{count} lines, full disk, dropping: {tally.missing} are missing")

    def test_a_program_that_is_killed_at_any_moment_goes_on_where_it_was(self):
        count, kills = scaled(200_000, 2000), scaled(200, 3)
        lines, seed = self.folder / "lines.jsonl", random.randrange(10**6)
        lines.write_text("", encoding="utf-8")
        randomly, tally, part = random.Random(seed), self.tally(), count // (kills + 1)
        for number in range(kills + 1):
            before = tally.read()
            with open(lines, "a", encoding="utf-8") as file:
                file.write(text(lines_of(part, number * part)))
            program = self.publisher("--input", str(lines))
            if number % 2:  # while it sends; the others are killed while they start, too
                until(lambda: tally.read() > before, "a message since the start")
            if number < kills:
                time.sleep(randomly.uniform(0, 0.3 if number % 2 else 1.5))
                program.stop(9)
        total = part * (kills + 1)
        tally.wait(total)
        self.assertEqual(program.stop(), 0)
        print(f"{total} lines, {kills} kills (seed {seed}): {before} before the last start, {tally.repeated} repetitions")
        self.assertGreater(before, 0)

    @unittest.skipUnless(FULL, "tests/run.sh publish measures it")
    def test_events_of_sixteen_cameras_cost_at_most_two_percent_of_a_core(self):
        rate, seconds = 25, 60  # frames a second of each camera; each 25th frame has an event
        people = [{"type": "person", "x": 1, "y": 2, "width": 3, "height": 4, "score": 0.36322730779647827, "params": {"tracking": {
            "id": n, "frames": 2, "x": 238.14059138279458, "y": 170.19996545560747, "width": 79.36519829906113, "height": 159.42457398818522}}}
            for n in range(5)]
        program = self.publisher()
        program.write([line(0, "cam0", regions=people)])
        until(lambda: self.subscriber.lines(), "the first message")
        began, used, number = time.monotonic(), seconds_of(program.process), 0
        while time.monotonic() - began < seconds:
            program.write([line(number, f"cam{number % CAMERAS}", number // CAMERAS % rate == number % CAMERAS, regions=people)])
            number += 1
            time.sleep(max(0, began + number / rate / CAMERAS - time.monotonic()))
        share = (seconds_of(program.process) - used) / (time.monotonic() - began)
        events = len(self.subscriber.lines())
        print(f"{number} lines of {CAMERAS} cameras, {events} events in {seconds} s: {100 * share:.2f} % of a core")
        self.assertEqual(program.end()[0], 0)
        self.assertLessEqual(share, 0.02)


if __name__ == "__main__":
    unittest.main()
