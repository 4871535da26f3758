# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of cudavision-live share: the program as a process, a page that is simulated, and short videos."""
import asyncio
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import aiohttp

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIVE = ROOT / "examples" / "live" / "live.py"
SECONDS = 60  # the longest wait for anything: machines can be busy
TEST_PICTURE = "videotestsrc is-live=true pattern=ball ! video/x-raw,width=160,height=120,framerate=15/1"


def skip_without_video_elements():
    names = "jpegenc", "avimux", "avidemux", "jpegdec", "decodebin"
    missing = [name for name in names if subprocess.run(["gst-inspect-1.0", "--exists", name], check=False).returncode]
    if missing:
        print("skipped: GStreamer lacks " + ", ".join(missing))
        sys.exit(77)


def make_video(path, frames=30):
    """A ball that moves over noise: each frame differs from the others."""
    subprocess.run(["gst-launch-1.0", "-q", "videotestsrc", "pattern=ball", f"num-buffers={frames}", "!",
                    "video/x-raw,format=I420,width=160,height=120,framerate=10/1", "!", "jpegenc", "!", "avimux", "!",
                    "filesink", f"location={path}"], check=True)
    return str(path)


def make_portrait(path, upright):
    """The same frames as a phone stores them: sideways, with a note that players turn them."""
    subprocess.run(["gst-launch-1.0", "-q", "filesrc", f"location={upright}", "!", "decodebin", "!", "videoconvert", "!",
                    "video/x-raw,format=GRAY8", "!", "videoflip", "video-direction=90l", "!", "pngenc", "!", "qtmux", "!",
                    "filesink", f"location={path}"], check=True)
    subprocess.run([sys.executable, str(ROOT / "tests" / "examples" / "turned_video.py"), path], check=True)
    return str(path)


class Live:
    """The program as a process. It listens when this returns."""

    def __init__(self, *arguments):
        self.said = tempfile.TemporaryFile("w+", encoding="utf-8")
        self.process = subprocess.Popen([sys.executable, str(LIVE), "--port", "0", *arguments], text=True,
                                        stdout=subprocess.PIPE, stderr=self.said)
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            raise AssertionError(self.stop()[1])
        self.base = self.address.partition("/?")[0].rstrip("/")
        self.port = int(self.base.rpartition(":")[2])

    def stop(self):
        """Ends it within five seconds. Returns its exit status and what it has said on the standard error."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        with self.process.stdout, self.said:
            self.said.seek(0)
            return self.process.returncode, self.said.read()

    def threads(self):
        return len(os.listdir(f"/proc/{self.process.pid}/task"))

    def names_of_threads(self):
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task")
        return sorted(path.read_text(encoding="utf-8").strip() for path in tasks.glob("*/comm"))

    def files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def memory(self):
        """Bytes of the process in RAM."""
        pages = pathlib.Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")


class Page:
    """A page without a browser. `async with Page(live) as page`."""

    def __init__(self, live, **headers):
        self.live, self.headers = live, headers
        self.states, self.pictures, self.results, self.numbers, self.hello = {}, {}, {}, None, None
        self.serial, self.replies = 0, {}

    async def __aenter__(self):
        self.session = aiohttp.ClientSession()
        try:
            self.socket = await self.session.ws_connect(self.live.base.replace("http", "ws") + "/socket", headers=self.headers,
                                                        max_msg_size=0)
        except aiohttp.ClientError:
            await self.session.close()
            raise
        self.reader = asyncio.create_task(self.read())
        await self.until(lambda: self.states)
        return self

    async def __aexit__(self, *_error):
        self.reader.cancel()
        await self.socket.close()
        await self.session.close()

    async def read(self):
        async for message in self.socket:
            if message.type == aiohttp.WSMsgType.BINARY:
                key = message.data[0], ("left", "right")[message.data[1]]
                self.pictures.setdefault(key, []).append((int.from_bytes(message.data[2:10], "big"), message.data[10:]))
                continue
            told = json.loads(message.data)
            if "reply" in told:
                self.replies[told["reply"]] = told["error"]
            elif "state" in told:
                self.states[told["state"]["camera"]] = told["state"]
            elif "results" in told:
                self.results[told["results"], told["side"]] = told
            elif "numbers" in told:
                self.numbers = told["numbers"]
            else:
                self.hello = told["elements"]

    async def until(self, condition):
        """Waits until the condition holds, and returns its value."""
        for _ in range(SECONDS * 50):
            if value := condition():
                return value
            if self.reader.done() and self.reader.exception():
                raise self.reader.exception()
            await asyncio.sleep(0.02)
        raise AssertionError("this did not come")

    async def do(self, what, camera=0, **more):
        """Sends a command, and returns the error of the reply."""
        self.serial += 1
        number = self.serial
        await self.socket.send_json({"id": number, "do": what, "camera": camera, **more})
        await self.until(lambda: number in self.replies)
        return self.replies[number]

    async def watch(self, *cameras, kind="whole"):
        return await self.do("watch", cameras={str(camera): kind for camera in cameras})

    async def next_picture(self, camera=0, side="left"):
        """The next picture that comes, with its time in microseconds."""
        before = len(self.pictures.get((camera, side), ()))
        await self.until(lambda: len(self.pictures.get((camera, side), ())) > before)
        return self.pictures[camera, side][-1]

    async def next_results(self, camera=0, side="left"):
        self.results.pop((camera, side), None)
        return await self.until(lambda: self.results.get((camera, side)))

    def steps(self, camera=0, side="left"):
        return self.states[camera]["sides"][side]["steps"]

    def values(self, camera=0, step=0, side="left"):
        return self.steps(camera, side)[step]["values"]
