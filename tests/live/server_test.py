#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the server of cudavision-live without a browser: pictures, properties, playback, its refusals and its cost."""
import ast
import asyncio
import collections
import concurrent.futures
import functools
import gc
import json
import os
import pathlib
import random
import re
import resource
import shlex
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import weakref
import zlib
from unittest import mock

import aiohttp
from live_server import LIVE, ROOT, SECONDS, TEST_PICTURE, Live, Page, make_portrait, make_video, skip_without_video_elements

sys.path += [str(LIVE.parent), str(LIVE.parent.parent / "batch"), str(LIVE.parent.parent / "heatmap")]
import camera  # noqa: E402
import elements  # noqa: E402
import heat  # noqa: E402
import server  # noqa: E402
import sources  # noqa: E402
from chain import LONGEST_FRAME, Chain, Frame  # noqa: E402
from gi.repository import GLib, Gst  # noqa: E402

CAMERA, VIDEO, BROKEN = range(3)
EDGES = [{"element": "cudacanny", "properties": {}}]
CATALOGUE = elements.offered()
# In the text of a pipeline, behind a text with an open quote, each of these would become elements.
HOSTILE = (" ! templatematch template=/dev/zero name=", " ! udpsink host=example.invalid name=", '"', "a\\", "a ! b", "%s", "x=",
           " ! " + "( " * 2400 + "identity " + ") " * 2400 + " name=")
skip_without_video_elements()
folder = pathlib.Path(tempfile.mkdtemp(prefix="cudavision_live."))


