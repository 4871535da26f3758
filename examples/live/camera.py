# SPDX-License-Identifier: LGPL-2.1-or-later
"""A camera: its source, the steps of one side or two, and what has come out of them."""
import collections
import concurrent.futures
import functools
import json
import logging
import threading
import time

import elements
import gi
from chain import SLOW, Chain
from elements import Refused
from gi.repository import Gst
from pipelines import Attempts
from sources import PATIENCE, Player

gi.require_version("GstVideo", "1.0")
from gi.repository import GstVideo  # noqa: E402

STALLED = 20  # seconds without a frame after which a source is given up
TILE, WHOLE = 640, 1920  # pixels: the greatest width of pictures on a page with all cameras, and with one
LEFT, RIGHT = "left", "right"
MOST_POINTS, MOST_NAME, MOST_METRES = 64, 64, 10000
TRACKER, COUNTER = "cudavisiontrack", "cudavisionzones"


class Camera:
    """hub: has changed(camera) and came_out(camera, chain, frame), which are called in any thread. All that takes long,
    starts pipelines or stops them runs in the one thread of `worker`, one after the other."""

    def __init__(self, number, source, described, catalogue, folders, hub):
        self.number, self.source, self.catalogue, self.folders, self.hub = number, source, catalogue, folders, hub
        self.worker = concurrent.futures.ThreadPoolExecutor(1, f"camera{number}")
        self.lock = threading.RLock()
        self.player, self.chains = None, {}
        self.zones = {"units": "pixels", "lines": [], "zones": []}
        self.notes = []  # the last warnings of the source
        self.paused, self.error, self.attempts, self.next_try = False, "", Attempts(STALLED), 0.0
        self.size, self.rate = (0, 0), 0.0
        self.held = collections.deque(maxlen=2)  # the last frames that came from the source
        self.waiting = collections.deque(maxlen=2)  # pairs of a frame and whether it is shown
        self.moved, self.width, self.watched = time.monotonic(), TILE, False
        self.changing = 0.0  # since when the source is opened or closed, if that is not done yet
        self.delivered = False  # whether a frame has ever come out of the steps
        self.connected = False  # whether a frame has come since the last attempt to connect
        self.came = self.dropped = self.late = self.errors = self.failures = 0
        self.events, self.last_events = collections.Counter(), collections.deque(maxlen=50)
        self.troubles = {}  # by the name of an event of cudacameracheck, whether it lasts
        self.lines = {}  # for each side, the last line of JSON
        self.set_steps(LEFT, described)

    def later(self, work):
        """Runs `work` in the thread of the worker. An exception goes to the log."""
        self.worker.submit(work).add_done_callback(
            lambda done: done.exception() and logging.error("camera %d: %r", self.number, done.exception()))

    # What runs in the thread of the worker.

    def reconnect(self):
        self.changing = time.monotonic()
        try:
            self.disconnect()
            self.connect()
        finally:
            self.changing, self.moved = 0.0, time.monotonic()
        self.hub.changed(self)

    def connect(self):
        self.error, self.moved, self.next_try, self.connected, self.notes = "", time.monotonic(), 0.0, False, []
        try:
            self.player = Player(self.source, self.on_frame, self.on_note, self.on_end)
            self.player.start()
        except Refused as refused:
            self.on_end(str(refused))

    def disconnect(self):
        player, self.player = self.player, None
        if player:
            player.stop()

    def close(self):
        self.disconnect()
        for chain in self.chains.values():
            chain.stop()

    def rewind(self):
        if self.player and not self.player.seek(0):
            self.reconnect()

    def set_steps(self, side, described):
        """Replaces the steps of a side. If the new ones do not start, the error stays until they are changed."""
        steps = elements.steps_of(self.catalogue, self.folders, described)
        for number, text in self.renewed(steps):
            steps[number].values["zones"] = text
        elements.check_length(step.values for step in steps)
        if side == LEFT:
            self.troubles.clear()
        self.replace(side, Chain(side, steps, self.on_idle, self.on_done, self.on_news))

    def replace(self, side, chain):
        old = self.chains.get(side)
        chain.set_width(self.width)
        chain.encode = self.watched
        chain.start()
        with self.lock:
            self.chains[side] = chain
        if old:
            old.stop()
        self.again()

    def compare(self, on):
        if on:
            self.set_steps(RIGHT, self.described(LEFT))
            return
        with self.lock:
            old = self.chains.pop(RIGHT, None)
        if old:
            old.stop()
        self.feed()

    def set(self, side, number, values):
        """Sets properties of a step: at once if the element allows it, otherwise by a restart, undone if that fails."""
        chain = self.chains.get(side)
        if chain is None or isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(chain.steps):
            raise Refused("there is no such step")
        step = chain.steps[number]
        values = step.checked(values)
        if not chain.error and all(step.properties[name].live for name in values):
            elements.check_length({**its.values, **values} if its is step else its.values for its in chain.steps)
            chain.set(number, values)
            for counting, text in self.renewed(chain.steps):
                self.set(side, counting, {"zones": text})
            self.again()
            return
        before = [{"element": step.factory, "properties": step.confirmed()} for step in chain.steps]
        failed_before = chain.error
        after = self.described(side)
        after[number]["properties"].update(values)
        self.set_steps(side, after)
        error = self.chains[side].error
        if error and not failed_before:
            self.set_steps(side, before)
            raise Refused(error)

    def play(self, paused):
        self.paused, self.moved = paused, time.monotonic()
        if self.player and self.source.is_file:
            self.player.pause(paused)

    def step(self, frames):
        """One frame forward or back."""
        self.need_file()
        self.play(True)
        if frames > 0:
            self.player.forward()
        elif self.held:
            self.seek(self.held[-1].get_buffer().pts / Gst.SECOND - self.duration_of_frame())

    def seek(self, seconds):
        """Seeks in the file. In a pause, the frame before comes first, for elements that compare frames."""
        self.need_file()
        self.player.seek((seconds - self.duration_of_frame() * self.paused) * Gst.SECOND)
        if self.paused and seconds >= self.duration_of_frame():
            self.player.forward()

    def need_file(self):
        if not self.source.is_file or not self.player:
            raise Refused("only a file can be played so")

    # What runs in threads of GStreamer.

    def on_frame(self, sample):
        with self.lock:
            pts = sample.get_buffer().pts
            same = self.held and pts != Gst.CLOCK_TIME_NONE and self.held[-1].get_buffer().pts == pts
            if same and not self.paused:
                return
            self.moved, self.attempts.pause, self.connected = time.monotonic(), 1, True
            if self.paused and not self.source.is_file:
                return
            self.came += 1
            self.note_caps(sample.get_caps().get_structure(0))
            if not same:
                self.held.append(sample)
            if not self.paused:
                self.dropped += len(self.waiting)
                self.waiting.clear()
                self.waiting.append((sample, True))
        if self.paused:
            self.again()
        self.feed()

    def note_caps(self, caps):
        size, (known, over, under) = (caps.get_int("width")[1], caps.get_int("height")[1]), caps.get_fraction("framerate")
        if size != self.size:
            self.size, self.rate = size, over / under if known else 0.0
            self.hub.changed(self)

    def again(self):
        """In a pause, in which no frame comes by itself, processes the last frame again. Elements that compare frames
        get the frame before it first."""
        if self.paused:
            with self.lock:
                frames = list(self.held)
                if len(frames) == 2 and not 0 < time_between(*frames) < 1.5 * self.duration_of_frame():
                    del frames[0]
                self.waiting.clear()
                self.waiting.extend((sample, sample is frames[-1]) for sample in frames)
            self.feed()

    def feed(self):
        """Gives the next frame to the sides, when all of them are idle."""
        with self.lock:
            chains = list(self.chains.values())
            if not self.waiting or any(chain.busy() for chain in chains):
                return
            sample, shown = self.waiting.popleft()
            for chain in chains:
                chain.push(sample, shown)

    def on_idle(self, _chain, seconds):
        if not self.paused and seconds > max(self.duration_of_frame(), 0.001):
            self.late += 1
        self.feed()

    def on_done(self, chain, frame):
        self.delivered = True
        if frame.line and not self.paused:  # in a pause the same frames come again
            chain.heat.add(frame.line)
        if frame.shown:
            self.hub.came_out(self, chain, frame)

    def on_news(self, _chain, fatal):
        self.errors += fatal
        self.hub.changed(self)
        self.feed()

    def on_note(self, text):
        if text not in self.notes:
            self.notes = elements.noted(self.notes, text)
            self.hub.changed(self)

    def on_end(self, text):
        """The source has failed, or has come to its end."""
        if not text and self.source.is_file:
            self.later(self.rewind)
            return
        self.error = text or "the camera has ended the stream"
        self.failures += 1
        self.attempts.fail(self.error)
        self.next_try = self.attempts.next
        self.hub.changed(self)

    # What runs in the main thread.

    def tick(self):
        now = time.monotonic()
        if self.next_try and now > self.next_try and not self.changing:
            self.next_try = 0.0
            self.later(self.reconnect)
        elif self.player and not self.next_try and not self.paused and not self.changing and now - self.moved > STALLED:
            self.on_end(f"no frame came for {STALLED} s")
        for chain in list(self.chains.values()):
            if chain.tick():
                self.later(functools.partial(chain.pipeline.set_state, Gst.State.NULL))
        self.feed()

    def watch(self, tiles, wholes):
        """How many pages show the camera in a wall, and alone."""
        width = WHOLE if wholes else TILE
        with self.lock:
            self.watched = bool(tiles or wholes)
            for chain in self.chains.values():
                chain.encode = self.watched
                if width != self.width:
                    chain.set_width(width)
            changed, self.width = width != self.width or self.watched, width
        if changed:
            self.again()

    def still(self):
        """The newest frame of the source as a JPEG picture, or None."""
        held = list(self.held)
        made = GstVideo.video_convert_sample(held[-1], Gst.Caps.from_string("image/jpeg"), PATIENCE) if held else None
        buffer = made.get_buffer() if made else None
        return buffer.extract_dup(0, buffer.get_size()) if buffer else None

    def duration_of_frame(self):
        return 1 / self.rate if self.rate > 0 else 1 / 25

    def works(self):
        """Whether frames come out of the steps. In a pause none can come."""
        chains = list(self.chains.values())
        if self.error or self.hangs() or not self.delivered:
            return False
        return all(not chain.error if self.paused else chain.delivers() for chain in chains)

    def hangs(self):
        """The seconds for which the worker has not come back from the source, if they are many: it cannot be tried again."""
        since = self.changing
        seconds = time.monotonic() - since if since else 0.0
        return seconds if seconds > STALLED else 0.0

    def waits(self, chain):
        """A sentence about what the next picture of a side waits for, or an empty text."""
        now, player = time.monotonic(), self.player
        if hangs := self.hangs():
            return f"The source hangs: opening or closing it has not come to an end for {hangs:.0f} s."
        if self.next_try:
            return f"The source has failed. It is tried again in {max(0.0, self.next_try - now):.0f} s."
        if not self.connected:
            return player.waits() if player else "The source is opened."
        if not self.paused and now - self.moved > SLOW:
            return f"No frame has come from the source for {now - self.moved:.0f} s."
        return chain.waits()

    def set_zones(self, zones):
        """Gives lines and zones to the steps that count with them. A tracker without such a step gets one."""
        zones = checked_zones(zones)
        for chain in list(self.chains.values()) if has_rules(zones) or has_rules(self.zones) else ():
            names = [step.factory for step in chain.steps]
            for number, step in enumerate(chain.steps):
                text = text_of(self.plan(zones, chain.steps, number))
                if step.factory == COUNTER and step.values.get("zones") != text:
                    self.set(chain.side, number, {"zones": text})
            if TRACKER in names and COUNTER not in names and len(names) < elements.MOST_STEPS:
                described, number = self.described(chain.side), place_of_counter(chain.steps)
                text = text_of(self.plan(zones, chain.steps, number))
                described.insert(number, {"element": COUNTER, "properties": {"zones": text}})
                self.set_steps(chain.side, described)
        self.zones = zones  # last: a step can have refused them

    def renewed(self, steps):
        """The numbers of steps that count with what is drawn, and its text, if that is new there: the metres depend on the
        steps before. Steps with a text of their own keep it."""
        rules = text_of(rules_of(self.zones)).removesuffix("}")
        texts = {number: text_of(self.plan(self.zones, steps, number)) for number, step in enumerate(steps)
                 if step.factory == COUNTER and has_rules(self.zones) and step.values.get("zones", rules).startswith(rules)}
        return [(number, text) for number, text in texts.items() if steps[number].values.get("zones") != text]

    def plan(self, zones, steps, number):
        """What is drawn as the file of cudavisionzones, for the step of this number: with `metres`, if they are known there."""
        corners = zones.get("corners", {"metres": [0, 0]})
        width, height = corners["metres"]
        picture = self.corners_at(steps[:number], corners["points"]) if width and height else None
        metres = {"metres": {"picture": picture, "ground": rectangle(width, height)}} if picture else {}
        return rules_of(zones) | metres

    def corners_at(self, before, drawn):
        """The four corners, which are drawn in the camera's picture, behind these steps; None if they are not known there."""
        views = [step.values for step in before if step.factory == elements.VIEW]
        if not views:
            return drawn
        if len(views) > 1 or views[0].get("view") != "plane" or not views[0].get("corners") or not all(self.size):
            return None
        return rectangle(*((views[0].get(name) or length) - 1 for name, length in zip(("width", "height"), self.size)))

    def described(self, side):
        return [{"element": step.factory, "properties": dict(step.values)} for step in self.chains[side].steps]

    def state_of(self, chain):
        steps = [{"element": step.factory, "properties": step.values, "values": chain.values(n), "notes": step.notes}
                 for n, step in enumerate(chain.steps)]
        place = place_of_counter(chain.steps)
        behind = any(step.factory == elements.VIEW for step in chain.steps[:place])
        return {"size": chain.size, "zones": self.plan(self.zones, chain.steps, place), "zonesBehindView": behind,
                "steps": steps, "waits": self.waits(chain), "notes": chain.notes, "error": chain.error, "errorStep": chain.error_step,
                "launch": elements.launch_line(self.source, chain.steps, ""),
                "python": elements.program(self.source, chain.steps)}

    def state(self):
        return {"camera": self.number, "name": self.source.name, "file": self.source.is_file, "paused": self.paused,
                "error": self.error, "notes": self.notes, "size": self.size, "rate": self.rate,
                "zones": self.zones,
                "duration": self.player.duration() / Gst.SECOND if self.source.is_file and self.player else 0,
                "sides": {side: self.state_of(chain) for side, chain in list(self.chains.items())}}

    def counters(self):
        sides = {side: {"processed": chain.processed, "seconds": chain.seconds, "waits": self.waits(chain)}
                 for side, chain in list(self.chains.items())}
        return {"came": self.came, "dropped": self.dropped, "late": self.late, "errors": self.errors + self.failures,
                "sides": sides}


