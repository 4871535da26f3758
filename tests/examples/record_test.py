#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests cudavision-record with numbered frames that x264 and vp8 have encoded, live sources, small disks and kills.
With CUDAVISION_PUBLISH_FULL, as `tests/run.sh publish` sets it, an hour of stream is recorded, too."""
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from record_parts import (FRAME, H264, LIVE, LIVE_H264, MOTION, PROGRAM, RATE, ROOT, VP8, Case, Gst, decoded, make_video, packets)
from waiting import SECONDS, until

sys.path[:0] = [str(ROOT / "examples" / "record"), str(ROOT / "examples" / "batch")]
import clips  # noqa: E402
import keep  # noqa: E402
import memory  # noqa: E402
import record  # noqa: E402

FULL = bool(os.environ.get("CUDAVISION_PUBLISH_FULL"))
MOVING = {*range(150, 160), *range(300, 305), *range(520, 530)}  # seconds 6, 12 and 20.8
COUNT = 700
SOUND = {"m4a": ("audiotestsrc num-buffers=1200 samplesperbuffer=1024 ! audio/x-raw,rate=44100 ! avenc_aac ! aacparse ! queue ! m.", "audio/mpeg"),
         "g711": ("audiotestsrc num-buffers=600 samplesperbuffer=400 ! audio/x-raw,rate=8000 ! mulawenc ! queue ! m.", "audio/x-mulaw")}


class FileTest(Case):
    """Files are recorded as fast as they are analysed, so that tests take no longer than that."""

    @classmethod
    def setUpClass(cls):
        cls.videos = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="record.")))
        make_video(cls.videos / "h264.mp4", COUNT, MOVING, H264, "mp4mux", SOUND["m4a"][0])
        make_video(cls.videos / "h264.ts", COUNT, MOVING, H264, "mpegtsmux")
        make_video(cls.videos / "vp8.webm", COUNT, MOVING, VP8, "matroskamux", SOUND["g711"][0])

    def check_clip(self, facts, source, before, after):
        """The clip has the packets of the source from the last key frame before the wanted time, and none is missing."""
        all_packets = packets(source)
        first_time = all_packets[0][0]
        times = [time_of - first_time for time_of, _, _ in all_packets]
        first, last = facts["events"][0]["running-time"], facts["events"][-1].get("last-running-time", facts["events"][-1]["running-time"])
        wanted = max(0, first - before * Gst.SECOND)
        keys = [number for number, packet in enumerate(all_packets) if packet[1] and times[number] <= wanted]
        clip = packets(self.clips / facts["clip"])
        self.assertEqual([units for _, _, units in clip], [units for _, _, units in all_packets[keys[-1]:keys[-1] + len(clip)]])
        self.assertLessEqual(times[keys[-1]], wanted)
        self.assertEqual(facts["wanted"], wanted)
        self.assertAlmostEqual(facts["begin"] - times[keys[-1]], first_time, delta=1e6)
        shown = sorted(time_of for time_of, _, _ in clip)
        self.assertAlmostEqual(facts["begin"] + shown[-1] - shown[0], facts["end"], delta=2e6)
        self.assertGreaterEqual(facts["end"], min(last + after * Gst.SECOND - FRAME, facts["begin"] + times[-1] - times[keys[-1]] - 3 * FRAME))
        self.assertTrue(facts["complete"])

    def check(self, name, suffix):
        found = self.record(self.videos / name, "--before", "2", "--after", "1")
        self.assertEqual(len(found), 3)
        for facts, second in zip(found, (6, 12, 20.8), strict=True):
            self.assertEqual(facts["clip"][-3:], suffix)
            self.check_clip(facts, self.videos / name, 2, 1)
            self.assertAlmostEqual(facts["events"][0]["running-time"] / 1e9, second, delta=0.3)
            self.assertAlmostEqual(facts["events"][0]["seconds"], (facts["events"][0]["running-time"] - facts["begin"]) / 1e9, delta=0.001)
            self.assertEqual((self.clips / facts["events"][0]["picture"]).read_bytes()[:2], b"\xff\xd8")
        return found

    def test_h264_of_a_file_mp4_goes_to_mp4_with_its_sound(self):
        found = self.check("h264.mp4", "mp4")
        sound = packets(self.clips / found[0]["clip"], "audio")
        source = packets(self.videos / "h264.mp4", "audio")
        first = next(number for number, packet in enumerate(source) if packet[2] == sound[0][2])
        self.assertEqual([units for _, _, units in sound], [units for _, _, units in source[first:first + len(sound)]])
        self.assertAlmostEqual(source[first][0], found[0]["begin"], delta=1e8)
        self.assertGreater(len(sound), 44100 / 1024 * 2.5)

    def test_h264_of_a_stream_goes_to_mp4(self):
        self.check("h264.ts", "mp4")

    def test_vp8_and_g711_go_to_matroska(self):
        found = self.check("vp8.webm", "mkv")
        self.assertGreater(len(packets(self.clips / found[0]["clip"], "audio/x-mulaw")), 20 * 2.5)

    def test_events_that_overlap_share_a_clip_and_others_do_not(self):
        found = self.record(self.videos / "h264.mp4", "--before", "3", "--after", "3.5")
        self.assertEqual([len(facts["events"]) for facts in found], [1, 1], found)
        self.assertGreater(found[0]["events"][0]["last-running-time"], 12 * Gst.SECOND)
        self.check_clip(found[0], self.videos / "h264.mp4", 3, 3.5)

    def test_a_long_clip_goes_on_in_the_next_one_without_a_gap(self):
        found = self.record(self.videos / "h264.mp4", "--before", "3", "--after", "9", "--longest", "5")
        self.assertGreater(len(found), 3)
        for before, after in zip(found, found[1:]):
            self.assertEqual(after["continues"], before["clip"])
        parts = [units for facts in found for _, _, units in packets(self.clips / facts["clip"])]
        source = [units for _, _, units in packets(self.videos / "h264.mp4")]
        begin = source.index(parts[0])
        self.assertEqual(parts, source[begin:begin + len(parts)])

    def test_zones_choose_events_by_kind_and_name(self):
        zones = {"zones": [{"name": name, "polygon": [[0, 0], [160, 0], [160, 128], [0, 128]], "least-stay": 0} for name in ("yard", "hall")]}
        (self.folder / "zones.json").write_text(json.dumps(zones), encoding="utf-8")
        found = self.record(self.videos / "h264.mp4", "--zones", str(self.folder / "zones.json"), "--lines", str(self.folder / "lines"),
                            elements=f"{MOTION} ! cudavisiontrack type=motion min-hits=0", events=["enter yard"])
        events = [event for facts in found for event in facts["events"]]
        self.assertEqual({(event["event"], event["name"]) for event in events}, {("enter", "yard")})
        lines = [json.loads(line) for line in (self.folder / "lines").read_text(encoding="utf-8").splitlines()]
        self.assertEqual(len(lines), COUNT)
        entered = [event["running-time"] for line in lines for event in line["events"] if (event["event"], event["name"]) == ("enter", "yard")]
        self.assertEqual([event["running-time"] for event in events], entered)
        self.assertGreater(len(entered), 2)

    def test_a_source_that_changes_its_size_begins_a_new_clip(self):
        def part(width):
            return f"videotestsrc num-buffers=60 pattern=ball ! video/x-raw,width={width},height=128,framerate=25/1 ! {LIVE_H264} ! c."
        found = self.record(f"{part(160)} {part(320)} concat name=c", "--before", "1", "--after", "3", "--name", "door")
        self.assertEqual(len(found), 2, found)
        self.assertEqual(found[1]["continues"], found[0]["clip"])
        counts = [len(packets(self.clips / facts["clip"])) for facts in found]
        self.assertEqual(counts[1], 60)
        self.assertGreater(counts[0], 30)

    def test_wrong_arguments_are_one_line_that_says_what_to_do(self):
        for options, words in ((["--source", "nowhere.mp4", "--on", "motion"], "there is no such file"),
                               (["--source", "videotestsrc"], "--zones"),
                               (["--source", "videotestsrc", "--on", "motion", "--keep", "soon"], "--keep"),
                               (["--source", "rtsp://me:geheim@127.0.0.1/", "--elements", "nonsense"], "nonsense")):
            with self.subTest(options):
                result = subprocess.run([sys.executable, PROGRAM, *options], cwd=self.folder, capture_output=True, text=True, check=False)
                self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1), result.stderr)
                self.assertIn(words, result.stderr)
                self.assertNotIn("geheim", result.stderr)

    def test_the_program_takes_the_options_of_the_pages(self):
        for page in "record", "":
            text = (ROOT / "examples" / page / "README.md").read_text(encoding="utf-8").replace("\\\n", "")
            commands = [shlex.split(found) for found in re.findall(r"^cudavision-record (.*?)(?: \| .*)?$", text, re.M)]
            self.assertGreater(len(commands), 0, page)
            for command in commands:
                with self.subTest(command):
                    record.Options(record.parser_of_options().parse_args(command))

    def test_a_stream_that_is_not_encoded_is_refused(self):
        process = self.start("videotestsrc num-buffers=50")
        self.assertEqual(process.wait(SECONDS), 1)
        self.assertIn("put an encoder behind", self.said())


class LiveTest(Case):
    def clip(self, size=2000):
        """A clip that is being written and has so many bytes."""
        return until(lambda: next((path for path in self.clips.glob("*.m??") if path.stat().st_size > size), None), "a clip")

    def test_a_clip_can_be_played_while_it_is_written_and_after_a_kill(self):
        process = self.start(LIVE, "--before", "1")
        path = self.clip()
        until(lambda: decoded(shutil.copy(path, self.folder / "copy.mp4")) > RATE, "a second that plays")
        process.kill()
        process.wait()
        self.assertGreater(decoded(path), RATE)
        facts = self.facts()[0]
        self.assertEqual((facts["complete"], facts["events"][0]["event"]), (False, "motion"))
        self.assertLess(abs(time.time() - time.mktime(time.strptime(facts["utc"][:19], "%Y-%m-%dT%H:%M:%S")) + time.timezone), SECONDS)
        self.assertRegex(facts["clip"], r"^videotestsrc_\d{8}T\d{6}\.\d{3}Z_motion\.mp4$")

    def test_a_stop_closes_the_clip(self):
        process = self.start(LIVE, "--before", "1")
        self.clip()
        process.terminate()
        self.assertEqual(process.wait(SECONDS), 0)
        self.assertTrue(self.facts()[0]["complete"])

    def test_a_full_disk_is_told_and_recording_goes_on_when_there_is_room(self):
        script = """mount -t tmpfs -o size=300K tmpfs "$0" && head -c 250K /dev/zero >"$0/ballast" || exit 77
          "$@" 2>said & while ! grep -q 'No space left' said; do sleep 0.1; done; rm "$0/ballast"
          while ! grep -q '^videotestsrc: recording goes on$' said; do sleep 0.1; done; kill $!; wait $!; cp -r "$0" copy"""
        self.clips.mkdir()
        unshare = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
        result = subprocess.run([*unshare, "sh", "-c", script, str(self.clips), *self.command(LIVE, "--before", "1", "--longest", "2", "--no-pictures")],
                                cwd=self.folder, check=False, timeout=SECONDS)
        if result.returncode:
            self.skipTest("this user cannot mount a small disk")
        self.clips = self.folder / "copy"
        good = [facts for facts in self.facts() if facts["complete"]]
        self.assertTrue(good)
        self.assertGreater(decoded(self.clips / good[0]["clip"]), RATE)
        self.assertEqual(self.said().count("No space left"), 1, self.said())

    def test_a_camera_that_goes_is_tried_again(self):
        server = [sys.executable, "-c", RTSP, "0", LIVE_H264]
        try:
            camera = subprocess.Popen(server, stdout=subprocess.PIPE, text=True)
            port = camera.stdout.readline().strip()
            if not port:
                self.skipTest("no gir1.2-gst-rtsp-server-1.0")
            (self.folder / "cameras.txt").write_text(f"door rtspt://127.0.0.1:{port}/camera\n", encoding="utf-8")
            self.start(self.folder / "cameras.txt", "--before", "1", "--after", "1", "--stall-timeout", "5")
            first = self.clip()
            camera.kill()
            camera.communicate()
            until(lambda: "the next attempt is in" in self.said(), "the loss is told")
            server[3] = port
            camera = subprocess.Popen(server, stdout=subprocess.PIPE, text=True)
            until(lambda: len(list(self.clips.glob("door_*.mkv"))) > 1, "a clip after the loss")
            self.assertGreater(decoded(first), 5)
            self.assertTrue(packets(first, "audio/x-mulaw"))
        finally:
            camera.kill()
            camera.communicate()


RTSP = """import sys
import gi
gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer
Gst.init(None)
server, factory = GstRtspServer.RTSPServer(), GstRtspServer.RTSPMediaFactory()
server.set_service(sys.argv[1])
factory.set_shared(True)
factory.set_launch("( videotestsrc is-live=true pattern=ball ! video/x-raw,width=160,height=128,framerate=25/1 ! " + sys.argv[2] +
                   " ! rtph264pay name=pay0 audiotestsrc is-live=true ! audio/x-raw,rate=8000 ! mulawenc ! rtppcmupay name=pay1 )")