def setUpModule():
    global live
    resource.setrlimit(resource.RLIMIT_NOFILE, (1000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    make_video(folder / "in.avi")
    (folder / "model.txt").write_text("1 2 3", encoding="ascii")
    os.mkfifo(folder / "fifo")  # before any element could make a file of this name
    live = Live("--folder", str(folder), TEST_PICTURE, str(folder / "in.avi"),
                "videotestsrc num-buffers=9 ! identity error-after=3")


def tearDownModule():
    status, said = live.stop()
    subprocess.run(["rm", "-r", folder], check=True)
    assert (status, said) == (0, ""), (status, said)


async def get(path, method="GET", base=None, **headers):
    async with aiohttp.ClientSession() as session:
        async with session.request(method, (base or live.base) + path, headers=headers, allow_redirects=False) as response:
            return response.status, dict(response.headers), await response.text()


async def status_of(live_one, request):
    reader, writer = await asyncio.open_connection("127.0.0.1", live_one.port)
    writer.write(request)
    line = await asyncio.wait_for(reader.readline(), SECONDS)
    writer.close()
    return int(line.split()[1])


def camera_without_source(described):
    source = types.SimpleNamespace(name="a", is_file=False, words=lambda _quote: "videotestsrc", can_be_written=True)
    hub = types.SimpleNamespace(changed=lambda _camera: None, came_out=lambda *_: None)
    return camera.Camera(0, source, described, CATALOGUE, [], hub)


def written(*described):
    """The command line and the program that the page shows for steps. described: pairs of an element and properties."""
    source = types.SimpleNamespace(words=lambda _quote: "videotestsrc num-buffers=1", can_be_written=True)
    steps = elements.steps_of(CATALOGUE, [], [{"element": name, "properties": values} for name, values in described])
    return elements.launch_line(source, steps, "fakesink"), elements.program(source, steps)


class Texts(unittest.TestCase):
    """The texts that the page shows for copying say what was chosen, whatever a stranger's preset contains."""

    def test_values_with_spaces_and_quotes_can_be_written(self):
        for value in "line 1", 'the "door"', "it's", "a\\b", "é ü", "a=b", "a ! b", "(x)", "{x}", "[x]", "# no":
            for text in written(("cudahog", {"label": value})):
                self.assertNotEqual(text, elements.UNWRITABLE, value)
            line = written(("cudavisionzones", {"zones": json.dumps({"lines": [{"name": value, "from": [1, 2], "to": [3, 4]}]})}))
            self.assertNotIn(elements.UNWRITABLE, line, value)

    def test_no_value_becomes_an_element(self):
        attacks = ('x" ! filesink location=/tmp/no cudacanny roi-type="', "x' ! filesink location=/tmp/no cudacanny roi-type='",
                   'x\\" ! filesink location=/tmp/no cudacanny roi-type="', "x ! filesink location=/tmp/no cudacanny roi-type=")
        pairs = [(a, b) for a in (*attacks, "x \\", "") for b in (*attacks, " ! filesink location=/tmp/no cudacanny roi-type='")]
        chance = random.Random(4)
        pairs += [["".join(chance.choices("ab\"\"' \\\\!=;,()[]{}$`%1", k=chance.randrange(12))) for _ in range(2)] for _ in range(300)]
        pairs += [("NULL", "a"), ("a\\", " ! filesink location=/tmp/no name="), ('"', "a"), ('"a b"', "a"), ('\\"', '\\\\"a')]
        unwritable = 0
        for first, second in pairs:
            line, program = written(("cudacanny", {"roi-type": first}), ("cudahog", {"label": second}))
            for text, parse in (line, lambda text: Gst.parse_launchv(shlex.split(text)[2:])), (program, self.parse_program):
                if text == elements.UNWRITABLE:
                    unwritable += 1
                    continue
                found = [parse(text).get_children_count(), *self.values(parse(text))]
                self.assertEqual(found, [6, first, second], (first, second, text))
        self.assertLess(unwritable, len(pairs))

    def test_no_value_is_parsed(self):
        """What opens a file, resolves a name or takes minutes if it is an element does nothing as a text."""
        parsed = mock.Mock(side_effect=AssertionError("a text of a page is parsed"))
        with mock.patch.multiple(Gst, parse_launch=parsed, parse_launchv=parsed, parse_launch_full=parsed,
                                 parse_bin_from_description=parsed):
            for text in HOSTILE:
                written(("cudavisiontrack", {"type": "a\\"}), ("cudavisiontrack", {"type": text}))
        parsed.assert_not_called()

    def test_a_source_that_takes_in_what_follows_is_not_written(self):
        steps = elements.steps_of(CATALOGUE, [], EDGES)
        (folder / "b\\").write_bytes(b"x")
        for text, can_be_written in ((str(folder / "b\\"), False), ('identity name="a\\" "', False), (str(folder / "in.avi"), True),
                                     ('identity name="a\\"b"', True), ("identity", True)):
            line = elements.launch_line(sources.Source(text), steps, "fakesink")
            self.assertEqual(line != elements.UNWRITABLE, can_be_written, text)

    def test_the_size_of_new_frames_is_a_filter_behind_the_step(self):
        text = "cudarectify view=plane corners=0,0,1,0,1,1,0,1 ! video/x-raw,width=400,height=800 ! cudacanny"
        steps = elements.steps_of(CATALOGUE, [], elements.steps_of_text(text))
        self.assertEqual(" ! ".join(step.words(elements.in_pipeline) for step in steps), text)
        self.assertEqual(elements.steps_of_text("cudarectify ! video/x-raw, height=8")[0]["properties"], {"height": "8"})
        for wrong in ("cudarectify ! video/x-raw,width=4097", "cudarectify ! video/x-raw,format=RGB", "cudacanny ! video/x-raw,width=8",
                      "video/x-raw,width=8", "cudarectify ! video/x-raw,width"):
            with self.assertRaises(elements.Refused, msg=wrong):
                elements.steps_of(CATALOGUE, [], elements.steps_of_text(wrong))

    def test_long_texts_are_refused_and_nobody_keeps_them(self):
        long = "x" * elements.LONGEST_TEXT
        described = [{"element": "cudahog", "properties": {"label": long}}]
        self.assertEqual(written(("cudahog", {"label": long})), (elements.UNWRITABLE,) * 2)
        elements.steps_of(CATALOGUE, [], described * 2)
        with self.assertRaisesRegex(elements.Refused, "all steps together"):
            elements.steps_of(CATALOGUE, [], described * 3)

    def test_long_looks_back_are_refused(self):
        for values in {"look-back-time": 5 * Gst.SECOND}, {"look-back": 150}, {"look-back-time": "5000000000", "look-back": 300}:
            described = [{"element": "cudavisionredact", "properties": values}]
            elements.steps_of(CATALOGUE, [], described * 2)
            with self.assertRaisesRegex(elements.Refused, "for at most 10 s.* gives 15.0 s"):
                elements.steps_of(CATALOGUE, [], described * 3)

    def test_changes_that_no_frame_confirms_are_bounded(self):
        step, = elements.steps_of(CATALOGUE, [], [{"element": "cudahog", "properties": {"label": "first", "hit-threshold": 0.5}}])
        for number in range(1000):
            step.change({"label": str(number)} if number else {"hit-threshold": 0.75})
        self.assertLessEqual(len(step.undo), elements.MOST_UNDONE)
        self.assertEqual({name: step.confirmed()[name] for name in ("label", "hit-threshold")}, {"label": "first", "hit-threshold": 0.5})
        self.assertEqual(step.take_back(), {"label": "998"})
        self.assertEqual(step.values["label"], "998")

    @staticmethod
    def parse_program(text):
        description = re.search(r"samples\((.*?)\):\n", text, re.DOTALL)[1]
        return Gst.parse_launch(ast.literal_eval("(" + description + ")"))

    @staticmethod
    def values(pipeline):
        made = {element.get_factory().get_name(): element for element in pipeline.children}
        return [made["cudacanny"].get_property("roi-type") or "", made["cudahog"].get_property("label") or ""]

    def test_passwords_of_sources_are_not_shown(self):
        hide = sources.addresses
        for text in ("rtspsrc location=rtsp://admin:S3cret@127.0.0.1:1/x?a=S3cret user-id=admin user-pw=\"S3cret b\" ! decodebin",
                     'rtspsrc location="rtsp://u:p@127.0.0.1:1/x?user=a&pw=S3cret" ! decodebin', 'x user-pw="a\\"S3cret"',
                     "x user-pw=a\\ S3cret", 'rtspsrc location="rtsp://u:S3 S3cret@127.0.0.1/x"', "srtsrc passphrase=S3cret",
                     'x extra-headers="x,Authorization=(string)S3cret"', "awss3src secret-access-key='S3cret'"):
            shown = hide.without_secrets(text)
            self.assertNotIn("S3cret", shown)
            self.assertEqual(hide.without_secrets(shown), shown, "it can be read again")
            self.assertNotIn("S3cret", hide.hide_all(f"{text}: no such thing", text) if " S3" not in text else "")
        source = sources.Source(text_of_camera := "rtspsrc location=rtsp://a:S3cret@127.0.0.1:1/x user-pw='S3cret' ! decodebin")
        for part in source.name, source.words(elements.in_shell), source.words(elements.in_pipeline):
            self.assertNotIn("S3cret", part)
        self.assertNotIn("S3cret", hide.hide_all("no rtsp://a:S3cret@127.0.0.1:1/x, password S3cret", text_of_camera))
        self.assertIn("127.0.0.1", source.name)
        for text in 'videotestsrc ! video/x-raw,width=16,height=16 ! x caps="video/x-raw, width=3"', "x key-int-max=3":
            self.assertEqual(hide.without_secrets(text), text)

    def test_a_file_by_its_address_is_a_file(self):
        source = sources.Source((folder / "in.avi").as_uri())
        self.assertEqual((source.is_file, source.is_address, source.name), (True, False, "in.avi"))
        with self.assertRaises(elements.Refused):
            sources.Source("file://elsewhere/in.avi")

    def test_no_thread_of_gstreamer_is_the_first_to_use_a_class(self):
        program = ("import sys; sys.path += sys.argv[1:]; import elements; from gi.repository import Gst;"
                   "made = vars(getattr(Gst, '_introspection_module', Gst));"
                   "print({'Buffer', 'Sample', 'Caps', 'FlowReturn', 'PadProbeReturn', 'Message'} - made.keys())")
        done = subprocess.run([sys.executable, "-c", program, str(LIVE.parent)], check=True, capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("set()\n", ""))

    def test_what_a_camera_sends_leads_to_nothing_local(self):
        program = ("import sys; sys.path += sys.argv[1:3]; from live import *; restrict([Source(t) for t in sys.argv[3:]]);"
                   "from gi.repository import Gst; named = Gst.ElementFactory.find;"
                   "from chain import Chain; chain = Chain('left', [], print, print, print); chain.start(); assert not chain.error; chain.stop();"
                   "print(sum(named(n) is not None for n in ('filesrc', 'splitfilesrc', 'v4l2src', 'fdsrc')), max((f.get_rank() for f in map(named, ('hlsdemux', 'hlsdemux2',"
                   "'dashdemux', 'dashdemux2', 'sdpdemux')) if f), default=0))")
        address, local = "rtsp://127.0.0.1:1/x", "videotestsrc ! video/x-raw,width=16,height=16"
        for texts, has_files, plays_lists in (([address], 0, None), ([address, "rtsp://127.0.0.1:2/y"], 0, None), ([address, local], 1, 0), ([local, address], 1, 0),
                                              ([address, str(folder / "in.avi")], 1, 0), ([str(folder / "in.avi")], 1, 0)):
            done = subprocess.run([sys.executable, "-c", program, str(LIVE.parent), str(ROOT / "examples"), *texts], check=True,
                                  capture_output=True, text=True)
            files, rank = map(int, done.stdout.split())
            self.assertEqual(files > 0, has_files, texts)
            if plays_lists is not None:
                self.assertEqual(rank, plays_lists, texts)


class Requests(unittest.IsolatedAsyncioTestCase):
    async def test_the_page_and_its_files_are_served_and_may_use_no_other_host(self):
        status, headers, text = await get("/")
        self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
        self.assertTrue(headers["Content-Security-Policy"].startswith("default-src 'none'"))
        self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
        names = set(re.findall(r'(?:src|href)="(page/[^"]+)"', text))
        self.assertGreaterEqual(len(names), 3)
        for name in names:
            self.assertEqual((await get("/" + name))[0], 200, name)
        for path in sorted((ROOT / "examples" / "live" / "page").iterdir()):
            found = re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}", path.read_text(encoding="utf-8"))
            self.assertLessEqual(set(found), {"http://www.w3.org"}, path)  # the only address: the XML namespace of SVG

    async def test_nothing_else_is_served(self):
        for path in ("/page/../live.py", "/page/%2e%2e/live.py", "/page/..%2flive.py", "/page//etc/passwd", "/live.py", "/page/",
                     "/cameras/9/left.json", "/cameras/-1/left.json", "/cameras/0/up.json",
                     "/cameras/99999999999999999999/left.json"):
            self.assertEqual((await get(path))[0], 404, path)
        for method in "POST", "PUT", "DELETE", "OPTIONS":
            self.assertIn((await get("/", method))[0], (404, 405), method)

    async def test_numbers_and_bytes_of_any_kind_are_no_fault(self):
        for number in "00009", "0000" + "9" * 5000, "1e1", "\u0661", "":
            self.assertEqual((await get(f"/cameras/{number}/left.json"))[0], 404, number[:9])
        for text in b"Authorization: Bearer \xff", b"Cookie: cudavision=\xff", b"X: \xff":
            request = b"GET /?token=\xff HTTP/1.1\r\nHost: localhost\r\n" + text + b"\r\n\r\n"
            self.assertIn(await status_of(live, request), (200, 303, 400), text)

    async def test_host_names_of_strangers_are_refused(self):
        for host in "evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example", "", "[", "a b":
            self.assertEqual((await get("/", Host=host))[0] in (400, 403), True, host)
        for host in ("localhost", "localhost:9999", "LOCALHOST", "127.0.0.1", f"127.0.0.1:{live.port}", "[::1]:1",
                     socket.gethostname()):
            self.assertEqual((await get("/healthz", Host=host))[0], 200, host)

    async def test_pages_of_strangers_are_refused(self):
        for origin in "http://evil.example", "null", "http://127.0.0.1:1", "http://localhost", "":
            self.assertEqual((await get("/", Origin=origin))[0], 403, origin)
            with self.assertRaises(aiohttp.WSServerHandshakeError) as refused:
                await Page(live, Origin=origin).__aenter__()
            self.assertEqual(refused.exception.status, 403)
        async with Page(live, Origin=live.base) as page:
            self.assertTrue(page.states)

    async def test_a_proxy_in_front_is_known_by_its_name(self):
        """nginx sends its own address as Host, or the name without the port; the page of the browser has the name."""
        here = f"127.0.0.1:{live.port}"
        for host in here, "cams.example.org":
            status, _, text = await get("/socket", "POST", Origin="https://cams.example.org:8443", Host=host)
            self.assertEqual(status, 403)
            self.assertRegex(text, "--name cams.example.org(:8443)?[ ,].*")
        self.assertNotIn("<", (await get("/socket", "POST", Origin="https://<b>"))[2])
        self.assertEqual((await get("/socket", "POST", Origin=live.base))[0], 200)
        status, headers, text = await get("/socket")  # nginx does not pass an upgrade on by itself
        self.assertEqual((status, headers["Upgrade"]), (426, "websocket"))
        self.assertIn("Behind a reverse proxy", text)
        self.assertIn("Behind a reverse proxy", (await get("/cams/"))[2])
        other = Live("--name", "cams.example.org:8443", "--name", "Shop.example.org", TEST_PICTURE)
        try:
            here = f"127.0.0.1:{other.port}"
            for origin, host, may in (("https://cams.example.org:8443", here, True), ("https://cams.example.org:8443", "cams.example.org", True),
                                      ("https://shop.example.org", here, True), ("https://cams.example.org", here, False),
                                      ("https://shop.example.org:1", here, False), ("ftp://shop.example.org", here, False),
                                      ("https://evil.example", "cams.example.org", False), ("https://a@shop.example.org", here, False)):
                try:
                    async with Page(other, Origin=origin, Host=host) as page:
                        self.assertTrue(may and page.states, origin)
                except aiohttp.WSServerHandshakeError as refused:
                    self.assertEqual((may, refused.status), (False, 403), origin)
        finally:
            self.assertEqual(other.stop(), (0, ""))

    async def test_health_and_metrics_need_no_token_on_loopback(self):
        async with Page(live) as page:
            await page.watch(CAMERA)
            await page.next_picture()
            status, _, text = await get("/metrics")
            self.assertEqual((await get("/healthz"))[0], 200)
        self.assertEqual(status, 200)
        values = {}
        for line in text.splitlines():
            if not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                self.assertRegex(name, r'^cudavision_[a-z_]+(\{([a-z]+="([^"\\]|\\.)*",?)*\})?$')
                values[name] = float(value)
        self.assertGreater(values[f'cudavision_processed_frames_total{{camera="{CAMERA}",side="left"}}'], 0)
        seconds = f'cudavision_step_seconds_total{{camera="{CAMERA}",side="left",step="0",element="cudacanny"}}'
        self.assertGreater(values[seconds], 0)
        self.assertEqual(values["cudavision_pages"], 1)


    async def test_troubles_of_a_camera_are_a_metric(self):
        async def expect(lasts):
            line = rf'\ncudavision_camera_trouble\{{camera="{CAMERA}",name="[^"]*",trouble="dark"\}} {lasts}\n'
            text = ""
            for _ in range(600):
                text = (await get("/metrics"))[2]
                if re.search(line, text):
                    return
                await asyncio.sleep(0.1)
            self.assertRegex(text, line)

        async with Page(live) as page:
            await page.watch(CAMERA)
            corner = {"roi-width": 20, "roi-height": 20}  # which the ball does not reach
            check = {"element": "cudacameracheck", "properties": {"hysteresis": 0.5, "dark-level": 255, **corner}}
            self.assertEqual(await page.do("steps", steps=[check]), "")
            await expect(1)
            self.assertEqual(await page.do("set", step=0, values={"dark-level": 0}), "")
            await expect(0)
            self.assertEqual(await page.do("steps", steps=EDGES), "")


class Properties(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.page = await Page(live).__aenter__()
        self.addAsyncCleanup(self.page.__aexit__)
        await self.page.watch(CAMERA)
        self.assertEqual(await self.page.do("steps", steps=EDGES), "")
        await self.page.next_results()

    async def test_they_are_what_gobject_says(self):
        elements = self.page.hello
        self.assertNotIn("cudavisionjson", elements)
        self.assertTrue(all(name.startswith("cuda") for name in elements) and len(elements) >= 10)
        by_name = {p["name"]: p for p in elements["cudacanny"]["properties"]}
        low = by_name["low-threshold"]
        self.assertEqual((low["kind"], low["min"], low["max"], low["default"]), ("float", 0, 1e7, 50))
        self.assertEqual((low["live"], low["common"]), (True, False))
        self.assertEqual([value for value, _ in by_name["aperture"]["options"]], ["3", "5", "7"])
        self.assertEqual((by_name["color"]["kind"], by_name["n-threads"]["common"]), ("color", True))
        self.assertFalse({"name", "parent", "qos", "active-backend", "message"} & set(by_name))
        self.assertFalse(next(p for p in elements["cudahog"]["properties"] if p["name"] == "model")["live"])
        shown = subprocess.run(["gst-inspect-1.0", "cudacanny"], capture_output=True, text=True, check=True).stdout
        for name, its in by_name.items():
            self.assertIn(its["help"], shown, name)

    async def test_a_live_one_changes_the_running_pipeline(self):
        def edges():
            tensors = self.page.results.get((CAMERA, "left"), {}).get("tensors", ())
            return next((tensor["mean"] for tensor in tensors if tensor["id"] == "edges"), None)

        await self.page.until(lambda: (edges() or 0) > 1)
        frame = json.loads((await get(f"/cameras/{CAMERA}/left.json"))[2])["frame"]
        self.assertEqual(await self.page.do("set", step=0, values={"low-threshold": 1e6, "high-threshold": 1e6}), "")
        self.assertEqual(self.page.values()["high-threshold"], 1e6)
        await self.page.until(lambda: edges() == 0)
        self.assertEqual(await self.page.do("set", step=0, values={"low-threshold": 20, "high-threshold": 40}), "")
        await self.page.until(lambda: edges() > 1)
        later = json.loads((await get(f"/cameras/{CAMERA}/left.json"))[2])["frame"]
        self.assertGreater(later, frame)  # the pipeline was not replaced: a new one begins with frame 0

    async def test_another_one_begins_anew(self):
        self.assertEqual(await self.page.do("set", step=0, values={"backend": "cpu"}), "")
        self.assertEqual(self.page.values()["backend"], "cpu")
        await self.page.next_picture()

    async def test_wrong_values_are_refused_and_change_nothing(self):
        wrong = {"low-threshold": [-1, 1e8, "many", None, True, float("nan"), [], {}], "aperture": ["4", 3, ""],
                 "l2-gradient": ["yes", 1], "roi-x": [0.5, -1, 2**40, 10**400, 1e308], "color": [7, "a\nb", "x" * 100000, "\0"]}
        values = self.page.values()
        for name, tried in wrong.items():
            for value in tried:
                error = await self.page.do("set", step=0, values={name: value})
                self.assertIn(f'could not set property "{name}" in element "cudacanny" to "', error)
                self.assertLess(len(error), 500)
        label, roi_type = "x" * elements.LONGEST_TEXT, "y" * elements.LONGEST_TEXT
        self.assertEqual(await self.page.do("steps", steps=[{"element": "cudahog", "properties": {"label": label}}, *EDGES]), "")
        self.assertEqual(await self.page.do("set", step=1, values={"roi-type": roi_type}), "")
        self.assertIn("all steps together", await self.page.do("set", step=1, values={"color": "red"}))
        self.assertEqual(await self.page.do("steps", steps=EDGES), "")
        for values_of in {"lowthreshold": 1}, {"name": "x"}, {"qos": True}, {"message": True}, {"__class__": 1}:
            self.assertIn("no property", await self.page.do("set", step=0, values=values_of))
        for step in -1, 1, 0.0, "0", None, True:
            self.assertEqual(await self.page.do("set", step=step, values={"low-threshold": 1}), "there is no such step")
        self.assertEqual(self.page.values(), values)

    async def test_only_elements_of_the_plugin_can_be_steps(self):
        for name in "filesrc", "cudavisionjson", "shmsink", "", None, 3, "cudacanny ! filesink":
            self.assertIn("no element", await self.page.do("steps", steps=[{"element": name}]))
        for steps in None, {}, "cudacanny", [None], EDGES * 100:
            self.assertIn("the steps are a list", await self.page.do("steps", steps=steps))
        self.assertEqual([step["element"] for step in self.page.steps()], ["cudacanny"])

    async def test_an_element_refuses_with_its_own_message(self):
        self.assertEqual(await self.page.do("steps", steps=[{"element": "cudahistogram", "properties": {"range-max": 100}}]), "")
        await self.page.next_picture()
        self.assertEqual(await self.page.do("set", step=0, values={"range-min": 150}), "")
        note, = await self.page.until(lambda: self.page.steps()[0]["notes"])
        self.assertIn("range-min (150) must be less than range-max (100)", note)
        self.assertEqual(self.page.values()["range-min"], 0)
        # After a failed restart the reply has the error, and the steps before run again.
        error = await self.page.do("set", step=0, values={"range-min": 120, "backend": "cpu"})
        self.assertIn("range-min (120) must be less than range-max (100)", error)
        self.assertEqual((self.page.values()["range-min"], self.page.values()["backend"]), (0, "auto"))
        await self.page.next_picture()

    async def test_a_value_that_asks_for_gigabytes_is_refused(self):
        greedy, = elements.steps_of_text("cudahog model=people win-stride=1 scale-step=1.005")
        refused = threading.Event()
        chain = Chain("left", elements.steps_of(CATALOGUE, [], [greedy]), print, print, lambda *_: refused.set())
        chain.start()
        caps = Gst.Caps.from_string("video/x-raw,format=GRAY8,width=3840,height=2160,framerate=10/1")
        chain.push(Gst.Sample.new(Gst.Buffer.new_wrapped(bytes(3840 * 2160)), caps, None, None), True)
        self.assertTrue(refused.wait(SECONDS))
        self.assertRegex(chain.error, r"at least \d{10} bytes are needed, and max-memory allows 1073741824")
        chain.stop()
        for value in 0, 1 << 31:
            self.assertIn("it is from 1 to 1073741824", await self.page.do("set", step=0, values={"max-memory": value}))
        for name in CATALOGUE:
            step, = steps = elements.steps_of(CATALOGUE, [], [{"element": name, "properties": {}}])
            values = Chain("left", steps, print, print, print).values(0)
            self.assertEqual(values.get("max-memory"), elements.MOST_MEMORY if "max-memory" in step.properties else None, name)

    async def test_warnings_reach_the_page(self):
        """Those of the source, of each step, and of the elements behind the steps."""
        other = Live("--elements", "cudahough high-threshold=5000 threshold=5000", TEST_PICTURE + " ! taginject "
                     "tags=image-orientation=rotate-90 ! cudahog model=people display=false")
        try:
            async with Page(other) as page:
                await page.until(lambda: "image-orientation=rotate-90" in " ".join(page.states[0]["notes"]))
                await page.until(lambda: len(page.steps()[0]["notes"]) == 2)
                for text, note in zip(("no gradient exceeds", "no line of a region"), page.steps()[0]["notes"]):
                    self.assertIn(text, note)
                self.assertEqual(await page.do("set", step=0, values={"threshold": 50}), "")
                self.assertEqual(page.steps()[0]["notes"], [])
        finally:
            self.assertEqual(other.stop(), (0, ""))
        chain = Chain("left", elements.steps_of(CATALOGUE, [], EDGES), print, print, lambda *_: None)
        for number in range(9):
            for text in f"number {number}", "again":
                chain.on_message(Gst.Message.new_warning(chain.scaled, GLib.Error(text), ""))
        self.assertEqual(sorted(chain.notes), ["again", "number 6", "number 7", "number 8"])

    async def test_steps_that_do_not_start_show_their_error(self):
        missing = {"element": "cudahog", "properties": {"model-location": str(folder / "none.yml")}}
        self.assertEqual(await self.page.do("steps", steps=[*EDGES, missing]), "")

        def side():
            return self.page.states[CAMERA]["sides"]["left"]

        await self.page.until(lambda: "none.yml" in side()["error"])
        self.assertEqual(side()["errorStep"], 1)
        self.assertEqual(await self.page.do("set", step=1, values={"model-location": ""}), "")
        await self.page.until(lambda: not side()["error"])

    async def test_files_lie_below_the_given_folders(self):
        self.assertEqual(await self.page.do("steps", steps=[{"element": "cudahog", "properties": {}}]), "")
        (folder / "out").symlink_to("/etc")
        for path in "/etc/passwd", f"{folder}/../x", "passwd", f"{folder}/out/passwd", f"{folder}x/a":
            error = await self.page.do("set", step=0, values={"model-location": path})
            self.assertIn("it lies in no folder that --folder names", error)
        (folder / "loop").symlink_to("loop")
        for path in folder / "fifo", folder:
            error = await asyncio.wait_for(self.page.do("set", step=0, values={"model-location": str(path)}), 5)
            self.assertIn("it is no regular file", error)
        for path in f"{folder}/loop", "x" * 5000, f"{folder}/" + "x" * 300:
            self.assertNotIn("fault", await self.page.do("set", step=0, values={"model-location": path}), path[:30])
        error = await self.page.do("set", step=0, values={"model-location": f"{folder}/model.txt"})
        self.assertNotIn("no folder", error)

    async def test_the_histogram_is_plotted(self):
        self.assertEqual(await self.page.do("steps", steps=[{"element": "cudahistogram", "properties": {"bins": 8}}]), "")
        found = await self.page.until(lambda: self.page.results.get((CAMERA, "left"), {}).get("histogram"))
        self.assertEqual((len(found), len(found[0]), sum(found[0])), (1, 8, 160 * 120))


class Holding(unittest.IsolatedAsyncioTestCase):
    """Steps that hold frames back."""

    HOLDER = "cudabgsub display=false ! cudavisionredact look-back-time="

    async def test_they_get_the_next_frames_until_the_first_comes_out(self):
        other = Live("--elements", self.HOLDER + "2000000000", TEST_PICTURE)
        try:
            async with Page(other) as page:
                await page.watch(0)
                await page.until(lambda: page.numbers and "frames back" in page.numbers[0]["sides"]["left"]["waits"])
                self.assertEqual((await get("/healthz", base=other.base))[0], 503)  # frames come, but none comes out
                for _ in range(20):
                    await page.next_picture()
                self.assertEqual((await get("/healthz", base=other.base))[0], 200)
                times = [time for time, _ in page.pictures[0, "left"]]
                self.assertEqual(times, sorted(set(times)))
                self.assertEqual(page.numbers[0]["dropped"], 0)
                self.assertEqual(await page.do("steps", steps=EDGES), "")  # new steps get time for their first frame
                self.assertEqual((await get("/healthz", base=other.base))[0], 200)
                # The old form, in frames, is for presets and command lines that have it.
                old = [{"element": "cudavisionredact", "properties": {"look-back": 3}}]
                self.assertEqual(await page.do("steps", steps=old), "")
                self.assertIn("look-back=3", page.states[0]["sides"]["left"]["launch"])
                for _ in range(5):
                    await page.next_picture()
                self.assertIn("at most 10 s", await page.do("set", step=0, values={"look-back-time": 60 * Gst.SECOND}))
                names = {p["name"]: p for p in page.hello["cudavisionredact"]["properties"]}
                self.assertNotIn("look-back", names)
                self.assertEqual(names["look-back-time"]["slider"], [5_000_000_000, 10_000_000])
        finally:
            self.assertEqual(other.stop(), (0, ""))

    async def test_what_comes_out_belongs_to_its_frame(self):
        for text in self.HOLDER + "300000000", "cudahistogram display=false":
            out, idle = [], threading.Semaphore(0)
            chain = Chain("left", elements.steps_of(CATALOGUE, [], elements.steps_of_text(text)), lambda *_: idle.release(),
                          lambda _, frame: out.append((frame.pts, json.loads(frame.line)["pts"])), print)
            chain.start()
            for number in range(30):
                buffer = Gst.Buffer.new_wrapped(bytes(64 * 48))
                buffer.pts = number * 100_000_000
                caps = Gst.Caps.from_string("video/x-raw,format=GRAY8,width=64,height=48,framerate=10/1")
                chain.push(Gst.Sample.new(buffer, caps, None, None), True)
                self.assertTrue(idle.acquire(timeout=SECONDS))
                self.assertFalse(chain.busy())
            chain.stop()
            held = 30 - len(out)
            self.assertEqual(out, [(number * 100_000_000,) * 2 for number in range(30 - held)])
            self.assertEqual(held > 0, "redact" in text)
            self.assertEqual(len(chain.inside), held)

    async def test_a_frame_that_steps_have_dropped_is_not_waited_for(self):
        chain = Chain("left", [], print, print, print)
        chain.inside.extend(Frame(pts, True) for pts in (1, 2, 3, 3, 4))
        self.assertEqual([chain.frame_at(pts).pts for pts in (2, 3, 3)], [2, 3, 3])
        self.assertEqual([chain.frame_at(9).pts, chain.frame_at(9)], [4, None])

    async def test_steps_that_are_slow_or_give_nothing_are_told(self):
        chain = Chain("left", elements.steps_of(CATALOGUE, [], EDGES), print, print, lambda *_: None)
        self.assertEqual((chain.waits(), chain.delivers()), ("Waiting for the first frame behind the steps.", True))
        now = time.monotonic()
        chain.pushed, chain.entered, chain.began = 1, [now - 3], now - 3
        self.assertEqual(chain.waits(), "cudacanny has worked on the first frame for 3 s.")
        for _ in range(2):  # the second frame that comes out is not one more time of work
            chain.on_leave(None, None, 0)
        self.assertAlmostEqual(chain.seconds[0], 3, delta=0.5)
        chain.finished, chain.processed, chain.took = 1, 1, 4.2
        self.assertEqual((chain.waits(), chain.delivers()), ("The steps are slow: they worked on the last frame for 4.2 s.", True))
        chain.took, chain.came_out = 0.1, now - LONGEST_FRAME - 1
        self.assertEqual((chain.waits(), chain.delivers()), ("", False))
        chain.pushed, chain.entered, chain.began = 2, [now], now - LONGEST_FRAME - 1
        self.assertTrue(chain.tick())
        self.assertIn("cudacanny has worked on a frame for 30 s", chain.error)
        self.assertEqual((chain.tick(), chain.waits()), (False, "The steps have failed: change one to begin anew."))

    async def test_a_step_that_prepares_for_frames_is_named(self):
        """Elements allocate when they get the format, before the first frame comes to them."""
        idle, at_work = threading.Event(), []
        described = elements.steps_of_text("cudahistogram display=false ! cudacanny")
        chain = Chain("left", elements.steps_of(CATALOGUE, [], described), lambda *_: idle.set(), lambda *_: None, print)
        for made in chain.elements:
            made.get_static_pad("src").add_probe(Gst.PadProbeType.EVENT_DOWNSTREAM, lambda _pad, info: at_work.append(
                (info.get_event().type, chain.at_work())) or Gst.PadProbeReturn.OK)
        chain.start()
        caps = Gst.Caps.from_string("video/x-raw,format=GRAY8,width=64,height=48,framerate=10/1")
        chain.push(Gst.Sample.new(Gst.Buffer.new_wrapped(bytes(64 * 48)), caps, None, None), True)
        self.assertTrue(idle.wait(SECONDS))
        chain.stop()
        self.assertEqual([name for kind, name in at_work if kind == Gst.EventType.CAPS], ["cudahistogram", "cudacanny"])
        self.assertEqual(chain.at_work(), "The encoder")

    async def test_a_source_that_hangs_is_told(self):
        """In opening or in closing: it cannot be tried again until it comes back."""
        for hanging in "start", "stop":
            released, hung = threading.Event(), threading.Event()
            player = mock.Mock(**{"waits.return_value": "", hanging: lambda hung=hung, released=released: hung.set() or released.wait()})
            a_camera = camera_without_source(EDGES)
            self.addCleanup(a_camera.close)
            self.addCleanup(released.set)
            a_camera.delivered, a_camera.player = True, player
            chain = a_camera.chains["left"]
            with mock.patch("camera.Player", return_value=player):
                a_camera.later(a_camera.reconnect)
                self.assertTrue(hung.wait(SECONDS))
                self.assertEqual((a_camera.works(), "hangs" in a_camera.waits(chain)), (True, False))
                a_camera.changing -= 2 * camera.STALLED
                a_camera.moved -= 2 * camera.STALLED
                a_camera.tick()
                self.assertEqual((a_camera.works(), a_camera.failures, a_camera.next_try), (False, 0, 0.0))
                self.assertRegex(a_camera.waits(chain), "^The source hangs: .* for 4[01] s.$")
                released.set()
                a_camera.worker.submit(lambda: None).result()
                a_camera.tick()  # it has time for its first frame
                self.assertEqual((a_camera.hangs(), a_camera.failures), (0.0, 0))

    async def test_steps_that_are_given_up_are_stopped(self):
        a_camera = camera_without_source(EDGES)
        self.addCleanup(a_camera.close)
        chain = a_camera.chains["left"]
        chain.pushed, chain.began = 1, time.monotonic() - LONGEST_FRAME - 1
        a_camera.tick()
        a_camera.worker.submit(lambda: None).result()
        self.assertEqual(chain.pipeline.get_state(0).state, Gst.State.NULL)

    async def test_in_a_pause_a_camera_that_is_connected_again_does_not_wait_for_a_frame(self):
        a_camera = camera_without_source(EDGES)
        self.addCleanup(a_camera.close)
        a_camera.chains["left"].processed, a_camera.paused = 1, True
        self.assertEqual(a_camera.state()["sides"]["left"]["waits"], "The source is opened.")
        a_camera.on_frame(Gst.Sample.new(Gst.Buffer.new(), Gst.Caps.from_string("video/x-raw"), None, None))
        self.assertEqual((a_camera.state()["sides"]["left"]["waits"], a_camera.came), ("", 0))


class Playback(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.page = await Page(live).__aenter__()
        self.addAsyncCleanup(self.page.__aexit__)
        await self.page.watch(VIDEO)
        drawn = [{"element": "cudacanny", "properties": {"output": "overlay"}}]
        self.assertEqual(await self.page.do("steps", VIDEO, steps=drawn), "")
        self.assertEqual(await self.page.do("pause", VIDEO, on=False), "")

    async def paused_at(self, seconds):
        self.assertEqual(await self.page.do("pause", VIDEO, on=True), "")
        self.assertEqual(await self.page.do("seek", VIDEO, seconds=seconds), "")
        pictures = self.page.pictures.setdefault((VIDEO, "left"), [])
        return await self.page.until(lambda: pictures[-1] if pictures and pictures[-1][0] == seconds * 1e6 else None)

    async def test_a_file_is_played_in_a_loop(self):
        self.assertEqual(await self.page.do("seek", VIDEO, seconds=2.5), "")
        await self.page.until(lambda: any(time > 2_400_000 for time, _ in self.page.pictures.get((VIDEO, "left"), ())))
        self.page.pictures.clear()
        await self.page.until(lambda: any(time < 500_000 for time, _ in self.page.pictures.get((VIDEO, "left"), ())))
        self.assertAlmostEqual(self.page.states[VIDEO]["duration"], 3, delta=0.1)

    async def test_in_a_pause_a_change_shows_the_same_frame_anew(self):
        time, before = await self.paused_at(1)
        count = len(self.page.pictures[VIDEO, "left"])
        await asyncio.sleep(0.4)
        self.assertEqual(len(self.page.pictures[VIDEO, "left"]), count)  # no further picture came: it is a pause
        self.assertEqual(await self.page.do("set", VIDEO, step=0, values={"low-threshold": 900, "high-threshold": 1000}), "")
        after = await self.page.until(lambda: self.page.pictures[VIDEO, "left"][count:])
        self.assertEqual((after[-1][0], after[-1][1] == before), (time, False))
        self.assertEqual(await self.page.do("set", VIDEO, step=0, values={"low-threshold": 50, "high-threshold": 100}), "")
        await self.page.until(lambda: self.page.pictures[VIDEO, "left"][-1] == (time, before))

    async def test_a_portrait_video_of_a_phone_is_shown_upright(self):
        other = Live("--elements", "cudahistogram display=false", make_portrait(folder / "phone.mov", folder / "in.avi"))
        try:
            async with Page(other) as page:
                await page.watch(0)
                await page.next_picture()
                self.assertEqual(page.states[0]["size"], [160, 120])
                ran = subprocess.run(["bash", "-c", page.states[0]["sides"]["left"]["launch"] + "cudavisionjson ! fakesink"],
                                     capture_output=True, text=True, check=True, cwd=folder)
                frames = [json.loads(line) for line in ran.stdout.splitlines()]
                self.assertEqual((len(frames), frames[0]["width"], frames[0]["height"]), (30, 160, 120))
        finally:
            self.assertEqual(other.stop(), (0, ""))

    async def test_steps_of_one_frame(self):
        await self.paused_at(1)
        self.assertEqual(await self.page.do("step", VIDEO, frames=1), "")
        await self.page.until(lambda: self.page.pictures[VIDEO, "left"][-1][0] == 1_100_000)
        self.assertEqual(await self.page.do("step", VIDEO, frames=-1), "")
        await self.page.until(lambda: self.page.pictures[VIDEO, "left"][-1][0] == 1_000_000)

    async def test_in_a_pause_motion_is_that_from_the_frame_before(self):
        motion = [{"element": "cudaopticalflow", "properties": {"display": False}}]
        self.assertEqual(await self.page.do("steps", VIDEO, steps=motion), "")
        await self.paused_at(1)
        await self.page.until(lambda: "optical-flow" in [t["id"] for t in self.page.results[VIDEO, "left"]["tensors"]])

    async def test_two_sides_show_the_same_frame(self):
        self.assertEqual(await self.page.do("compare", VIDEO, on=True), "")
        high = {"low-threshold": 900, "high-threshold": 1000}
        self.assertEqual(await self.page.do("set", VIDEO, side="right", step=0, values=high), "")
        time, left = await self.paused_at(2)
        right = await self.page.until(lambda: self.page.pictures.get((VIDEO, "right")))
        await self.page.until(lambda: right[-1][0] == time)
        self.assertNotEqual(left, right[-1][1])
        self.assertEqual(self.page.values(VIDEO)["low-threshold"], 50)
        self.assertEqual(await self.page.do("compare", VIDEO, on=False), "")
        self.assertNotIn("right", self.page.states[VIDEO]["sides"])

    async def test_the_copied_line_and_program_work_and_give_the_same_json(self):
        for steps in ([{"element": "cudahistogram", "properties": {"bins": 16, "display": False}},
                       {"element": "cudasigma2kp", "properties": {"tau": 1.5}}], [{"element": "cudaopticalflow", "properties": {}}]):
            self.assertEqual(await self.page.do("steps", VIDEO, steps=steps), "")
            self.assertEqual(self.page.states[VIDEO]["sides"]["left"]["error"], "")
            await self.paused_at(1)
            text = self.page.states[VIDEO]["sides"]["left"]["launch"] + "cudavisionjson ! fakesink"
            ran = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True, cwd=folder)
            records = {record["pts"]: record for record in map(json.loads, ran.stdout.splitlines())}
            self.assertEqual(len(records), 30)
            status, _, line = await get(f"/cameras/{VIDEO}/left.json")
            here = json.loads(line)
            self.assertEqual((status, here["pts"]), (200, 1_000_000_000))
            there = records[here["pts"]]
            self.assertEqual({**here, "frame": 0}, {**there, "frame": 0})
        program = self.page.states[VIDEO]["sides"]["left"]["python"]
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        self.assertEqual(len(ran.stdout.splitlines()), 30)
        self.assertIn("1.0 [<tensor optical-flow", ran.stdout)

    async def test_only_files_can_be_played(self):
        for what in {"frames": 1}, {"frames": -1}:
            self.assertEqual(await self.page.do("step", CAMERA, **what), "only a file can be played so")
        self.assertEqual(await self.page.do("seek", CAMERA, seconds=1), "only a file can be played so")
        for seconds in None, "1", True, [], 1e300:
            self.assertEqual(await self.page.do("seek", VIDEO, seconds=seconds), "this is no number that can be used")

    def counts(self):
        return self.page.results.get((VIDEO, "left"), {}).get("counts", {})

    async def test_a_line_that_is_drawn_behind_a_tracker_counts(self):
        zones = {"lines": [{"name": "door", "from": [80, 0], "to": [80, 119]}], "zones": []}
        tracker = {"element": "cudavisiontrack", "properties": {}}
        self.assertEqual(await self.page.do("steps", VIDEO, steps=[tracker, {"element": "cudavisionoverlay", "properties": {}}]), "")
        self.assertEqual(await self.page.do("zones", VIDEO, zones=zones), "")
        steps = self.page.states[VIDEO]["sides"]["left"]["steps"]
        self.assertEqual([step["element"] for step in steps], ["cudavisiontrack", "cudavisionzones", "cudavisionoverlay"])
        self.assertEqual(json.loads(steps[1]["values"]["zones"])["lines"], zones["lines"])
        await self.page.until(lambda: {"door, left-to-right", "door, right-to-left"} <= self.counts().keys())
        zones["lines"][0]["name"] = "gate"
        self.assertEqual(await self.page.do("zones", VIDEO, zones=zones), "")
        await self.page.until(lambda: self.counts().get("gate, left-to-right") == 0)
        self.assertEqual(len(self.page.states[VIDEO]["sides"]["left"]["steps"]), 3)

    async def test_four_corners_are_the_ground_before_a_picture_from_above_and_behind_it(self):
        points, view = [[50, 40], [110, 40], [170, 140], [-10, 140]], {"view": "plane", "corners": "0.3,0.3 0.7,0.3 1,1.2 0,1.2"}
        zones = {"units": "pixels", "lines": [{"name": "door", "from": [20, 0], "to": [20, 90]}], "zones": [],
                 "corners": {"points": points, "metres": [5, 12]}}
        steps = [{"element": name, "properties": {}} for name in ("cudavisiontrack", "cudavisionzones", "cudarectify")]
        self.assertEqual(await self.page.do("steps", VIDEO, steps=steps), "")
        self.assertEqual(await self.page.do("zones", VIDEO, zones=zones), "")

        def plan(number, behind):
            side = self.page.states[VIDEO]["sides"]["left"]
            self.assertEqual((side["zonesBehindView"], json.loads(side["steps"][number]["values"]["zones"])), (behind, side["zones"]))
            self.assertEqual(side["zones"]["lines"], zones["lines"])
            return side["zones"].get("metres")

        ground = [[0, 0], [5, 0], [5, 12], [0, 12]]
        self.assertEqual(plan(1, False), {"picture": points, "ground": ground})
        # Behind the other view of the step, nobody knows where the corners are.
        self.assertEqual(await self.page.do("steps", VIDEO, steps=steps[2:] + steps[:1]), "")
        self.assertEqual(await self.page.do("zones", VIDEO, zones=zones), "")
        self.assertIsNone(plan(2, True))
        self.assertEqual(await self.page.do("set", VIDEO, step=0, values=view), "")
        self.assertEqual(plan(2, True)["picture"], [[0, 0], [159, 0], [159, 119], [0, 119]])
        self.assertEqual(await self.page.do("set", VIDEO, step=0, values={"width": 40, "height": 96}), "")
        self.assertEqual(plan(2, True), {"picture": [[0, 0], [39, 0], [39, 95], [0, 95]], "ground": ground})
        await self.page.until(lambda: self.page.states[VIDEO]["sides"]["left"]["size"] == [40, 96])
        self.assertEqual(self.page.states[VIDEO]["size"], [160, 120])
        self.assertEqual([step["notes"] for step in self.page.steps(VIDEO)][::2], [[], []])
        self.assertEqual(await self.page.do("set", VIDEO, step=0, values={"view": "undistorted"}), "")
        self.assertIsNone(plan(2, True))
        own = json.dumps({"lines": zones["lines"]})
        self.assertEqual(await self.page.do("set", VIDEO, step=2, values={"zones": own}), "")
        self.assertEqual(await self.page.do("set", VIDEO, step=0, values={"view": "plane"}), "")
        self.assertEqual(self.page.values(VIDEO, 2)["zones"], own)
        # The camera's own picture is there to draw on.
        status, headers, _ = await get(f"/cameras/{VIDEO}/still.jpg", method="HEAD")
        self.assertEqual((status, headers["Content-Type"]), (200, "image/jpeg"))
        self.assertEqual(await self.page.do("zones", VIDEO, zones={"lines": [], "zones": []}), "")

    async def heat_map(self, shown):
        return json.loads((await get(f"/cameras/{VIDEO}/left/{shown}.json"))[2])

    async def test_a_heat_map_shows_where_tracks_were_and_begins_anew_with_the_steps(self):
        motion = [{"element": "cudabgsub", "properties": {"display": False}}, {"element": "cudavisiontrack", "properties": {"type": "motion"}}]
        self.assertEqual(await self.page.do("steps", VIDEO, steps=motion), "")
        while not (found := await self.heat_map("seconds"))["squares"]:
            await asyncio.sleep(0.05)
        self.assertEqual((found["size"], found["width"], found["height"]), (16, 160, 120))
        self.assertTrue(all(0 <= x < 10 and 0 <= y < 8 and value > 0 for x, y, value in found["squares"]), found)
        self.assertTrue(all(value == int(value) for _, _, value in (await self.heat_map("visits"))["squares"]))
        self.assertEqual(await self.page.do("steps", VIDEO, steps=EDGES), "")
        self.assertEqual((await self.heat_map("seconds"))["squares"], [])
        for path in "0/left/nothing", "0/up/seconds", "0/right/seconds", "9/left/seconds":
            self.assertEqual((await get(f"/cameras/{path}.json"))[0], 404)

    @staticmethod
    def line_with_track(frame, width, x):
        box = {"type": "person", "x": x, "y": 0, "width": 10, "height": 30, "params": {"tracking": {"id": 1}}}
        return json.dumps({"frame": frame, "running-time": frame * 10**8, "width": width, "height": 480, "regions": [box]},
                          separators=(",", ":")).encode()

    def test_frames_that_come_again_in_a_pause_are_not_in_the_heat_map(self):
        made = camera_without_source(EDGES)
        for made.paused, visits in (True, []), (False, [[6, 1, 1]]):
            frame = Frame(0, True)
            frame.line = self.line_with_track(0, 640, 100)
            made.on_done(made.chains["left"], frame)
            self.assertEqual(made.chains["left"].heat.squares("visits")["squares"], visits)
        made.close()

    def test_a_heat_map_follows_the_size_of_frames(self):
        made = heat.Heat()
        for frame in range(21):
            made.add(self.line_with_track(frame, 640, 100 + 4 * frame))
        self.assertEqual(made.squares("visits")["squares"], [[column, 1, 1] for column in range(6, 12)])
        self.assertAlmostEqual(sum(value for _, _, value in made.squares("seconds")["squares"]), 2)
        self.assertTrue(all(abs(value - 40) < 1e-6 for _, _, value in made.squares("speed")["squares"]))
        made.add(self.line_with_track(21, 1920, 480))
        self.assertEqual(made.squares("visits"), {"size": 24, "width": 1920, "height": 480, "squares": [[20, 1, 1]]})

    async def test_names_that_change_again_and_again_are_not_kept(self):
        camera = types.SimpleNamespace(events=collections.Counter(), last_events=[])
        for n in range(3000):
            server.count_event(camera, {"name": f"line {n}", "event": "cross"})
        self.assertLessEqual(len(camera.events), server.MOST_NAMES + 6)
        self.assertEqual(sum(camera.events.values()), 3000)

    async def test_no_step_is_a_pipeline_too(self):
        self.assertEqual(await self.page.do("steps", VIDEO, steps=[]), "")
        side = self.page.states[VIDEO]["sides"]["left"]
        self.assertIn("videoconvert", side["launch"])
        self.assertIn("videoconvert", side["python"])
        self.assertEqual(await self.page.do("steps", VIDEO, steps=EDGES), "")

    async def test_lines_and_zones_are_checked(self):
        zones = {"units": "pixels", "lines": [{"name": "door", "from": [1, 2], "to": [3, 4]}],
                 "zones": [{"name": "hall", "polygon": [[0, 0], [9, 0], [9, 9]]}]}
        self.assertEqual(await self.page.do("zones", VIDEO, zones={**zones, "more": 1}), "")
        self.assertEqual(self.page.states[VIDEO]["zones"], zones)
        square = [[0, 0], [9, 0], [9, 9], [0, 9]]
        for wrong in (None, [], {}, {"lines": [], "zones": [{"name": "a", "polygon": [[0, 0], [9, 9]]}]},
                      {"lines": [{"name": "", "from": [0, 0], "to": [1, 1]}], "zones": []},
                      {"lines": [{"name": "a", "from": [0, 1e9], "to": [1, 1]}], "zones": []},
                      {"lines": zones["lines"] * 65, "zones": []}, {"lines": zones["lines"] * 2, "zones": []},
                      {"lines": [{"name": "a", "from": [1, 1], "to": [1, 1]}], "zones": []},
                      {"lines": [{"name": "\u00e9" * 64, "from": [0, 0], "to": [1, 1]}], "zones": []},
                      *({"lines": [], "zones": [], "corners": corners} for corners in (
                          None, [], {"points": square}, {"points": square[:3], "metres": [1, 1]}, {"points": square, "metres": [1, -1]},
                          {"points": square, "metres": [1, float("nan")]}, {"points": square[::-1], "metres": [1, 1]},
                          {"points": [square[n] for n in (0, 2, 1, 3)], "metres": [1, 1]}))):
            self.assertIn("zones: ", await self.page.do("zones", VIDEO, zones=wrong))
        points = [[-32768, -32768]] * 64
        longest = {"lines": [], "zones": [{"name": str(n), "polygon": points} for n in range(64)]}
        self.assertIn("zones: their text", await self.page.do("zones", VIDEO, zones=longest))
        # Zones that fit, but not with the texts of the steps, are refused as a whole.
        longest["zones"] = longest["zones"][:50]
        counters = [{"element": "cudavisionzones", "properties": {"zones": ""}}] * 3
        steps = [{"element": "cudahog", "properties": {"label": "x" * 50000}}, *counters]
        self.assertEqual(await self.page.do("steps", VIDEO, steps=steps), "")
        self.assertIn("all steps together", await self.page.do("zones", VIDEO, zones=longest))
        self.assertEqual(self.page.states[VIDEO]["zones"]["zones"], zones["zones"])
        # New steps for counting get the zones: their texts count, too.
        self.assertEqual(await self.page.do("steps", VIDEO, steps=EDGES), "")
        self.assertEqual(await self.page.do("zones", VIDEO, zones=longest), "")
        described = [{"element": "cudavisionzones", "properties": {}}] * 3
        self.assertIn("all steps together", await self.page.do("steps", VIDEO, steps=described))
        self.assertEqual(await self.page.do("compare", VIDEO, on=True), "")
        self.assertEqual(await self.page.do("compare", VIDEO, on=False), "")
        self.assertEqual(await self.page.do("zones", VIDEO, zones={"lines": [], "zones": []}), "")


class Guests(unittest.IsolatedAsyncioTestCase):
    async def test_a_camera_that_fails_says_so_and_is_tried_again(self):
        async with Page(live) as page:
            await page.watch(BROKEN)
            error = await page.until(lambda: page.states[BROKEN]["error"])
            self.assertIn("Failed after iterations as requested", error)
            came = await page.until(lambda: page.numbers and page.numbers[BROKEN]["came"])
            await page.until(lambda: page.numbers[BROKEN]["came"] > came)
            self.assertEqual(page.states[CAMERA]["error"], "")
        self.assertEqual((await get("/healthz"))[0], 200)

    async def test_pages_that_have_closed_leave_nothing(self):
        async def visit():
            async with Page(live) as page:
                await page.watch(CAMERA, VIDEO)
                await page.next_picture(CAMERA)
        await asyncio.gather(*(visit() for _ in range(5)))
        threads, files, memory = live.threads(), live.files(), live.memory()
        for _ in range(5):
            await asyncio.gather(*(visit() for _ in range(10)))
        threads, files = threads + 5, files + 5  # cameras that connect again meanwhile need some
        for _ in range(100):  # connections end a moment later
            if live.threads() <= threads and live.files() <= files:
                break
            await asyncio.sleep(0.1)
        self.assertLessEqual(live.threads(), threads, live.names_of_threads())
        self.assertLessEqual(live.files(), files)
        self.assertLess(live.memory(), memory + 32 * 2**20)
        self.assertIn("\ncudavision_pages 0\n", (await get("/metrics"))[2])

    def test_what_waits_for_a_page_is_bounded(self):
        viewer = server.Viewer(None)
        for number in range(10000):
            viewer.put(("reply", number), {})
            viewer.put("picture", number)
        self.assertLessEqual(len(viewer.waiting), server.MOST_WAITING)
        self.assertEqual(viewer.waiting["picture"], 9999)  # the newest

    async def test_steps_that_were_replaced_leave_nothing(self):
        async with Page(live) as page:
            for _ in range(3):
                await page.do("steps", steps=EDGES)
            threads, files = live.threads(), live.files()
            for number in range(40):
                edges = [{"element": "cudacanny", "properties": {"low-threshold": number}}]
                self.assertEqual(await page.do("steps", steps=edges), "")
        self.assertLess(live.files(), files + 20)  # if replaced pipelines were kept, each would keep two files
        self.assertLess(live.threads(), threads + 10)

    async def test_a_refusal_keeps_nothing_of_its_work(self):
        class Steps:
            pass

        def refuse(*_):
            steps = Steps()
            kept.append(weakref.ref(steps))
            raise elements.Refused("no")

        kept, worker = [], concurrent.futures.ThreadPoolExecutor(1)
        a_server = types.SimpleNamespace(cameras=[types.SimpleNamespace(number=0, worker=worker, set=refuse)], state=repr, put_all=lambda *_: None)
        gc.disable()
        self.addCleanup(gc.enable)
        try:
            await server.Server.do(a_server, None, {"do": "set", "camera": 0})
        except elements.Refused:
            pass
        self.assertEqual([one() for one in kept], [None])

    async def test_ten_thousand_hostile_values_leave_nothing(self):
        """Values of every kind are typed into all properties of all elements, one by one and as presets."""
        chance = random.Random(3)
        kinds = [*HOSTILE[:-1], "(" * 300, "NULL", "C:\\Users\\me", 'person, "car"', "'", "-1", "1e400", "nan", "\0", "\ud800",
                 "\u202e", "", "0x10", '{"lines":[{"name":"', "[" * 2000, "/dev/stdin", f"{folder}/fifo", str(folder),
                 None, [], {}, True, 2**70, -1e300, float("inf")]

        async def type_in(page, count):
            steps = [{"element": name, "properties": {}} for name in CATALOGUE]
            self.assertEqual(await page.do("steps", steps=steps), "")
            names = [(number, name) for number, its in enumerate(CATALOGUE.values()) for name, p in its.items() if p.live]
            others = [(number, name) for number, its in enumerate(CATALOGUE.values()) for name, p in its.items() if not p.live]
            for number in range(count):
                step, name = chance.choice(names if number % 250 else others)
                values = {name: chance.choice(kinds)}
                if number % 250 == 50:
                    preset = [{"element": "cudavisiontrack", "properties": {"type": chance.choice(kinds)}} for _ in range(2)]
                    await page.do("steps", steps=preset)
                    await page.do("steps", steps=steps)
                elif number % 64:
                    await page.socket.send_json({"do": "set", "camera": 0, "step": step, "values": values})
                else:
                    await page.do("set", step=step, values=values)
            self.assertEqual(await page.do("steps", steps=EDGES), "")
            await page.watch(0)
            await page.next_picture()

        with mock.patch.dict(os.environ, MALLOC_ARENA_MAX="1"):  # each arena of malloc would fill by itself, at any time
            other = Live("--folder", str(folder), TEST_PICTURE)
        try:
            for count in 10000, 10000:  # the first ones fill the pools of the allocators, and then nothing grows
                before = other.files(), other.threads(), other.memory()
                async with Page(other) as page:
                    await type_in(page, count)
                    await page.watch()
            for _ in range(SECONDS * 5):  # connections end a moment later, and idle threads of GLib after 15 s
                if other.files() <= before[0] and other.threads() <= before[1]:
                    break
                await asyncio.sleep(0.2)
        finally:
            after = other.files(), other.threads(), other.memory()
            status, said = other.stop()
        self.assertEqual((status, said), (0, ""))
        self.assertLessEqual(after[0], before[0])
        self.assertLessEqual(after[1], before[1])
        self.assertLess(after[2], before[2] + 4 * 2**20)

    async def open_raw_socket(self):
        reader, writer = await asyncio.open_connection("127.0.0.1", live.port)
        writer.write(b"GET /socket HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                     b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n")
        self.assertIn(b"101", await reader.readline())
        return reader, writer

    async def test_a_camera_that_is_stuck_does_not_hold_pages(self):
        stuck, released = camera_without_source(EDGES), threading.Event()
        self.addCleanup(stuck.close)
        self.addCleanup(released.set)
        stuck.seek = lambda _seconds: released.wait() and ["no such frame"][1]
        rest = types.SimpleNamespace(cameras=[stuck], put_all=mock.Mock(), changed=mock.Mock(), state=print)
        rest.done_late = functools.partial(server.Server.done_late, rest)
        with mock.patch("server.LONGEST_WORK", 0.1):
            for expected in "works on this", "is still busy with an earlier command":
                with self.assertRaisesRegex(elements.Refused, expected):
                    await server.Server.do(rest, None, {"do": "seek", "camera": 0, "seconds": 1})
        self.assertEqual(rest.put_all.call_count, 2)
        rest.changed.reset_mock()
        with self.assertLogs() as logged:
            released.set()
            stuck.worker.submit(lambda: None).result()
        rest.changed.assert_called_once_with(stuck)
        self.assertEqual(len(logged.output), 1)
        self.assertIn("IndexError", logged.output[0])

    async def test_a_flood_of_empty_messages_ends_the_connection(self):
        for frame in b"\x81\x80abcd", b"\x89\x80abcd":  # texts, pings
            reader, writer = await self.open_raw_socket()
            writer.write(frame * 170_000)
            began = time.monotonic()
            try:
                self.assertLess(len(await reader.read(-1)), 10**6)
            except ConnectionError:
                pass
            self.assertLess(time.monotonic() - began, 3)
            writer.transport.abort()

    async def test_a_page_without_a_pong_loses_its_place(self):
        gone, here = (server.Viewer(types.SimpleNamespace(closed=closed), mock.Mock()) for closed in (True, False))
        rest = types.SimpleNamespace(cameras=[], viewers=[gone, here], end_idle=mock.Mock(), runner=mock.MagicMock())
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(server.Server.watch(rest), 1.5)
        gone.connection.end.assert_called_once_with()
        here.connection.end.assert_not_called()

    async def test_a_page_that_does_not_read_costs_nothing(self):
        _, writer = await self.open_raw_socket()
        text = json.dumps({"do": "watch", "cameras": {"0": "whole", "1": "whole"}}).encode()
        writer.write(bytes([0x81, 0x80 | len(text), 0, 0, 0, 0]) + text)
        writer.transport.pause_reading()
        before = live.memory()
        async with Page(live) as page:
            await page.watch(CAMERA)
            for _ in range(15):
                await page.next_picture()
        self.assertLess(live.memory(), before + 32 * 2**20)
        writer.close()

    async def test_nonsense_does_no_harm(self):
        chance = random.Random(1)
        words = ["set", "steps", "watch", "compare", "zones", "pause", "step", "seek", "", None, 0, 1, -1, 1e99, True, [], {}, [[]],
                 "cudacanny", "left", "right", "low-threshold", "backend", {"0": "tile"}, "\0", "x" * 3000,
                 {"lines": [], "zones": []}, [{"element": "cudahog", "properties": {"bins": 1}}]]
        keys = ["do", "camera", "side", "step", "values", "steps", "on", "zones", "frames", "seconds", "cameras"]
        async with Page(live) as page:
            for _ in range(300):
                command = {key: chance.choice(words) for key in chance.sample(keys, chance.randint(1, len(keys)))}
                broken = chance.choice(["", "{", "[" * 9999, "nul", "\x7f", '"'])
                await page.socket.send_str(json.dumps(command) if chance.random() < 0.9 else broken)
            self.assertEqual(await page.do("steps", steps=EDGES), "")
            self.assertEqual(await page.do("steps", VIDEO, steps=EDGES), "")
            for camera in CAMERA, VIDEO:
                await page.do("pause", camera, on=False)
            await page.watch(CAMERA)
            await page.next_picture()

    def test_cameras_may_open_as_many_files_as_the_system_allows(self):
        soft, hard = resource.prlimit(live.process.pid, resource.RLIMIT_NOFILE)
        self.assertEqual(soft, hard)

    async def test_a_stranger_fills_neither_memory_nor_descriptors_nor_the_log(self):
        other = Live("--listen", "0.0.0.0", TEST_PICTURE)
        try:
            before, hoard, flood = other.memory(), [], b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2000
            for _ in range(12):  # requests whose answers nobody reads
                stranger = socket.create_connection(("127.0.0.1", other.port))
                stranger.setblocking(False)
                hoard.append(stranger)
            for _ in range(200):
                for stranger in hoard:
                    try:
                        stranger.send(flood)
                    except OSError:
                        pass
                await asyncio.sleep(0.005)
            upgrade = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n" + flood
            packed = zlib.compress(bytes(1 << 26))
            bomb = (f"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: deflate\r\nContent-Length: {len(packed)}\r\n\r\n"
                    .encode() + packed)
            for request in [upgrade] * 20 + [bomb] * 20:
                with socket.create_connection(("127.0.0.1", other.port)) as stranger:
                    stranger.setblocking(False)
                    try:
                        stranger.send(request)
                    except OSError:
                        pass
                    await asyncio.sleep(0.02)
            self.assertLess(other.memory() - before, 30e6)
            files = other.files()
            for _ in range(400):  # connections that have asked once and stay
                stranger = socket.create_connection(("127.0.0.1", other.port))
                stranger.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                hoard.append(stranger)
            await asyncio.sleep(1)
            self.assertLess(other.files() - files, server.MOST_OF_ADDRESS + 20)
            self.assertEqual((await get("/healthz", base=f"http://127.0.0.1:{other.port}"))[0], 401)
        finally:
            for stranger in hoard:
                stranger.close()
            _, said = other.stop()
        self.assertLess(len(said), 3000, said)

    async def test_a_listener_in_a_network_needs_the_token(self):
        other = Live("--listen", "0.0.0.0", TEST_PICTURE)
        try:
            base, token = f"http://127.0.0.1:{other.port}", other.address.partition("?token=")[2]
            self.assertGreaterEqual(len(token), 32)
            for path in "/", "/metrics", "/healthz", "/socket", "/page/main.js", "/?token=wrong", "/?token=":
                self.assertEqual((await get(path, base=base))[0], 401, path)
            self.assertEqual((await get("/?token=" + token, base=base, Host="evil.example"))[0], 403)
            status, headers, _ = await get("/?token=" + token, base=base)
            self.assertEqual((status, headers["Location"]), (303, "./"))  # relative: a proxy can have put it under a path
            cookie = headers["Set-Cookie"]
            self.assertIn("HttpOnly", cookie)
            self.assertIn("SameSite=Lax", cookie)  # the printed link works where another site shows it
            self.assertNotIn(token, cookie)
            self.assertNotIn("Path", cookie)
            self.assertEqual((await get("/", base=base, Cookie=cookie.partition(";")[0]))[0], 200)
            for others in "a/b=1; ", "x[y]=1; ", "=; b; ", cookie.partition("=")[0] + "=old; ":  # of other servers of this host
                self.assertEqual((await get("/", base=base, Cookie=others + cookie.partition(";")[0]))[0], 200, others)
            self.assertEqual((await get("/", base=base, Cookie=cookie.partition("=")[0] + "=wrong"))[0], 401)
            self.assertEqual((await get("/metrics", base=base, Authorization=f"Bearer {token}"))[0], 200)
            self.assertEqual((await get("/metrics", base=base, Authorization="Bearer wr\u00f6ng"))[0], 401)
        finally:
            status, said = other.stop()
        self.assertEqual(status, 0)
        self.assertIn("There is no TLS", said)

    async def test_what_cannot_be_started_says_why(self):
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        wrong = ((["/nowhere.mp4"], "/nowhere.mp4: no file, device, address or source element"),
                 ([str(folder)], "neither a file nor a device"),
                 (["--elements", "cudacanny aperture=4"], 'could not set property "aperture"'),
                 (["--elements", "filesink"], 'no element "filesink"'),
                 (["--elements", "cudacanny low"], "is no element with properties"),
                 (["--elements", "cudacanny color='lime"], "No closing quotation"),
                 (["videotestsrc pattern=none"], 'could not set property "pattern"'),
                 (["videotestsrc ! '"], "No closing quotation"),
                 (["x" * 5000], "no file, device, address or source element"),
                 (["--folder", "/nowhere"], "/nowhere: no such folder"),
                 (["--name", "https://cams.example.org/"], "a host name is without https://"),
                 (["--port", "99999"], "port must be 0-65535"),
                 (["--port", str(taken.getsockname()[1])], "ddress already in use"))
        starts = [asyncio.to_thread(Live, *arguments) for arguments, _ in wrong]
        for (arguments, text), failed in zip(wrong, await asyncio.gather(*starts, return_exceptions=True)):
            self.assertIsInstance(failed, AssertionError, arguments)
            self.assertIn(text, str(failed))
            self.assertNotIn("Traceback", str(failed))


if __name__ == "__main__":
    unittest.main(verbosity=2)
