# SPDX-License-Identifier: LGPL-2.1-or-later
"""The web server: it checks requests, and carries pictures, results and commands over one WebSocket for each page."""
import asyncio
import functools
import hmac
import html
import ipaddress
import json
import logging
import pathlib
import resource
import secrets
import socket
import time
import urllib.parse

import elements
import results
from aiohttp import WSMsgType, web, web_protocol, web_server
from aiohttp.http_exceptions import HttpProcessingError
from elements import Refused

PAGE = pathlib.Path(__file__).resolve().parent / "page"
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
                               "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
}
MOST_VIEWERS, MOST_CONNECTIONS, MOST_OF_ADDRESS, MOST_WAITING = 64, 256, 128, 256
MOST_REQUESTS = 8  # of one connection that wait for an answer: browsers send one request after the other
MOST_UNREAD = 512  # messages of a page that wait while one of its commands is done
LONGEST_HEAD = 8192  # bytes that may follow a request to upgrade before it is answered
SAME_LINE = 60  # seconds between two lines of one kind in the log
LONGEST_COMMAND = 1 << 18  # bytes
LONGEST_WORK = 10  # seconds that a page waits for a command
MOST_NAMES = 1024  # of lines and zones whose events are counted, from the start of the program on
# Seconds between two results for a page, the same for long results, and the bytes from which on a result is long.
RESULTS, LONG_RESULTS, LONG_LINE = 0.1, 1.0, 100_000


PROXY = ("A reverse proxy must cut its own path off, and pass WebSockets on: the section \"Behind a reverse proxy\" of "
         "examples/live/README.md shows how.")


class Viewer:
    """A page that is open. Few messages wait to be sent to it: a newer picture replaces an older one."""

    def __init__(self, socket_of_page, connection=None):
        self.socket, self.connection, self.waiting, self.wake = socket_of_page, connection, {}, asyncio.Event()
        self.watches = {}  # what the page shows of each camera: tile or whole

    def put(self, key, message):
        if key not in self.waiting and len(self.waiting) >= MOST_WAITING:
            return
        self.waiting[key] = message
        self.wake.set()

    async def send(self):
        while True:
            await self.wake.wait()
            self.wake.clear()
            while self.waiting:
                message = self.waiting.pop(next(iter(self.waiting)))
                try:
                    message = message() if callable(message) else message
                except Exception:  # only this message is lost: the connection of the page goes on
                    logging.exception("a page does not get a state")
                    continue
                if isinstance(message, bytes):
                    await self.socket.send_bytes(message)
                else:
                    await self.socket.send_str(json.dumps(message))


class Connection(web_protocol.RequestHandler):
    """A connection on which few requests and messages can wait. aiohttp's server uses this class in place of its own one."""

    owner = None  # the Server
    page = None  # its WebSocket

    def connection_made(self, transport):
        super().connection_made(transport)
        self.owner.make_room(self)

    def data_received(self, data):
        for first in range(0, len(data), 2048):
            super().data_received(data[first : first + 2048])
            # aiohttp keeps the bytes that follow a request to upgrade in _message_tail, until the request is answered.
            if len(self._messages) > MOST_REQUESTS or len(getattr(self, "_message_tail", b"")) > LONGEST_HEAD:
                while len(self._messages) > 1:
                    self._messages.pop()
                self.end()
                return
            # aiohttp bounds the bytes of the messages that wait, but some versions count empty ones and pings as none.
            if len(getattr(getattr(self.page, "_reader", None), "_buffer", ())) > MOST_UNREAD:
                self.end()
                return

    def address(self):
        return (self.transport and self.transport.get_extra_info("peername") or ("",))[0]

    def end(self):
        """Closes the connection at once, also if it holds data that was not read yet."""
        transport = self.transport
        self.force_close()
        if transport:
            transport.abort()


web_server.RequestHandler = Connection