server.get_mount_points().add_factory("/camera", factory)
server.attach(None)
print(server.get_bound_port(), flush=True)
GLib.MainLoop().run()
"""


class NameTest(unittest.TestCase):
    def test_names_keep_all_scripts_and_fit_into_a_file_system(self):
        self.assertEqual(clips.file_name("cross", "door 1 (left)"), "cross_door-1-left")
        self.assertEqual(clips.file_name("हिन्दी कैमरा"), "हिन्दी-कैमरा")
        self.assertLess(len(clips.file_name("日" * 100, "cross", "本" * 100).encode()), 200)


class MemoryTest(unittest.TestCase):
    def test_what_may_be_needed_stays_and_the_bytes_are_bounded(self):
        random.seed(1)
        for _ in range(20):
            self.run_once(random.choice((2000, 20000)))

    def run_once(self, most):
        kept, everything, cursor, previous = memory.Memory(most), [], None, None
        for number in range(1500):
            is_video = number == 0 or random.random() < 0.7
            data = bytes(random.randrange(1, 100))
            packet = memory.Packet(is_video, is_video and (not everything or random.random() < 0.1), number, number, None, Gst.Buffer.new_wrapped(data))
            everything.append(packet)
            kept.append(packet)
            cursor = random.choice((kept.end, kept.end, max(0, kept.end - 20)))
            cursor = max(cursor, kept.first, previous or 0)
            previous = cursor
            kept.trim(number - 50, cursor)
            self.assertEqual(list(kept.packets), everything[kept.first:])  # nothing is missing
            self.assertEqual(kept.bytes, sum(one.size for one in kept.packets))
            self.assertLessEqual(kept.first, cursor)
            self.assertLessEqual(kept.bytes, max(most, sum(one.size for one in everything[cursor:])))
            keys = [n for n, one in enumerate(everything) if one.is_key]
            before = [n for n in keys if n <= number - 50] or keys[:1]
            if not kept.is_short:
                self.assertLessEqual(kept.first, before[-1])
                self.assertEqual(kept.begin(number - 50), before[-1])
                self.assertGreaterEqual(kept.first, min(([0] + before)[-2], cursor))
        self.assertEqual(kept.is_short, most == 2000)

    def test_an_hour_of_stream_needs_no_more_memory_than_a_minute(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="record.")))
        peaks = []
        for minutes in (1, 60 if FULL else 2):
            count = minutes * 60 * RATE
            make_video(folder / "long.mp4", count, {n for n in range(count) if n % 1000 > 950}, H264, "mp4mux")
            code = f"import resource, runpy, sys, os; sys.argv = {['record', '--source', str(folder / 'long.mp4'), '--folder', str(folder / 'clips'), '--no-pictures', '--elements', MOTION, '--on', 'motion']!r}\n" \
                   f"sys.path.insert(0, {str(PROGRAM.parent)!r})\nend = os._exit\n" \
                   "def leave(status):\n    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, flush=True)\n    end(status)\n" \
                   f"os._exit = leave\nrunpy.run_path({str(PROGRAM)!r}, run_name='__main__')"
            result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
            peaks.append(int(result.stdout) / 1024)
            clips = len(list((folder / "clips").glob("*.mp4")))
            self.assertGreaterEqual(clips, count // 1000)
        print(f"peak of memory: {peaks[0]:.0f} MB in a minute of stream, {peaks[1]:.0f} MB in the longer one", file=sys.stderr)
        self.assertLess(peaks[1] - peaks[0], 25)


class KeepTest(Case):
    def test_old_clips_go_first_and_other_files_stay(self):
        self.clips.mkdir()
        for number in range(6):
            for suffix in ("mp4", "json", "jpg", "2.jpg"):
                path = self.clips / f"door_20261130T08154{number}.000Z_cross_path.{suffix}"
                path.write_bytes(bytes(100))
                os.utime(path, (time.time() - 100 + number,) * 2)
        for name in ("notes.json", "holiday.mp4", "door_20261130T081540.000Z_cross.txt"):
            (self.clips / name).write_bytes(bytes(1000))
        keep.clean(self.clips, None, 1700, {"door_20261130T081541.000Z_cross_path"})
        left = sorted({re.search(r"T(\d+)", path.name)[1][-1] for path in self.clips.glob("door*path*")})
        self.assertEqual(left, ["1", "3", "4", "5"])
        self.assertEqual(len(list(self.clips.iterdir())), 4 * 4 + 3)
        keep.clean(self.clips, 96, None, set())
        left = sorted({re.search(r"T(\d+)", path.name)[1][-1] for path in self.clips.glob("door*path*")})
        self.assertEqual(left, ["5"])
        self.assertTrue((self.clips / "holiday.mp4").exists())


if __name__ == "__main__":
    unittest.main()