def text_of(zones):
    return json.dumps(zones, separators=(",", ":"))


def rules_of(zones):
    return {name: zones[name] for name in ("units", "lines", "zones")}


def has_rules(zones):
    return bool(zones["lines"] or zones["zones"])


def rectangle(right, lower):
    return [[0, 0], [right, 0], [right, lower], [0, lower]]


def place_of_counter(steps):
    """The number of the step that counts with what is drawn, or where it would be."""
    names = [step.factory for step in steps]
    if COUNTER in names:
        return names.index(COUNTER)
    return len(names) - names[::-1].index(TRACKER) if TRACKER in names else len(names)


def time_between(first, second):
    return (second.get_buffer().pts - first.get_buffer().pts) / Gst.SECOND


def checked_zones(zones):
    """Checks lines, zones and the four corners of a page, and returns them, without other members. Lines and zones are as
    cudavisionzones' file has them."""
    try:
        lines = [{"name": checked_name(z["name"]), "from": checked_point(z["from"]), "to": checked_point(z["to"])}
                 for z in zones["lines"]]
        areas = [{"name": checked_name(z["name"]), "polygon": [checked_point(p) for p in z["polygon"]]} for z in zones["zones"]]
        corners = {"corners": checked_corners(zones["corners"])} if "corners" in zones else {}
    except (KeyError, TypeError, ValueError) as error:
        raise Refused("zones: an object with `lines` and `zones`, as the page draws them") from error
    for rules in lines, areas:
        if len({z["name"] for z in rules}) < len(rules):
            raise Refused("zones: two have the same name")
    if any(z["from"] == z["to"] for z in lines):
        raise Refused("zones: a line has no length")
    if len(lines) + len(areas) > MOST_POINTS or any(not 3 <= len(z["polygon"]) <= MOST_POINTS for z in areas):
        raise Refused(f"zones: at most {MOST_POINTS}, with 3 to {MOST_POINTS} corners")
    checked = {"units": "pixels", "lines": lines, "zones": areas, **corners}
    if len(text_of(checked)) > elements.LONGEST_TEXT:
        raise Refused(f"zones: their text has at most {elements.LONGEST_TEXT} characters")
    return checked


def checked_corners(corners):
    points, (width, height) = [checked_point(point) for point in corners["points"]], corners["metres"]
    if not is_number(width, 0, MOST_METRES) or not is_number(height, 0, MOST_METRES) or len(points) != 4:
        raise ValueError
    turns = [(b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])
             for a, b, c in zip(points, points[1:] + points[:1], points[2:] + points[:2])]
    if min(turns) <= 0:
        raise Refused("zones: the four corners are those of a convex shape, and clockwise")
    return {"points": points, "metres": [width, height]}


def checked_name(name):
    if not isinstance(name, str) or not 0 < len(name.encode(errors="replace")) <= MOST_NAME or not name.isprintable():
        raise ValueError
    return name


def checked_point(point):
    x, y = point
    if not all(is_number(v, -32768, 32767) for v in (x, y)):
        raise ValueError
    return [round(x), round(y)]


def is_number(value, least, most):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and least <= value <= most