class SparseLines(logging.Filter):
    """Nobody can fill the log with malformed requests, by breaking connections, or by one fault again and again."""

    def __init__(self):
        super().__init__()
        self.last = {}  # when a line of this kind was written

    def filter(self, record):
        error = (record.exc_info or (None, None))[1]
        about = record.args[0] if isinstance(record.args, tuple) and record.args else None  # a camera's number, say
        kind, now = (record.pathname, record.lineno, type(error).__name__, str(about)[:20]), time.monotonic()
        # aiohttp 3.8 asserts in a task of its own that a connection still stands when its request begins.
        broken = isinstance(error, AssertionError) and record.name == "asyncio"
        if broken or isinstance(error, (HttpProcessingError, ConnectionError)) or now - self.last.get(kind, -SAME_LINE) < SAME_LINE:
            return False
        self.last = {known: then for known, then in self.last.items() if now - then < SAME_LINE} | {kind: now}
        return len(self.last) < MOST_WAITING


class Server:
    """options: listen, port, name (host names of the machine). token: None if the server listens on loopback only."""

    def __init__(self, options, catalogue, token):
        self.options, self.token = options, token
        self.session = secrets.token_urlsafe(32)  # the value of the cookie
        self.given = {name.lower() for name in options.name}  # each with a port, if it is not the usual one of its scheme
        self.names = {"localhost", socket.gethostname().lower(), options.listen.lower(),
                      *(place_of("http://" + name).hostname for name in self.given)}
        self.cameras, self.viewers, self.catalogue = [], set(), catalogue
        self.files = {path.name: (path.read_bytes(), TYPES[path.suffix]) for path in PAGE.iterdir() if path.suffix in TYPES}
        self.served, self.suspects = set(), set()  # connections with a request; those without one a second ago
        self.sockets = set()  # the connections of open pages
        self.most_connections = MOST_CONNECTIONS
        self.sent = {}  # when results were sent last, for each camera and side
        self.loop = asyncio.get_running_loop()

    async def start(self):
        for name in "aiohttp.server", "asyncio", "root":
            logging.getLogger(name).addFilter(SparseLines())
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))  # a camera with two sides takes 25
        self.most_connections = min(MOST_CONNECTIONS, max(MOST_VIEWERS, files // 4)) if files > 0 else MOST_CONNECTIONS
        Connection.owner = self
        app = web.Application(middlewares=[self.guard], client_max_size=1024)
        app.add_routes([web.get("/", self.index), web.get("/page/{name}", self.file), web.get("/socket", self.open_socket),
                        web.post("/socket", self.explain),
                        web.get("/healthz", self.health), web.get("/metrics", self.metrics),
                        web.get(r"/cameras/{number:[0-9]{1,2}}/still.jpg", self.still),
                        web.get(r"/cameras/{number:[0-9]{1,2}}/{side}.json", self.line),
                        web.get(r"/cameras/{number:[0-9]{1,2}}/{side}/{shown:visits|seconds|speed}.json", self.heat)])
        self.runner = web.AppRunner(app, access_log=None, handle_signals=False, keepalive_timeout=30, auto_decompress=False)
        await self.runner.setup()
        family = socket.AF_INET6 if ":" in self.options.listen else socket.AF_INET
        listener = socket.create_server((self.options.listen, self.options.port), family=family, backlog=64)
        self.options.port = listener.getsockname()[1]
        self.cookie = f"cudavision_{self.options.port}"
        await web.SockSite(self.runner, listener).start()

    async def stop(self):
        for viewer in list(self.viewers):
            await viewer.socket.close(code=1001)
        await self.runner.cleanup()

    async def watch(self):
        """Every second: the cameras are looked after, pages get numbers, and connections that ask for nothing end."""
        while True:
            await asyncio.sleep(1)
            for camera in self.cameras:
                camera.tick()
            message = {"numbers": [camera.counters() for camera in self.cameras], "at": time.monotonic()}
            for viewer in self.viewers:
                viewer.put("numbers", message)
                if viewer.socket.closed:  # without a pong aiohttp ends the socket, but waits until the page has read all
                    viewer.connection.end()
            self.end_idle(set(self.runner.server.connections))

    def end_idle(self, connections):
        self.served &= connections
        idle = connections - self.served
        for connection in idle & self.suspects:
            connection.end()
        self.suspects = idle

    def make_room(self, new):
        """Ends the oldest connection without a page if the new one's address, or all together, have too many."""
        others = [connection for connection in self.runner.server.connections if connection is not new]
        mine = [connection for connection in others if connection.address() == new.address()]
        for group, most in (mine, min(MOST_OF_ADDRESS, self.most_connections)), (others, self.most_connections):
            if len(group) >= most:
                next((connection for connection in group if connection not in self.sockets), new).end()
                return

    # Requests.

    @web.middleware
    async def guard(self, request, handler):
        self.served.add(request.protocol)
        try:
            response = await self.answer_to(request, handler)
        except web.HTTPException as error:
            more = f" {PROXY}" if isinstance(error, web.HTTPNotFound) else ""
            response = web.Response(status=error.status, text=f"{error.status}: {error.reason}.{more}\n")
        except (ConnectionError, asyncio.CancelledError):
            raise
        except Exception:  # the client must not see its text
            logging.exception("a request failed")
            response = web.Response(status=500, text="cudavision-live has a fault: its log says more\n")
        if not response.prepared:
            response.headers.update(HEADERS)
            if response.status >= 400:
                response.force_close()
        return response

    async def answer_to(self, request, handler):
        wrong = self.wrong_host(request) or self.wrong_origin(request)
        if wrong:
            return web.Response(status=403, text=wrong + "\n")
        if request.body_exists:
            return web.Response(status=400, text="A request has no body.\n")
        if request.path == "/" and "token" in request.query:
            return self.exchange(request)
        if not self.known(request):
            return web.Response(status=401, text="Open the address that cudavision-live has printed: it holds the token.\n")
        return await handler(request)

    def wrong_host(self, request):
        """Refuses other host names than those of this machine (DNS rebinding): a page of another host, whose name was
        made to lead here, sends that name as Host, and no IP address."""
        host = place_of("http://" + request.headers.get("Host", "")).hostname or ""
        try:
            ipaddress.ip_address(host)
        except ValueError:
            if host not in self.names:
                name = shown(host)
                return f"The host name {name} is not known here. Start cudavision-live with --name {name} if it is yours."
        return ""

    def wrong_origin(self, request):
        """Refuses what a page of another host asks. A proxy in front of the server may have another name and another port
        than its Host says: then --name has given them."""
        origin, host = request.headers.get("Origin"), request.headers.get("Host", "").lower()
        if origin is None or request.path.startswith("/page/"):  # browsers say where a module is for; all may read the files
            return ""
        place = place_of(origin)
        name = place.netloc.lower()
        if name == host or place.scheme in ("http", "https") and name in self.given:
            return ""
        return (f"A page of {shown(name)} asks {shown(host)}, and another host may not. If a proxy stands between them, start "
                f"cudavision-live with --name {shown(name)}, or let the proxy pass the header Host on. {PROXY}")

    def known(self, request):
        if self.token is None:
            return True
        bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
        # By hand: aiohttp refuses or loses all cookies if one of them, of another server on this host, is malformed.
        cookies = [part.strip().partition("=") for part in request.headers.get("Cookie", "").split(";")]
        return any(name == self.cookie and same(value, self.session) for name, _, value in cookies) or same(bearer, self.token)

    def exchange(self, request):
        if self.token is not None and not same(request.query["token"], self.token):
            return web.Response(status=401, text="This token is wrong.\n")
        response = web.Response(status=303, headers={"Location": "./"})
        # No path: the browser takes that of the page, which a proxy can have changed. Lax, so that a link in another site
        # leads to the page: commands need the WebSocket, whose Origin is checked.
        if self.token is not None:
            response.set_cookie(self.cookie, self.session, path="", httponly=True, samesite="Lax")
        return response

    async def index(self, _request):
        """The page, which says from its first moment on what its pictures wait for."""
        response = self.answer("index.html")
        waits = (f"{camera.source.name}: {camera.waits(camera.chains['left']) or 'the page connects …'}"
                 for camera in self.cameras)
        response.text = response.text.replace("Connecting to cudavision-live …", html.escape("\n".join(waits)))
        return response

    async def file(self, request):
        return self.answer(request.match_info["name"])

    def answer(self, name):
        if name not in self.files:
            raise web.HTTPNotFound
        body, content_type = self.files[name]
        return web.Response(body=body, content_type=content_type, charset="utf-8")

    async def health(self, _request):
        working = sum(camera.works() for camera in self.cameras)
        return web.Response(status=200 if working else 503, text=f"{working} of {len(self.cameras)} cameras deliver frames\n")

    async def metrics(self, _request):
        return web.Response(text=results.metrics(self.cameras, len(self.viewers)))

    def camera_of(self, request):
        number = int(request.match_info["number"])
        if number >= len(self.cameras):
            raise web.HTTPNotFound
        return self.cameras[number]

    def of_side(self, request, member):
        """What a member of the camera, a dictionary, has for the side that is asked for."""
        found = getattr(self.camera_of(request), member).get(request.match_info["side"])
        if found is None:
            raise web.HTTPNotFound
        return found

    async def still(self, request):
        camera = self.camera_of(request)
        picture = await asyncio.wrap_future(camera.worker.submit(camera.still))
        if picture is None:
            raise web.HTTPNotFound
        return web.Response(body=picture, content_type="image/jpeg")

    async def line(self, request):
        return web.Response(body=self.of_side(request, "lines"), content_type="application/json")

    async def heat(self, request):
        return web.json_response(self.of_side(request, "chains").heat.squares(request.match_info["shown"]))

    async def explain(self, _request):
        """Answers a page that could not open its WebSocket although guard() lets it ask."""
        if len(self.viewers) >= MOST_VIEWERS:
            return web.Response(status=503, text=f"{MOST_VIEWERS} pages are open already.\n")
        return web.Response(status=200, text=f"The page came through, but its WebSocket does not. {PROXY}\n")

    async def open_socket(self, request):
        if len(self.viewers) >= MOST_VIEWERS:
            raise web.HTTPServiceUnavailable
        if request.headers.get("Upgrade", "").lower() != "websocket":
            return web.Response(status=426, headers={"Upgrade": "websocket"}, text=f"This is a WebSocket. {PROXY}\n")
        page = web.WebSocketResponse(heartbeat=20, max_msg_size=LONGEST_COMMAND, compress=False)
        await page.prepare(request)
        request.protocol.page = page
        viewer = Viewer(page, request.protocol)
        self.viewers.add(viewer)
        self.sockets.add(request.protocol)
        known = {name: {"help": elements.summary(name), "properties": [p.page() for p in its.values() if not p.deprecated]}
                 for name, its in self.catalogue.items()}
        viewer.put("hello", {"cameras": len(self.cameras), "elements": known})
        for camera in self.cameras:
            viewer.put(("state", camera.number), functools.partial(self.state, camera))
        sender = asyncio.create_task(viewer.send())
        sender.add_done_callback(lambda done: done.cancelled() or done.exception() and request.protocol.end())
        try:
            async for message in page:
                if message.type == WSMsgType.TEXT:
                    await self.receive(viewer, message.data)
                await asyncio.sleep(0)  # others have their turn, also if many messages have come already
        finally:
            sender.cancel()
            self.viewers.discard(viewer)
            self.sockets.discard(request.protocol)
            self.count_watchers()
        return page

    # Commands of pages.

    async def receive(self, viewer, text):
        number, error = None, ""
        try:
            command = json.loads(text)
            if not isinstance(command, dict):
                raise Refused("a command is an object")
            number = command.get("id") if isinstance(command.get("id"), int) else None
            await self.do(viewer, command)
        except Refused as refused:
            error = str(refused)
        except (ValueError, RecursionError):
            error = "this is no command"
        except Exception:  # the page's connection must survive a fault
            logging.exception("a command failed")
            error = "cudavision-live has a fault: its log says more"
        if number is not None:
            viewer.put(("reply", number), {"reply": number, "error": error})

    async def do(self, viewer, command):
        what, number = command.get("do"), command.get("camera")
        if what == "watch":
            self.watch_cameras(viewer, command.get("cameras"))
            return
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(self.cameras):
            raise Refused("there is no such camera")
        camera = self.cameras[number]
        side = command.get("side", "left")
        if side not in ("left", "right"):
            raise Refused("the sides are left and right")
        work = {
            "set": lambda: camera.set(side, command.get("step"), command.get("values")),
            "steps": lambda: camera.set_steps(side, command.get("steps")),
            "compare": lambda: camera.compare(command.get("on") is True),
            "zones": lambda: camera.set_zones(command.get("zones")),
            "pause": lambda: camera.play(command.get("on") is True),
            "step": lambda: camera.step(a_number(command.get("frames"))),
            "seek": lambda: camera.seek(a_number(command.get("seconds"))),
        }.get(what if isinstance(what, str) else None)
        if work is None:
            raise Refused("there is no such command")
        future = camera.worker.submit(work)
        try:
            await asyncio.wait_for(asyncio.wrap_future(future), LONGEST_WORK)
        except asyncio.TimeoutError:  # so a camera that is stuck holds neither the page's other cameras nor its place
            future.add_done_callback(functools.partial(self.done_late, camera))
            more = "is still busy with an earlier command" if future.cancelled() else "still works on this"
            raise Refused(f"the camera {more} after {LONGEST_WORK} s") from None
        except Refused as refused:  # its traceback would keep the replaced steps, until the next collection of garbage
            raise refused.with_traceback(None)
        finally:  # first of all, so that pages get the state before the reply
            self.put_all(("state", camera.number), functools.partial(self.state, camera), None)

    def done_late(self, camera, future):
        """Called when a command is done whose page waits no longer."""
        self.changed(camera)
        if not future.cancelled() and future.exception() and not isinstance(future.exception(), Refused):
            logging.error("a command failed", exc_info=future.exception())

    def watch_cameras(self, viewer, watched):
        if not isinstance(watched, dict) or not all(kind in ("tile", "whole") for kind in watched.values()):
            raise Refused("cameras are watched as tile or as whole")
        viewer.watches = {camera.number: watched[str(camera.number)] for camera in self.cameras if str(camera.number) in watched}
        self.count_watchers()

    def count_watchers(self):
        for camera in self.cameras:
            kinds = [viewer.watches.get(camera.number) for viewer in self.viewers]
            camera.watch(kinds.count("tile"), kinds.count("whole"))

    # What cameras say, in any thread.

    @staticmethod
    def state(camera):
        return {"state": camera.state()}

    def changed(self, camera):
        self.soon(self.put_all, ("state", camera.number), functools.partial(self.state, camera), None)

    def came_out(self, camera, chain, frame):
        key, now = (camera.number, chain.side), time.monotonic()
        camera.lines[chain.side] = frame.line or b""
        if frame.picture:
            head = bytes((camera.number, 0 if chain.side == "left" else 1)) + (frame.pts // 1000).to_bytes(8, "big")
            self.soon(self.put_all, ("picture", *key), head + frame.picture, camera.number)
        events = frame.line is not None and b'"events":[{' in frame.line
        wait = LONG_RESULTS if frame.line and len(frame.line) > LONG_LINE else RESULTS
        if frame.line and (events or camera.paused or camera.watched and now - self.sent.get(key, 0) > wait):
            self.sent[key] = now
            found = results.digest(frame, chain.histogram)
            if chain.side == "left":
                for event in found["events"]:
                    count_event(camera, event)
            found["events"] = list(camera.last_events)
            self.soon(self.put_all, ("results", *key), {"results": camera.number, "side": chain.side, **found}, camera.number)

    def soon(self, function, *arguments):
        try:
            self.loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:
            pass  # the loop has ended

    def put_all(self, key, message, watched):
        for viewer in self.viewers:
            if watched is None or watched in viewer.watches:
                viewer.put(key, message)


def count_event(camera, event):
    """Counts an event; for each camera, at most MOST_NAMES separately: pages can change names again and again."""
    camera.last_events.append(event)
    if "state" in event:  # of cudacameracheck
        camera.troubles[event["event"]] = event["state"] == "begin"
        return
    key = event.get("name", ""), event.get("event", "")
    if key not in camera.events and len(camera.events) >= MOST_NAMES:
        key = "(others)", key[1]
    camera.events[key] += 1


def place_of(address):
    try:
        return urllib.parse.urlsplit(address)
    except ValueError:
        return urllib.parse.urlsplit("")


def shown(name):
    """A host name of a stranger, in the text of an answer."""
    return "".join(c for c in name if c.isalnum() or c in ".:-[]")[:100] or "?"


def same(text, secret):
    return hmac.compare_digest(text.encode(errors="replace"), secret.encode())


def a_number(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -1e6 < value < 1e6:
        raise Refused("this is no number that can be used")
    return value
