#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Publishes lines of cudavisionjson by MQTT, HTTP or Kafka. What cannot be sent is kept. README.md describes it."""
import argparse
import contextlib
import fcntl
import os
import pathlib
import re
import select
import signal
import sqlite3
import time

import lines
from choice import Choice
from home_assistant import HomeAssistant
from sender import Sender
from spool import Full, Spool
from target import Refused, Teller, parse, password, tls
from to_http import Http
from to_kafka import Kafka
from to_mqtt import Mqtt

GATHER = 0.05  # seconds that lines may wait, so that many are worked on at once
PIPE_SIZE = 1 << 20  # bytes: the writer does not wait meanwhile
PATIENCE = 3  # seconds for the last confirmations at the end

OWNERS = {"retain": "mqtt", "home_assistant": "mqtt", "mqtt_5": "mqtt", "batch": "http", "picture": "http",
          "kafka_settings": "kafka"}

EXAMPLE = """example:
  gst-launch-1.0 -q … ! cudavisionjson wall-clock=true ! fakesink | \\
    cudavision-publish mqtts://me@broker.example.org/cameras/{source}/{event} --password-file password"""


def positive(text):
    number = float(text)
    if not number > 0:
        raise argparse.ArgumentTypeError("a number above 0 is expected")
    return number


def size(text):
    match = re.fullmatch(r"(\d+)([KMG]?)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text}: a size is a number with K, M or G, as 256M")
    return int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[match[2]]


