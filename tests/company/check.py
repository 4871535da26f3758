# SPDX-License-Identifier: LGPL-2.1-or-later
"""What must hold after a run (run.py)."""
import math

from gi.repository import Gst

import frames
import reference
from run import RATE, Fault

CHANGING = Gst.BufferFlags.DISCONT | Gst.MiniObjectFlags.LOCKABLE | Gst.BufferFlags.TAG_MEMORY
NEAR = 1.01  # pixels
MOST_MISSING, LEAST_WALKED = 31, 8  # frames: the longest gap that a tracker bridges, and how many it needs before


def check(run, folder):
    for record in (run.record, run.end, run.sources, *run.others):
        if record.fault:
            raise Fault(f"a probe failed: {record.fault!r}") from record.fault
    warnings = [text for text in run.warnings if not may_warn(run, text)]
    require(not warnings, f"a warning: {warnings}")
    seen = sum(check_element(run, number, record, folder) for number, record in enumerate((run.record, *run.others)))
    least = 1 if run.is_live else run.neighbour.least  # a busy machine drops late frames
    require(seen >= (least if run.in_front else 1), f"only {seen} frames came out of the element")
    require(run.count() >= least, f"only {run.count()} frames came to the end")
    if run.in_front:
        check_front(run)
    else:
        BEHIND[run.neighbour.behind](run)
    if run.is_live:
        check_latency(run)


def may_warn(run, text):
    """Some neighbours make frames smaller than a window of the model of people, and a busy machine may be late."""
    return "nothing can be found" in text or (run.is_live and "was late" in text)


def require(condition, text):
    if not condition:
        raise Fault(text)


def check_element(run, number, record, folder):
    """Every frame has the results that the element gives it among plain frames."""
    parts, lost = reference.parts_of(record.items, run.element.variant == "every second")
    for frame, may_be in lost:
        require(may_be or run.is_live, f"the frame {frame.pts} was dropped")
    lines = reference.lines_of(run.lines_file(number)) if run.element.name == "cudavisionjson" else None
    for index, part in enumerate(parts):
        pictures, texts = reference.expected(run.element, run.backend, part, folder)
        require(len(pictures) == len(part.pairs), "the plain pipeline loses frames")
        got_ids, wanted_ids = {}, {}
        for i, ((before, after), wanted) in enumerate(zip(part.pairs, pictures)):
            where = f"part {index} of {len(parts)}, frame {i} of {len(part.pairs)} ({before.pts})"
            require(after.picture == wanted.picture, f"{where}: the picture is another than among plain frames")
            compare(ranked(after.metas, got_ids), ranked(wanted.metas, wanted_ids), where)
            require((after.pts, after.duration) == (before.pts, before.duration), f"{where}: the times changed")
            require((after.flags ^ before.flags) & ~int(CHANGING) == 0, f"{where}: the flags changed")
            if lines is not None:
                check_line(lines, before, texts[i], where)
        if run.element.name == "cudavisiontrack":
            check_tracks(part, f"part {index} of {len(parts)}")
    return sum(len(part.pairs) for part in parts)


def ranked(metas, ids):
    """Numbers tracks anew, in the order in which they come: after a flush the element does not begin at 1 again."""
    def content(meta):
        if meta.name != "region" or not meta.content[-1]:
            return meta.content
        return meta.content[:-1] + (ids.setdefault(meta.content[-1], len(ids) + 1),)
    return [(meta.name, content(meta)) for meta in metas]


def compare(got, wanted, where):
    names, wanted_names = ([name for name, _ in metas] for metas in (got, wanted))
    require(names == wanted_names, f"{where}: the results are {names}; among plain frames {wanted_names}")
    different = [name for (name, content), (_, plain) in zip(got, wanted) if content != plain]
    require(not different, f"{where}: {different} have other values than among plain frames")


def check_tracks(part, where):
    """Each walker keeps its number, also over missing frames: finds a tracker that is wrong among plain frames, too."""
    known, walked, last = [], 0, None  # the last numbers, how many frames in a row had them, and the last one's time
    for before, after in part.pairs:
        numbers = [meta.content[-1] for meta in after.metas if meta.name == "region"]
        step = 0 if last is None else abs(before.pts - last) * RATE // Gst.SECOND
        if before.regions != frames.walkers(before.pts) or step > MOST_MISSING:
            known, walked, last = [], 0, None  # GStreamer has moved the boxes, or the gap is too long for a tracker
            continue
        require(not known or (step > 1 and walked < LEAST_WALKED) or numbers == known,
                f"{where}: the walkers were {known}, and are {numbers} at {before.pts}, {step} frames later")
        known, walked, last = numbers, walked + 1, before.pts


