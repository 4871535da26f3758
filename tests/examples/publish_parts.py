# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of cudavision-publish share: the program, Debian's mosquitto and its subscriber, a proxy that cuts
connections, a server for HTTP, and lines of cudavisionjson."""
import asyncio
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from aiohttp import web
from waiting import SECONDS, until

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "examples" / "publish" / "publish.py"
UNPACKED = ROOT / "build-data" / "usr"  # by tests/run.sh, if mosquitto is not installed
PROGRAMS = os.pathsep.join([os.environ["PATH"], "/usr/sbin", str(UNPACKED / "sbin"), str(UNPACKED / "bin")])
MISSING = [name for name in ("mosquitto", "mosquitto_passwd", "mosquitto_sub", "openssl") if not shutil.which(name, path=PROGRAMS)]
LIBRARIES = os.pathsep.join(str(folder) for folder in (UNPACKED / "lib").glob("*-linux-gnu*"))
TOPIC = "cams/{source}/{event}"


def line(number, source="door", event=True, **members):
    """A line of cudavisionjson, as the schema wants it."""
    crossing = {"event": "cross", "name": "door", "id": number + 1, "type": "person", "x": 1.5, "y": 2.0, "direction": "in",
                "running-time": number * 10**8}
    record = {"source": source, "frame": number, "pts": number * 10**8, "running-time": number * 10**8, "width": 64, "height": 48,
              "regions": [], "events": [crossing] if event else [], "zones": [], "tensors": [], **members}
    return json.dumps(record, separators=(",", ":"))


def run_unpacked(*command, **more):
    """Starts a program of the package mosquitto."""
    found = shutil.which(command[0], path=PROGRAMS)
    environment = {**os.environ, "LD_LIBRARY_PATH": LIBRARIES} if found.startswith(str(UNPACKED)) else None
    return subprocess.Popen([found, *command[1:]], env=environment, **more)


def text(lines):
    return "".join(one + "\n" for one in lines)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Broker:
    """Debian's mosquitto on a port of its own. `more` are lines of its configuration."""

    def __init__(self, folder, more=""):
        self.port, self.folder = free_port(), pathlib.Path(tempfile.mkdtemp(dir=folder))
        self.folder.chmod(0o777)  # mosquitto gives up root's rights
        settings = f"listener {self.port} 127.0.0.1\nmax_queued_messages 0\nmax_inflight_messages 0\nuser root\nlog_type error\nlog_type subscribe\n"
        settings += f"persistence true\npersistence_location {self.folder}/\n"
        (self.folder / "conf").write_text(settings + (more or "allow_anonymous true\n"), encoding="utf-8")
        self.start()

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = run_unpacked("mosquitto", "-c", self.folder / "conf", stdout=log, stderr=log)
        until(self.listens, "mosquitto listens")

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
            return True
        except OSError:
            return False

    def save(self):
        """Writes its sessions to the disk."""
        base = self.folder / "mosquitto.db"
        base.unlink(missing_ok=True)
        self.process.send_signal(signal.SIGUSR1)
        until(base.exists, "mosquitto saves")

    def kill(self):
        self.process.kill()
        self.process.wait()


class Subscriber:
    """mosquitto_sub, whose session the broker keeps. Each line of its file: whether it was retained, topic, message."""

    def __init__(self, broker, *options, topic="#"):
        self.file = broker.folder / f"received{time.monotonic_ns()}"
        with open(self.file, "wb") as file:
            self.process = subprocess.Popen(["mosquitto_sub", "-h", "127.0.0.1", "-p", str(broker.port), "-i", self.file.name, "-c", "-q", "1", "-t", topic,
                                             "-F", "%r %t %p", *options], stdout=file, stderr=subprocess.DEVNULL)
        until(lambda: f"{self.file.name} 1 {topic}" in (broker.folder / "log").read_text(encoding="utf-8"), "the subscription")

    def lines(self):
        whole = self.file.read_text(encoding="utf-8").rpartition("\n")[0]
        return [one.split(" ", 2) for one in whole.split("\n") if one]

    def messages(self, count):
        """Waits for so many messages, and returns pairs of topic and message."""
        found = until(lambda: len(got := self.lines()) >= count and got, f"{count} messages in {self.file}")
        return [(topic, json.loads(body)) for _, topic, body in found]

    def stop(self):
        self.process.kill()
        self.process.wait()


