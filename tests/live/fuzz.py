#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sends random requests and commands to cudavision-live, and checks that it still works and has not grown.

usage: fuzz.py [COUNT]     default: 100,000. CUDAVISION_FUZZ_SEED repeats a run

Before them come a hundredth as many steps that a page could take: other elements, values within their ranges, pauses.
The program imports NumPy before GStreamer.
"""
import asyncio
import collections
import json
import os
import random
import sys
import tempfile
import time

from live_server import TEST_PICTURE, Live, Page, make_video

WORKERS = 8
WORDS = [
    "set", "steps", "watch", "compare", "zones", "pause", "step", "seek", "left", "right", "up", "", None, 0, 1, 2, -1,
    0.5, 1e99, 2**70, True, False, [], {}, [[]], "cudacanny", "cudahog", "low-threshold", "backend", "tile", "whole",
    {"0": "tile", "1": "whole"}, {"0": 1}, "\0", "\ud800", "x" * 3000, {"low-threshold": 30},
    {"low-threshold": "1e400"}, {"backend": "cpu"}, {"roi-x": 5, "roi-width": 7}, {"color": "\u202e"},
    {"model-location": "/dev/zero"}, {"lines": [], "zones": []},
    {"lines": [{"name": "a", "from": [0, 0], "to": [9, 9]}], "zones": [{"name": "b", "polygon": [[0, 0]]}]},
    [{"element": "cudacanny", "properties": {}}], [{"element": "cudahistogram", "properties": {"bins": 300}}],
    [{"element": "filesink"}], [{}]]
KEYS = [
    "do", "camera", "side", "step", "values", "steps", "on", "zones", "frames", "seconds", "cameras", "id"]
PATHS = [
    "/", "/page/main.js", "/page/../live.py", "/page/%00", "/socket", "/healthz", "/metrics", "/cameras/0/left.json",
    "/cameras/0/right/seconds.json", "/cameras/-1/ä.json", "/?token=x", "*", "", "//", "http://evil.example/", "/" + "a" * 9000]
HEADERS = [
    "Host: localhost", "Host: evil.example", "Host: [", "Host:", "Origin: http://localhost", "Origin: http://[",
    "Origin: null", "Cookie: cudavision_1=\xff", "Cookie: ;;=", "Authorization: Bearer \xe9", "Content-Length: 5",
    "Content-Length: -1", "Transfer-Encoding: chunked", "Connection: close", "Connection: Upgrade",
    "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAA", "Expect: 100-continue",
    "Range: bytes=0-", "X: " + "y" * 9000, ": empty", "no colon"]


def command(chance):
    if chance.random() < 0.1:
        return "".join(chance.choice('",:[]{}' + chr(chance.randrange(1, 0xd7ff))) for _ in range(chance.randrange(60)))
    chosen = {key: chance.choice(WORDS) for key in chance.sample(KEYS, chance.randint(1, len(KEYS)))}
    if chance.random() < 0.8:
        chosen |= {"do": chance.choice(WORDS[:8]), "camera": chance.choice((0, 1))}
    return json.dumps(chosen)


def request(chance):
    if chance.random() < 0.1:
        return chance.randbytes(chance.randrange(1, 200))
    method = chance.choice(("GET", "GET", "GET", "POST", "HEAD", "PRI", "gä"))
    lines = [f"{method} {chance.choice(PATHS)} HTTP/1.{chance.choice('01119')}",
             *chance.sample(HEADERS, chance.randrange(6)), *(["Host: localhost"] if chance.random() < 0.7 else []), "", ""]
    return "\r\n".join(lines).encode("utf-8", "replace")


async def send_requests(live, chance, count):
    """Several on each connection, as long as the server keeps it open."""
    while count > 0:
        reader, writer = await asyncio.open_connection("127.0.0.1", live.port)
        try:
            for _ in range(chance.randint(1, 20)):
                count -= 1
                writer.write(request(chance))
                await asyncio.wait_for(reader.read(4096), 0.02)
        except (asyncio.TimeoutError, OSError):
            pass
        writer.transport.abort()


async def send_commands(live, chance, count):
    while count > 0:
        async with Page(live) as page:
            for _ in range(min(count, chance.randint(1, 500))):
                count -= 1
                await page.socket.send_str(command(chance))
            await page.do("pause", on=False)


def a_value(chance, its):
    """A value within the range of a property, often a usual one."""
    if its["kind"] in ("int", "float"):
        usual = min(its["max"], its["min"] + 24)
        return (round if its["kind"] == "int" else float)(chance.choice((
            its["min"], its["max"], its["default"], chance.uniform(its["min"], usual), chance.uniform(its["min"], its["max"]))))
    if its["kind"] == "enum":
        return chance.choice(its["options"])[0]
    return chance.random() < 0.5 if its["kind"] == "bool" else chance.choice(("", "person", "red", "#80ff0000", "*"))


async def take_steps(live, chance, count):
    """A refusal is an answer, and so is that steps work for long; a fault is none."""
    taken = collections.Counter()
    async with Page(live) as page:
        await page.watch(0, 1)
        for _ in range(count):
            camera = chance.choice((0, 1))
            steps = page.steps(camera)
            what = "set" if steps and chance.random() < 0.7 else chance.choice(("steps", "compare", "pause", "seek", "step"))
            more = {"on": chance.random() < 0.5, "seconds": 3 * chance.random(), "frames": chance.choice((1, -1)),
                    "steps": [{"element": name, "properties": {}} for name in chance.sample(list(page.hello), chance.randint(1, 3))]}
            if what == "set":
                number = chance.randrange(len(steps))
                its = chance.choice(page.hello[steps[number]["element"]]["properties"])
                more |= {"step": number, "values": {its["name"]: a_value(chance, its)}}
            error = await page.do(what, camera, **more)
            assert "fault" not in error, (what, more, error)
            taken[what + (" refused" if error else "")] += 1
    print(f"{count} steps:", ", ".join(f"{times} {what}" for what, times in sorted(taken.items())), flush=True)


async def main(live, seed, count):
    await take_steps(live, random.Random(seed), count // 100)
    share = count // WORKERS
    before = None
    for part in range(4):
        chances = [random.Random(f"{seed} {part} {worker}") for worker in range(WORKERS)]
        await asyncio.gather(*((send_commands if worker % 4 == 3 else send_requests)(live, chances[worker], share // 4)
                               for worker in range(WORKERS)))
        async with Page(live) as page:
            for camera in 0, 1:
                assert await page.do("steps", camera, steps=[{"element": "cudacanny", "properties": {}}]) == ""
                assert await page.do("compare", camera, on=False) == "" and await page.do("pause", camera, on=False) == ""
            await page.watch(0, 1)
            await page.next_picture(0)
            await page.next_picture(1)
        await asyncio.sleep(3)
        now = live.threads(), live.files(), live.memory() >> 20
        before = before or now
        print(f"{(part + 1) * count // 4} requests and commands: {now[0]} threads, {now[1]} files, {now[2]} MiB", flush=True)
    assert now[0] <= before[0] + 3 and now[1] <= before[1] + 5 and now[2] <= before[2] + 60, (before, now)


if __name__ == "__main__":
    chosen = int(os.environ.get("CUDAVISION_FUZZ_SEED", time.time_ns() % 10**6))
    print(f"CUDAVISION_FUZZ_SEED={chosen}")
    with tempfile.TemporaryDirectory() as temporary:
        with open(f"{temporary}/sitecustomize.py", "w", encoding="ascii") as file:  # Python imports it before the program
            file.write("import numpy\n")
        os.environ["PYTHONPATH"] = temporary + ":" + os.environ.get("PYTHONPATH", "")
        program = Live(TEST_PICTURE, make_video(f"{temporary}/in.avi"))
        try:
            asyncio.run(main(program, chosen, int(sys.argv[1]) if len(sys.argv) > 1 else 100000))
        finally:
            status, said = program.stop()
        faults = [line for line in said.splitlines() if "Traceback" in line or "CRITICAL" in line]
        assert status == 0 and not faults, (status, said[-3000:])