def check_line(lines, frame, wanted, where):
    """Returns the next line that belongs to this frame, and skips lines of frames that were flushed away."""
    time = None if frame.pts == Gst.CLOCK_TIME_NONE else frame.pts
    while lines and lines[0]["pts"] != time:
        lines.pop(0)
    require(lines, f"{where}: it has no line")
    line = lines.pop(0)
    for member in line.keys() | wanted.keys():
        require(member in ("frame", "pts", "running-time") or line.get(member) == wanted.get(member),
                f"{where}: the line's {member} differs")
    boxes = [(region["type"], region["x"], region["y"], region["width"], region["height"]) for region in line["regions"]]
    require(boxes == frame.regions, f"{where}: the line's regions are {boxes}, those of the frame {frame.regions}")


# --- in front ---


def check_front(run):
    """Frames are whole when they come, and nobody has drawn on them."""
    came = [frame for record in (run.record, *run.others) for frame in record.frames("in")]
    require(run.neighbour.crops or not any(frame.has_crop for frame in came), "a crop was left to the element")
    if run.neighbour.keeps:
        made = run.made | {frame.picture for number in "12" for frame in run.sources.frames("source" + number)}
        require(all(frame.picture in made for frame in came), "a frame came that no source has made")


# --- behind ---


def only_own(metas):
    return [meta for meta in metas if meta.name != "region"]


def same(run):
    """Behind the neighbour, each picture still has the results that the element attached to it."""
    made, others = {}, {frame.picture for frame in run.sources.frames("source2")}
    for frame in run.record.frames("out"):
        made.setdefault(frame.picture, []).append([(meta.name, meta.content) for meta in frame.metas])
    for frame in run.end.frames("out"):
        require(frame.picture in made or frame.picture in others or not run.neighbour.keeps,
                f"behind, {frame.pts}: a picture that the element has not made")
        require(frame.picture not in made or [(meta.name, meta.content) for meta in frame.metas] in made[frame.picture],
                f"behind, {frame.pts}: other results than the element attached to this picture: {frame.metas}")


def lost(run):
    """The neighbour makes new frames, which must not have results."""
    for frame in run.end.frames("out"):
        require(not frame.metas, f"behind, {frame.pts}: there are {frame.metas}")


def moved(run):
    """Results must move with the part of the picture to which they belong, or be gone. Regions are GStreamer's task."""
    made = {}
    for frame in run.record.frames("out"):
        made.setdefault(frame.pts, []).extend(only_own(frame.metas))
    for frame in run.end.frames("out"):
        for meta in only_own(frame.metas):
            twins = [twin for twin in made.get(frame.pts, []) if twin.name == meta.name]
            # If the crop is still to be done by an element behind, the picture is whole.
            require(any(meta.content == twin.content if frame.has_crop else lies_right(meta, twin, run.neighbour.moves) for twin in twins),
                    f"behind, {frame.pts}: {meta} was at {[twin.points[:3] for twin in twins]}")


def lies_right(meta, twin, moves):
    """Whether each point of the meta is where a point of the twin, or a part of its lines, must have moved to."""
    ways = [[moves(*point[i:i + 2]) for i in range(0, len(point), 2)] for point in twin.points]
    return all(any(is_on(point, way) for way in ways) for point in meta.points)


def is_on(point, way):
    ends = [point[i:i + 2] for i in range(0, len(point), 2)]
    if len(way) == 1:
        return math.dist(ends[0], way[0]) <= NEAR
    (x1, y1), (x2, y2) = way
    length = math.dist(*way)
    return all(abs((x2 - x1) * (y - y1) - (y2 - y1) * (x - x1)) <= NEAR * length for x, y in ends)


BEHIND = {"same": same, "lost": lost, "moved": moved}

# --- live ---


def check_latency(run):
    """An element that takes a millisecond or more per frame must report it as latency, after some frames."""
    median = sorted(run.times)[len(run.times) // 2] if len(run.times) > 2 else 0
    if run.promise is not None and median >= Gst.MSECOND:
        require(run.promise >= median, f"the element takes {median / 1e6} ms and promises {run.promise / 1e6} ms")

# --- the elements themselves ---


def check_effect(run):
    """The element attaches something, draws, or does both, as its variant says."""
    pairs = [pair for part in reference.parts_of(run.record.items, False)[0] for pair in part.pairs]
    attached = sum(len(after.metas) > len(before.metas) or after.metas != before.metas for before, after in pairs)
    drawn = sum(before.picture != after.picture for before, after in pairs)
    wanted = {"drawn": drawn or attached, "metas alone": not drawn, "every second": 0 < (drawn or attached) < len(pairs)}
    require(wanted[run.element.variant] or run.element.name == "cudavisionjson",
            f"{run.element}: {attached} of {len(pairs)} frames have new results, {drawn} are drawn on")