def options():
    parser = argparse.ArgumentParser(prog="cudavision-publish", description=__doc__, epilog=EXAMPLE, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("target", metavar="TARGET", help="mqtt://, mqtts://, http://, https:// or kafka:// with a host and a topic; {source} "
                                         "stands for the camera, {event} for the kind of event, or `line`")
    add("--input", default="-", metavar="FILE", help="a named pipe, or a file that grows; default: the standard input")
    add("--source", default="camera", metavar="NAME", help="the name of a camera whose lines have none; default: %(default)s")
    add("--every", type=positive, metavar="SECONDS", help="a whole line of each camera as often as this")
    add("--changes", action="store_true", help="whole lines if a count or the ids in the picture have changed")
    add("--retain", action="store_true", help="MQTT: the broker keeps the last message of each topic")
    add("--home-assistant", nargs="?", const="homeassistant", metavar="PREFIX",
        help="MQTT: sensors for Home Assistant, with --changes; default of PREFIX: %(const)s")
    add("--mqtt-5", action="store_true", help="MQTT 5 instead of 3.1.1")
    add("--batch", type=size, metavar="N", help="HTTP: lists of up to N messages")
    add("--picture", metavar="FILE",
        help="HTTP: this file's content, at the time of the line, goes with each message; {source} may stand in its name")
    add("--kafka-settings", metavar="FILE", help="Kafka: lines NAME=VALUE for librdkafka, such as TLS and passwords")
    add("--password-file", metavar="FILE",
        help="the password of the user in TARGET; for HTTP without a user, the bearer token")
    add("--ca", metavar="FILE", help="certificates of authorities that may vouch for the target; default: the system's")
    add("--certificate", metavar="FILE", help="the certificate of this client, which may have the key, too")
    add("--key", metavar="FILE", help="the key of --certificate")
    add("--timeout", type=positive, default=30, metavar="SECONDS",
        help="how long the target may take to confirm; default: %(default)s")
    add("--spool", metavar="FILE",
        help="where messages wait; default: one for each target in $STATE_DIRECTORY or ~/.local/state")
    add("--spool-size", type=size, default=size("256M"), metavar="SIZE", help="default: 256M")
    add("--when-full", choices=("drop", "wait"), default="drop",
        help="the oldest messages are dropped, or reading waits; default: %(default)s")
    add("--linger", type=float, default=30, metavar="SECONDS",
        help="how long to go on after the last line, if messages wait; default: %(default)s")
    return parser.parse_args()


def check(chosen, target):
    """Options of one kind of target are none of another."""
    for option, kind in OWNERS.items():
        if getattr(chosen, option) and kind != target.kind:
            raise Refused(f"--{option.replace('_', '-')} is for targets {kind}://")
    if chosen.batch and chosen.picture:
        raise Refused("--batch and --picture exclude one another: a picture belongs to one message")
    if target.kind == "kafka" and (target.user or chosen.password_file or chosen.ca or chosen.certificate):
        raise Refused("kafka:// takes users, passwords and certificates from --kafka-settings")
    if chosen.home_assistant and not ("{source}" in target.template and "{event}" in target.template):
        raise Refused("--home-assistant needs {source} and {event} in the topic, as cameras/{source}/{event}")


def spool_path(chosen, target):
    if chosen.spool:
        return chosen.spool
    home = os.environ.get("XDG_STATE_HOME") or pathlib.Path.home() / ".local/state"
    folder = pathlib.Path(os.environ.get("STATE_DIRECTORY", "").partition(":")[0] or pathlib.Path(home) / "cudavision-publish")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refused(f"{folder}: {error.strerror}: name a file for waiting messages with --spool") from None
    return str(folder / (re.sub(r"[^\w.-]+", "_", f"{target}/{target.template}")[:200] + ".sqlite"))


def link_to(target, chosen, name):
    """What sends to the target."""
    if target.kind == "kafka":
        return Kafka(target, chosen)
    secret, context = password(chosen.password_file), tls(target, chosen)
    if target.kind == "http":
        return Http(target, chosen, secret, context)
    if secret and not target.user:
        raise Refused(f"a password needs a user: write USER@{target.host} in the target")
    return Mqtt(target, chosen, secret, context, name)


class Program:
    def __init__(self, chosen):
        self.chosen, self.teller = chosen, Teller()
        target = parse(chosen.target)
        check(chosen, target)
        self.spool = Spool(spool_path(chosen, target), chosen.spool_size, chosen.when_full == "drop", self.teller)
        self.lines = lines.Lines(self.teller)
        self.link = link_to(target, chosen, self.spool.name)
        sensors = HomeAssistant(chosen.home_assistant, target, self.link.status) if chosen.home_assistant else None
        self.choice = Choice(chosen, self.teller, sensors)
        self.source = lines.opened(chosen.input, self.spool.state("position"), self.lines)
        self.sender = Sender(self.spool, self.link, chosen.timeout, self.teller, self.end)
        self.wake, self.waker = os.pipe()
        self.stopped = False

    def stop(self, *_):
        self.stopped = True
        self.end()

    def end(self):
        os.write(self.waker, b"x")

    def wait(self, seconds):
        """Returns whether the program is to end."""
        return bool(select.select([self.wake], [], [], seconds)[0])

    def run(self):
        for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
            signal.signal(number, self.stop)
        if isinstance(self.source, lines.Pipe):
            with contextlib.suppress(OSError):  # it is no pipe, or the user has too many
                fcntl.fcntl(self.source.file, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
        self.sender.start()
        self.read()
        end = time.monotonic() + (0 if self.stopped else self.chosen.linger)
        while time.monotonic() < end and not self.sender.idle and not self.wait(0.05):
            pass
        self.sender.stop()
        self.sender.join(PATIENCE)
        return self.result()

    def read(self):
        while not self.wait(0):
            data = self.source.read(self.wake)
            if not data:
                break
            self.take(self.lines.feed(data))
            if len(data) < lines.BLOCK and self.wait(GATHER):
                break
        if not self.stopped and self.lines.rest:
            self.take([self.lines.rest])  # the last line has no end

    def take(self, whole):
        messages = [message for line in whole for message in self.choice.messages(line)]
        while messages:
            try:
                self.spool.store(messages, self.source.position)
                self.sender.notify()
                return
            except Full as full:
                self.teller.say_rarely("full", f"{full}: reading waits, and so does the pipeline")
                if self.wait(0.1):
                    return

    def result(self):
        if self.sender.failed:
            raise Refused(f"a fault of this program: {self.sender.failed}")
        count = self.spool.count()
        if count:
            self.teller.say(f"{count} messages wait in {self.spool.path}; the next start sends them")
        if not self.sender.is_alive():
            self.spool.close()
        return 1 if count and not self.stopped else 0


def main():
    try:
        code = Program(options()).run()
    except (Refused, OSError, sqlite3.Error) as error:
        Teller().say(error)
        code = 1
    os._exit(code)  # even if a connection hangs


if __name__ == "__main__":
    main()
