#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures which troubles of a camera cudacameracheck finds, how soon, and how often it is wrong. The troubles are made, at
known times, in four clips: the street video, a photograph with people who walk through it, a night and a zoom made of the
street. The thresholds were chosen on the first two; some rules were corrected after a look at the other two.

usage: camera_truth.py VIDEO PHOTOGRAPH [--minutes N] [--only WORD] [--clips CLIP,...] [--verbose]

--minutes: the length of the stream without troubles, for all clips together; 0 leaves it out. The table is in
gst/docs/cudacameracheck.md. Needs NumPy, OpenCV and the plugin.
"""
import argparse
import collections
import sys

import cv2
import gi
import numpy as np

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp  # noqa: E402 F401

RATE = 10
WIDTH, HEIGHT, MARGIN = 640, 480, 48  # of the frames, and what a shift can show beyond them
NORMAL, WRONG = 16, 8  # seconds before a trouble and with it
FROZEN = 10  # seconds: frozen-time
SOON = 2 + 1.5 / RATE  # seconds: the hysteresis, and the frame after it


class Noise:
    """Gaussian noise, from few fields that are shifted at random."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.fields = self.random.standard_normal((4, HEIGHT, WIDTH), np.float32)

    def __call__(self, deviation):
        field = self.fields[self.random.integers(4)]
        return deviation * np.roll(field, tuple(self.random.integers(0, (HEIGHT, WIDTH))), (0, 1))


class Street:
    """The frames of the video, with MARGIN on each side."""

    def __init__(self, video, most=600):
        capture, self.frames = cv2.VideoCapture(video), []
        while len(self.frames) < most:
            ok, frame = capture.read()
            if not ok:
                break
            self.frames.append(self.window(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)))

    @staticmethod
    def window(gray):
        height, width = HEIGHT + 2 * MARGIN, WIDTH + 2 * MARGIN
        if gray.shape[0] < height or gray.shape[1] < width:
            scale = max(height / gray.shape[0], width / gray.shape[1])
            gray = cv2.resize(gray, None, fx=scale + 0.01, fy=scale + 0.01)
        top, left = (gray.shape[0] - height) // 2, (gray.shape[1] - width) // 2
        return np.ascontiguousarray(gray[top:top + height, left:left + width])

    def __call__(self, number, _noise):
        return self.frames[number % len(self.frames)]

    noise = 0