class Publisher:
    """The program, with a spool of its own in the folder."""

    def __init__(self, folder, target, *options, stdin=subprocess.PIPE, spool="spool", program=(sys.executable, PROGRAM), **environment):
        self.said = pathlib.Path(folder) / f"said{time.monotonic_ns()}"
        with open(self.said, "w", encoding="utf-8") as said:
            self.process = subprocess.Popen([*program, target, "--spool", pathlib.Path(folder) / spool, *options], text=True, stdin=stdin, stderr=said,
                                            env={**os.environ, **environment})

    def write(self, lines):
        self.process.stdin.write(text(lines))
        self.process.stdin.flush()

    def end(self, lines=(), seconds=SECONDS):
        """Writes the lines and closes the input. Returns the exit status and what the program has said."""
        if self.process.stdin:
            self.write(lines)
            self.process.stdin.close()
        return self.process.wait(seconds), self.told()

    def told(self):
        return self.said.read_text(encoding="utf-8")

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(SECONDS)

    def clean_up(self):
        self.process.kill()
        self.process.wait()
        if self.process.stdin:
            self.process.stdin.close()


class Cutter:
    """A proxy in front of a port. It cuts its connection after each `step` bytes that came from the client, `cuts` times."""

    def __init__(self, port, step, cuts):
        self.target, self.step, self.left, self.cuts = port, step, cuts, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            client = self.listener.accept()[0]
            server = socket.create_connection(("127.0.0.1", self.target))
            back = threading.Thread(target=self.copy, args=(server, client, None), daemon=True)
            back.start()
            self.copy(client, server, self.step if self.left else None)
            for end in client, server:
                end.close()
            back.join()

    def copy(self, source, sink, most):
        try:
            while data := source.recv(1 << 16):
                if most is not None and len(data) >= most:
                    sink.sendall(data[:most])  # the rest is lost, in the middle of a message
                    self.left, self.cuts = self.left - 1, self.cuts + 1
                    break
                most = most and most - len(data)
                sink.sendall(data)
        except OSError:
            pass
        for end in source, sink:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Server:
    """A server for HTTP, in a thread. `answers` are what it does with the next requests: a status, "late" or "never";
    it then answers 204. What it has confirmed is in `confirmed`, and all requests are in `requests`."""

    def __init__(self, *answers):
        self.answers, self.requests, self.confirmed = list(answers), [], []
        self.loop, started = asyncio.new_event_loop(), threading.Event()
        threading.Thread(target=self.run, args=(started,), daemon=True).start()
        started.wait(SECONDS)

    def run(self, started):
        app = web.Application(client_max_size=1 << 24)
        app.router.add_post("/{path:.*}", self.post)
        runner = web.AppRunner(app)
        self.loop.run_until_complete(runner.setup())
        self.loop.run_until_complete(web.TCPSite(runner, "127.0.0.1", 0).start())
        self.port = runner.addresses[0][1]
        started.set()
        self.loop.run_forever()

    async def post(self, request):
        try:
            body = await request.read()
        except ConnectionResetError:
            return web.Response()  # nobody reads it
        self.requests.append((request.path, dict(request.headers), body))
        answer = self.answers.pop(0) if self.answers else 204
        if answer in ("late", "never"):
            await asyncio.sleep(3 if answer == "late" else 3600)
        if answer in ("late", 204):
            self.confirmed.append(body)
        return web.Response(status=answer if isinstance(answer, int) else 204)


def first_of_each(numbers):
    """The numbers without repetitions."""
    return list(dict.fromkeys(numbers))
