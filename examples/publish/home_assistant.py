# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tells Home Assistant by MQTT discovery which sensors there are: for each line its counts, for each zone its occupancy and
who entered and left, for each type of object how many are in the picture, and motion. All read the last message `line`."""
import hashlib
import json
import re

from choice import LINE
from spool import Message


def text(value):
    """A text in a template of Jinja."""
    return json.dumps(value, ensure_ascii=False)


def binary(condition):
    return "{{ 'ON' if " + condition + " else 'OFF' }}"


def sensors(record):
    """The kind, the name, the template and further members of each sensor."""
    for zone in record.get("zones", ()):
        name, is_zone = zone["name"], "occupancy" in zone
        choose = "selectattr" if is_zone else "rejectattr"  # a line may have the name of a zone
        found = f"(value_json.zones | {choose}('occupancy', 'defined') | selectattr('name', 'eq', {text(name)}) | first)"
        if is_zone:
            yield "sensor", f"{name}, inside", "{{ " + found + ".occupancy }}", {"state_class": "measurement"}
            yield "binary_sensor", name, binary(found + ".occupancy > 0"), {"device_class": "occupancy"}
        for direction in zone["counts"]:
            way = direction["direction"]
            total = f"({found}.counts | selectattr('direction', 'eq', {text(way)}) | first).total"
            yield "sensor", f"{name}, {way}", "{{ " + total + " }}", {"state_class": "total_increasing"}
    for member, key in (("regions", "type"), ("detections", "class")):
        for kind in sorted({str(entry[key]) for entry in record.get(member, ()) if entry[key]}):
            count = f"value_json.{member} | default([]) | selectattr('{key}', 'eq', {text(kind)}) | list | count"
            if kind == "motion":
                yield "binary_sensor", "motion", binary(f"({count}) > 0"), {"device_class": "motion"}
            else:
                yield "sensor", f"{kind} in the picture", "{{ " + count + " }}", {"state_class": "measurement"}


class HomeAssistant:
    def __init__(self, prefix, target, status):
        self.prefix, self.target, self.status = prefix, target, status
        self.known = set()

    def discovery(self, record):
        """The messages for sensors that are new. They come before the line that first has their values."""
        source = record["source"]
        for kind, name, template, more in sensors(record):
            key = hashlib.sha256(json.dumps([source, kind, name]).encode()).hexdigest()[:12]
            if key not in self.known:
                self.known.add(key)
                number = re.sub(r"\W", "_", f"cudavision_{source}", flags=re.ASCII)
                body = {"name": name, "unique_id": f"{number}_{key}", "state_topic": self.target.address(source, LINE),
                        "value_template": template, "availability_topic": self.status,
                        "device": {"identifiers": [number], "name": source, "manufacturer": "gst-cudavision"}, **more}
                yield Message(source, "discovery", None, f"{self.prefix}/{kind}/{number}_{key}/config", True,
                              body=json.dumps(body).encode())