class Zoom:
    """The middle of the street, twice as large."""

    def __init__(self, street):
        self.street = street

    def __call__(self, number, noise):
        frame = self.street(number, noise)
        height, width = frame.shape
        part = frame[height // 4:height // 4 + height // 2, width // 4:width // 4 + width // 2]
        return cv2.resize(part, (width, height), interpolation=cv2.INTER_CUBIC)

    noise = 1


class Night:
    """The street with little light: gamma, and much noise."""

    def __init__(self, street):
        self.street = street
        self.table = (16 + 120 * (np.arange(256) / 255) ** 1.8).astype(np.uint8)

    def __call__(self, number, noise):
        return cv2.LUT(self.street(number, noise), self.table)

    noise = 6


class Photograph:
    """A photograph, through which five bars of the size of people walk."""

    def __init__(self, path):
        self.picture = Street.window(cv2.imread(path, cv2.IMREAD_GRAYSCALE))

    def __call__(self, number, _noise):
        frame = self.picture.copy()
        for person in range(5):
            x = int(number * (2 + person) + 140 * person) % (frame.shape[1] + 60) - 30
            cv2.rectangle(frame, (x, 150 + 50 * person), (x + 30, 230 + 60 * person), 60 + 30 * person, -1)
        return frame

    noise = 2


class Look:
    """How a frame differs from the clip's: every member may be changed by a trouble."""

    def __init__(self):
        self.x = self.y = self.blur = self.noise = 0.0
        self.gain, self.cover, self.share = 1.0, None, 1.0
        self.freeze = self.codec = False
        self.change = None  # a function of the picture


class Camera:
    """Makes frames of a clip and keeps what a frozen camera shows."""

    def __init__(self, clip, seed):
        self.clip, self.noise, self.number, self.frozen = clip, Noise(seed), 0, None

    def frame(self, look):
        self.number += 1
        if look.freeze and self.frozen is not None:
            return self.again(look)
        picture = self.clip(self.number, self.noise)
        if look.x or look.y:
            shift = np.float32([[1, 0, look.x], [0, 1, look.y]])
            picture = cv2.warpAffine(picture, shift, picture.shape[::-1], flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        if look.blur:
            picture = cv2.GaussianBlur(picture, None, look.blur)
        picture = picture[MARGIN:MARGIN + HEIGHT, MARGIN:MARGIN + WIDTH].astype(np.float32)
        if look.cover is not None:
            side = int(look.share * WIDTH)
            picture[:, :side] = look.cover[:, :side] if isinstance(look.cover, np.ndarray) else look.cover
        if look.change:
            picture = look.change(picture, self.number)
        picture *= look.gain
        deviation = max(self.clip.noise, look.noise)
        if deviation:
            picture += self.noise(deviation)
        self.frozen = np.clip(picture, 0, 255).astype(np.uint8)
        return self.frozen

    def again(self, look):
        """The frozen picture. With a codec's noise, each second begins with a key frame of another quality."""
        if not look.codec:
            return self.frozen
        if self.number % RATE == 0 or self.coded is None:
            quality = int(self.noise.random.integers(60, 90))
            self.coded = cv2.imdecode(cv2.imencode(".jpg", self.frozen, [cv2.IMWRITE_JPEG_QUALITY, quality])[1], cv2.IMREAD_GRAYSCALE)
        return self.coded

    coded = None


class Check:
    """The element, and the events that it tells: (name, state, time of the frame)."""

    def __init__(self, properties=""):
        caps = f"video/x-raw,format=GRAY8,width={WIDTH},height={HEIGHT},framerate={RATE}/1"
        self.pipeline = Gst.parse_launch(
            f"appsrc name=in format=time caps={caps} ! cudacameracheck display=false lost-time=0 frozen-time={FROZEN} "
            f"{properties} ! appsink name=out sync=false")
        self.source, self.sink = self.pipeline.get_by_name("in"), self.pipeline.get_by_name("out")
        self.pipeline.set_state(Gst.State.PLAYING)

    def push(self, frame, time):
        buffer = Gst.Buffer.new_wrapped(frame.tobytes())
        buffer.pts = int(time * Gst.SECOND)
        self.source.push_buffer(buffer)
        self.sink.pull_sample()
        events = []
        while message := self.pipeline.get_bus().pop_filtered(Gst.MessageType.ELEMENT | Gst.MessageType.ERROR):
            if message.type == Gst.MessageType.ERROR:
                sys.exit(message.parse_error()[0].message)
            told = message.get_structure()
            if told.get_name() == "cudacameracheck-event":
                events.append((told.get_string("event"), told.get_string("state"), time))
        return events

    def stop(self):
        self.pipeline.set_state(Gst.State.NULL)


def printed_paper():
    paper = np.full((HEIGHT, WIDTH), 215, np.float32)
    for line in range(20, HEIGHT, 34):
        cv2.putText(paper, "Lorem ipsum dolor sit amet consectetur", (12, line), cv2.FONT_HERSHEY_SIMPLEX, 0.9, 40, 2)
    return paper


def set_to(**values):
    def trouble(_time):
        look = Look()
        look.__dict__.update(values)
        return look
    return trouble


def slow_blur(time):
    return set_to(blur=min(5, time / 6))(time)  # sigma 2 after 12 s


def slow_drift(time):
    return set_to(x=min(20, time / 4), y=min(10, time / 8))(time)


def flicker(time):
    return set_to(gain=1.2 if round(time * RATE) % 2 else 0.85)(time)


# Name, the events of which one must begin, the trouble as a function of the time, its length, and how soon it must be told:
# 2 s after a standard deviation of 2 or a shift of 3 pixels, if it grows slowly.
Trouble = collections.namedtuple("Trouble", "name wanted look seconds soon", defaults=(WRONG, SOON))
TROUBLES = [
    *(Trouble(f"cover, {name}", ("covered",), set_to(cover=value)) for name, value in (("grey", 120), ("black", 16), ("a hand", 165))),
    Trouble("cover, printed paper", ("covered", "moved"), set_to(cover=printed_paper())),
    *(Trouble(f"blur, sigma {sigma}", ("defocused",), set_to(blur=sigma)) for sigma in (2, 3, 5, 8)),
    Trouble("blur, slow to sigma 5", ("defocused",), slow_blur, 24, 12 + SOON),
    *(Trouble(f"shift, {abs(x) + abs(y)} pixels", ("moved",), set_to(x=x, y=y))
      for x, y in ((3, 0), (0, -4), (-6, 0), (7, 3), (-12, 8), (0, 30), (40, 0))),
    Trouble("shift, slow to 22 pixels", ("moved",), slow_drift, 24, 10.7 + SOON),
    Trouble("freeze", ("frozen",), set_to(freeze=True), FROZEN + 6, FROZEN + SOON),
    Trouble("freeze, with a codec's noise", ("frozen",), set_to(freeze=True, codec=True), FROZEN + 6, FROZEN + SOON),
    Trouble("a tenth of the light", ("dark", "covered"), set_to(gain=0.1)),
    Trouble("ten times the light", ("bright", "covered"), set_to(gain=10.0)),
    Trouble("flicker", ("flicker",), flicker),
    Trouble("noise, sigma 40", ("noise",), set_to(noise=40)),
]


def someone_close(time):
    """Somebody passes who hides two thirds of the picture, for a second and a half."""
    def change(picture, _number):
        left = int((time - 1) / 1.5 * (WIDTH + 420)) - 420
        cv2.rectangle(picture, (left, 40), (left + 420, HEIGHT), 70, -1)
        cv2.rectangle(picture, (left + 90, 120), (left + 300, 400), 110, -1)
        return picture
    return set_to(change=change)(time)


def headlights(time):
    def change(picture, _number):
        if 1 < time < 5:
            glow = np.zeros_like(picture)
            x = int(80 + time * 100)
            for lamp in (x, x + 60):
                cv2.circle(glow, (lamp, 300), 16, 255, -1)
            picture = picture * 0.6 + cv2.GaussianBlur(glow, None, 12) * 2 + glow
        return picture
    return set_to(change=change)(time)


def rain(_time):
    def change(picture, number):
        random = np.random.default_rng(number)
        for x, y, length in random.integers((0, 0, 6), (WIDTH, HEIGHT, 30), (220, 3)):
            cv2.line(picture, (int(x), int(y)), (int(x) + 2, int(y + length)), 190, 1)
        return picture
    return set_to(change=change)(_time)


def dusk(time):
    """The light falls in half a minute, then the camera switches to its own lamp: bright in the middle, other greys."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    lamp = 1.25 * np.exp(-((x - WIDTH / 2) ** 2 + (y - HEIGHT / 2) ** 2) / (2 * 330.0 ** 2))

    def change(picture, _number):
        return (60 + 0.55 * picture + 0.2 * np.abs(picture - 120)) * lamp
    return set_to(gain=max(0.4, 1 - time / 50))(time) if time < 30 else set_to(change=change)(time)


def door(_time):
    def change(picture, _number):
        picture[100:430, 420:560] = np.linspace(40, 90, 140)[None, :]
        return picture
    return set_to(change=change)(_time)


# What is no trouble: nothing may be told.
HARMLESS = [
    Trouble("somebody passes close", (), someone_close, 4),
    Trouble("headlights", (), headlights, 8),
    Trouble("rain", (), rain, 20),
    Trouble("clouds: a third less light", (), set_to(gain=0.67), 20),
    Trouble("sun: a third more light", (), set_to(gain=1.33), 20),
    Trouble("dusk, and the camera's own lamp", (), dusk, 130),
    Trouble("a door opens", (), door, 90),
]


def run_case(clip, trouble, seed, verbose):
    """Returns how long after its begin the trouble was told, or None, and the events that are false."""
    camera, check, found, false = Camera(clip, seed), Check(), None, []
    for i in range(int((NORMAL + trouble.seconds + 6) * RATE)):
        time = i / RATE
        inside = NORMAL <= time < NORMAL + trouble.seconds
        events = check.push(camera.frame(trouble.look(time - NORMAL) if inside else Look()), time)
        for name, state, when in events:
            if verbose:
                print(f"    {when - NORMAL:5.1f} s {name} {state}", file=sys.stderr)
            after = when - NORMAL
            if state == "begin" and after >= 0 and name in trouble.wanted and found is None and after < trouble.seconds:
                found = after
            elif state == "begin" and (not trouble.wanted or after < 0 or after > trouble.seconds + 2):
                false.append(name)
    check.stop()
    return found, false


def false_alarms(clips, minutes, verbose):
    """Runs loops with people, a step of the light by a third every 20 s and 5 % of lost frames; returns what was told."""
    told = collections.Counter()
    for number, (name, clip) in enumerate(clips.items()):
        camera, check, random = Camera(clip, 100 + number), Check(), np.random.default_rng(number)
        look = Look()
        for i in range(int(minutes * 60 * RATE / len(clips))):
            if i % (20 * RATE) == 0:
                look.gain = float(random.choice([0.67, 0.8, 1, 1, 1.33]))
            frame = camera.frame(look)
            if random.random() < 0.05:
                continue
            for event, state, when in check.push(frame, i / RATE):
                told[f"{name}: {event} {state}"] += 1
                if verbose:
                    print(f"    {when:.1f} s {event} {state}", file=sys.stderr)
        check.stop()
    return told


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("video")
    parser.add_argument("photograph")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--only", default="")
    parser.add_argument("--clips", default="street,photograph,night,zoom")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    Gst.init(None)
    street = Street(options.video)
    clips = {"street": street, "photograph": Photograph(options.photograph), "night": Night(street), "zoom": Zoom(street)}
    clips = {name: clips[name] for name in options.clips.split(",")}
    missed = wrong = 0
    print("| trouble | " + " | ".join(clips) + " |\n|---|" + "---|" * len(clips))
    for number, trouble in enumerate(TROUBLES + HARMLESS):
        if options.only not in trouble.name:
            continue
        cells = []
        for name, clip in clips.items():
            if options.verbose:
                print(f"  {trouble.name}, {name}", file=sys.stderr)
            found, false = run_case(clip, trouble, number, options.verbose)
            is_late = bool(trouble.wanted) and (found is None or found > trouble.soon)
            missed += is_late
            wrong += len(false)
            text = "nothing" if not trouble.wanted else "missed" if found is None else f"{found:.1f} s"
            cells.append(text + (" (late)" if found is not None and is_late else "") + ("; false: " + ", ".join(false) if false else ""))
        print(f"| {trouble.name} | " + " | ".join(cells) + " |", flush=True)
    if options.minutes:
        told = false_alarms(clips, options.minutes, options.verbose)
        wrong += sum(told.values())
        print(f"\n{options.minutes:g} minutes without a trouble: " + (", ".join(f"{n} × {k}" for k, n in told.items()) or "nothing told"))
    print(f"\n{missed} missed or late, {wrong} false")
    return 1 if missed or wrong else 0


sys.exit(main())
