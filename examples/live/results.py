# SPDX-License-Identifier: LGPL-2.1-or-later
"""What pages and Prometheus are told: a digest of a frame's line of JSON, and the counters of all cameras."""
import collections
import json

MOST_ROWS = 40
LONGEST_LINE = 2_000_000  # bytes; longer lines are not parsed
NAMES = {"regions": "type", "detections": "class"}


def digest(frame, histogram):
    """What a page shows of a frame: numbers, and the first entries of lists."""
    if len(frame.line) > LONGEST_LINE:
        return {"pts": frame.pts, "counts": {}, "lists": {}, "tensors": [], "events": [], "long": len(frame.line)}
    record, counts = json.loads(frame.line), collections.Counter()
    lists = {name: record.get(name, []) for name in ("regions", "detections", "keypoints", "lines", "classifications")}
    for name, found in lists.items():
        for entry in found if name in NAMES else ():
            counts[entry.get(NAMES[name]) or name] += 1
        if name not in NAMES and name in record:
            counts[name] = len(found)
    for zone in record.get("zones", ()):
        if "occupancy" in zone:
            counts[f"{zone['name']}, inside"] = zone["occupancy"]
        for direction in zone["counts"]:
            counts[f"{zone['name']}, {direction['direction']}"] = direction["total"]
    tensors = [{name: value for name, value in tensor.items() if name != "data"} for tensor in record.get("tensors", ())]
    return {"pts": frame.pts, "counts": counts, "lists": {name: found[:MOST_ROWS] for name, found in lists.items() if found},
            "tensors": tensors[:MOST_ROWS], "events": record.get("events", []), "histogram": histogram}


def label(value):
    return str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


def metrics(cameras, viewers):
    """The counters in the text format of Prometheus."""
    metrics_of = {
        "frames_total": ("counter", "Frames that came from the source", lambda c: c.came),
        "dropped_frames_total": ("counter", "Frames that were left out, because the steps were busy", lambda c: c.dropped),
        "late_frames_total": ("counter", "Frames whose steps took longer than a frame lasts", lambda c: c.late),
        "errors_total": ("counter", "Errors of the source and of the steps", lambda c: c.errors + c.failures),
        "up": ("gauge", "1 if the source delivers frames", lambda c: int(c.works())),
    }
    lines = []
    for name, (kind, text, value) in metrics_of.items():
        lines += head(name, kind, text)
        lines += [sample(name, value(c), camera=c.number, name=c.source.name) for c in cameras]
    sides = [(c, side, chain) for c in cameras for side, chain in list(c.chains.items())]
    lines += head("processed_frames_total", "counter", "Frames that have come out of the steps, since these steps began")
    lines += [sample("processed_frames_total", chain.processed, camera=c.number, side=side) for c, side, chain in sides]
    lines += head("step_seconds_total", "counter", "Seconds that a step has taken, since these steps began")
    lines += [sample("step_seconds_total", round(chain.seconds[n], 6), camera=c.number, side=side, step=n, element=step.factory)
              for c, side, chain in sides for n, step in enumerate(chain.steps)]
    lines += head("zone_events_total", "counter", "Events of lines and zones")
    lines += [sample("zone_events_total", count, camera=c.number, zone=zone, event=event)
              for c in cameras for (zone, event), count in list(c.events.items())]
    lines += head("camera_trouble", "gauge", "1 while cudacameracheck tells this trouble of the camera")
    lines += [sample("camera_trouble", int(lasts), camera=c.number, name=c.source.name, trouble=trouble)
              for c in cameras for trouble, lasts in list(c.troubles.items())]
    lines += head("pages", "gauge", "Open pages")
    return "\n".join([*lines, sample("pages", viewers), ""])


def sample(metric, count, /, **labels):
    text = ",".join(f'{name}="{label(value)}"' for name, value in labels.items())
    return f"cudavision_{metric}{{{text}}} {count}" if text else f"cudavision_{metric} {count}"


def head(name, kind, text):
    return [f"# HELP cudavision_{name} {text}", f"# TYPE cudavision_{name} {kind}"]
