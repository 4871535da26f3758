# SPDX-License-Identifier: LGPL-2.1-or-later
"""What of a line is published: its events, and now and then the whole line."""
import collections
import json
import time

from spool import Message

SCHEMA = 1  # the version in cudavisionjson.schema.json
LINE = "line"  # the kind of a message that is a whole line


def now():
    """The time of day, as cudavisionjson writes it."""
    seconds, nanoseconds = divmod(time.time_ns(), 10**9)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{nanoseconds:09d}Z"


def tracks(record):
    """The ids of the tracks in a frame."""
    for region in record.get("regions", ()):
        tracking = region.get("params", {}).get("tracking", {})
        if isinstance(tracking, dict) and "id" in tracking:
            yield tracking["id"]
    for detection in record.get("detections", ()):
        if "tracking-id" in detection:
            yield detection["tracking-id"]


def state(record):
    """What --changes compares: how many of each type there are, the ids, and the counters of zones."""
    kinds = [region["type"] for region in record.get("regions", ())] + [d["class"] for d in record.get("detections", ())]
    zones = [(zone["name"], zone.get("occupancy"), [(c["direction"], c["total"]) for c in zone["counts"]])
             for zone in record.get("zones", ())]
    return collections.Counter(kinds), set(tracks(record)), zones


class Choice:
    def __init__(self, chosen, teller, home_assistant):
        self.chosen, self.teller, self.home_assistant = chosen, teller, home_assistant
        self.changes = chosen.changes or home_assistant is not None
        self.lines_wanted = self.changes or chosen.every is not None
        self.states, self.due = {}, {}

    def messages(self, line):
        """The messages of a line, without their numbers."""
        if not self.lines_wanted and line[:1] == b"{" and b'"events":[{' not in line and b'"events": ' not in line:
            return []  # the usual line, without events; in a text, quotation marks are escaped
        if not line.strip():
            return []
        try:
            return self.parsed(json.loads(line))
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            text = line[:60].decode("utf-8", "backslashreplace")
            self.teller.say_rarely("line", f"this is no line of cudavisionjson and is left out: {text!r}")
            return []

    def parsed(self, record):
        source = (record.get("source") or self.chosen.source).encode("utf-8", "replace").decode()
        record = {"schema": SCHEMA, **record, "source": source, "utc": record.get("utc") or now()}
        frame = {name: record[name] for name in ("schema", "source", "utc", "frame")}
        found = []
        if self.home_assistant:
            found += self.home_assistant.discovery(record)
        found += [self.message(source, event["event"], frame | event) for event in record.get("events", ())]
        if self.lines_wanted and self.is_due(source, record):
            found.append(self.message(source, LINE, record))
        return found

    def message(self, source, event, record):
        retain = self.chosen.retain or (event == LINE and self.home_assistant is not None)
        event = str(event).encode("utf-8", "replace").decode()  # half a surrogate pair has no place in a topic
        return Message(source, event, record, retain=retain, picture=self.picture(source))

    def picture(self, source):
        if self.chosen.picture is None:
            return None
        path = self.chosen.picture.replace("{source}", source.replace("/", "_"))
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError as error:
            self.teller.say_rarely("picture", f"{path}: {error.strerror}: messages go without a picture")
            return None

    def is_due(self, source, record):
        """Whether the whole line is published. Its own time counts, so that a file is worked through in the same way."""
        due = False
        if self.changes:
            new = state(record)
            due = new != self.states.get(source)
            self.states[source] = new
        if self.chosen.every is not None:
            time_of_line = record.get("running-time")
            seconds = time.monotonic() if time_of_line is None else time_of_line / 1e9
            last = self.due.get(source)
            if last is None or not 0 <= seconds - last < self.chosen.every:
                due, self.due[source] = True, seconds
        return due
