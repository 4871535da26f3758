# SPDX-License-Identifier: LGPL-2.1-or-later
"""What some neighbours (neighbours.py) need besides a line of text: files, programs beside them, somebody who acts."""
import functools
import os
import threading

import gi
import numpy
from gi.repository import GLib, Gst, GstVideo

import frames
from run import END, RATE

PICTURES = (f"videotestsrc num-buffers=24 pattern=spokes horizontal-speed=2 ! video/x-raw,format=I420,width=128,height=128,"
            f"framerate={RATE}/1 ! jpegenc")


def make(text):
    pipeline = Gst.parse_launch(text)
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(60 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message is None or message.type == Gst.MessageType.ERROR:
        raise RuntimeError(f"{text}: {message.parse_error() if message else 'no end'}")


@functools.cache
def made(folder, name, text):
    """Makes a file, or several whose names follow a pattern, once."""
    make(f"{PICTURES} ! {text.format(folder / name)}")
    return folder / name


def clip(run):
    run.values["file"] = made(run.folder, "clip.mov", "qtmux ! filesink location={}")


def clips(run):
    made(run.folder, "part%02d.mov", "splitmuxsink muxer=qtmux max-size-time=400000000 location={}")
    run.values["files"] = run.folder / "part*.mov"


def pictures(run):
    run.values["pictures"] = made(run.folder, "picture%02d.jpeg", "multifilesink location={}")


def playbin(run):
    clip(run)
    run.pipeline = Gst.ElementFactory.make("playbin")
    run.pipeline.set_property("uri", run.values["file"].as_uri())
    for name, text in (("video-filter", run.chain()), ("video-sink", END.format(sync="false"))):
        bin_of_text = Gst.parse_bin_from_description(text, True)
        run.watch(bin_of_text)
        run.pipeline.set_property(name, bin_of_text)
    run.pipeline.set_property("flags", 1)  # only video, no sound


def pipe(run):
    read, write = os.pipe()
    run.values.update(read=read, write=write)
    run.closers.append(functools.partial(os.close, read))


def end_of_pipe(run):
    """The reader sees the end of the stream when the writer closes its end."""
    def probe(_pad, info):
        if info.get_event().type == Gst.EventType.EOS:
            os.close(run.values["write"])
        return Gst.PadProbeReturn.OK
    run.by_name("writer").get_static_pad("sink").add_probe(Gst.PadProbeType.EVENT_DOWNSTREAM, probe)


# --- somebody who acts while frames pass ---


def on_frame(pad, act):
    """Calls act with the number of each frame before it passes the pad."""
    numbers = iter(range(1 << 30))

    def probe(_pad, _info):
        act(next(numbers))
        return Gst.PadProbeReturn.OK
    pad.add_probe(Gst.PadProbeType.BUFFER, probe)


def close_for_a_while(run):
    """Drops frames for a second and a half, longer than the smallest gap that an element must bridge."""
    valve = run.by_name("valve")
    on_frame(valve.get_static_pad("sink"), lambda number: valve.set_property("drop", 10 <= number < 40))


def select_in_turn(run):
    selector = run.by_name("n")
    pads = list(selector.sinkpads)
    on_frame(selector.get_static_pad("src"),
             lambda number: number % 5 == 4 and selector.set_property("active-pad", pads[number // 5 % 2]))


def go_on(run):
    """Lets the times of the second video follow those of the first one, as in a playlist; its stream id differs."""
    run.by_name("source2").set_property("timestamp-offset", run.duration)


FLAGS = ("GAP", "DROPPABLE", "CORRUPTED", "HEADER", "MARKER", "DISCONT", "DELTA_UNIT", "RESYNC", "NON_DROPPABLE")


def mark(run):
    """Sets a flag on each frame, and sends a gap event now and then."""
    def act(pad, info):
        number = info.get_buffer().pts * RATE // Gst.SECOND
        frames.set_flag(info.data, getattr(Gst.BufferFlags, FLAGS[number % len(FLAGS)]))
        if number % 4 == 1:
            pad.push_event(Gst.Event.new_gap(number * Gst.SECOND // RATE, Gst.SECOND // RATE))
        return Gst.PadProbeReturn.OK
    run.by_name("flagged").get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, act)


def put_in_and_out(run):
    """Makes the pipeline with the element in a bin, which is taken out, or put in again, at every eighth frame."""
    run.pipeline = Gst.parse_launch(run.text(run.neighbour.text) + f" ! {END.format(sync=str(run.is_live).lower())}")
    before, end = run.pipeline.get_by_name("before"), run.pipeline.get_by_name("end")
    inside, numbers = [], iter(range(1, 1 << 30))

    def put_in():
        inside.append(Gst.parse_bin_from_description(run.chain(len(run.others)), True))
        before.unlink(end)
        run.pipeline.add(inside[0])
        before.link(inside[0])
        inside[0].link(end)
        inside[0].sync_state_with_parent()

    def take_out():
        old = inside.pop()
        old.set_state(Gst.State.NULL)
        run.pipeline.remove(old)
        before.link(end)

    def probe(_pad, _info):
        number = next(numbers)
        if number % 8 == 0 and inside:
            take_out()
        elif number % 8 == 0:
            run.others.append(frames.Record(run.tell))
            put_in()
            run.watch_element(inside[0], run.others[-1])
        return Gst.PadProbeReturn.PASS

    put_in()
    before.get_static_pad("src").add_probe(Gst.PadProbeType.BLOCK | Gst.PadProbeType.BUFFER, probe)


# --- frames of a program ---

WIDTH, HEIGHT = 128, 128
PLANES = ((0, WIDTH, HEIGHT), (1, WIDTH // 2, HEIGHT // 2), (2, WIDTH // 2, HEIGHT // 2))  # of I420


def picture(number):
    """A ring that moves, as the rows of each plane."""
    y, x = numpy.mgrid[:HEIGHT, :WIDTH]
    luma = 128 + 100 * numpy.sin(numpy.hypot(x - 40 - 3 * number, y - 60) / 3)
    chroma = 60 + x[:HEIGHT // 2, :WIDTH // 2]
    return [plane.astype(numpy.uint8) for plane in (luma, chroma, 255 - chroma)]


LAYOUTS = ("plain", "padded", "upside down", "planes apart", "cropped", "behind a header")


def laid_out(planes, layout):
    """A buffer with the picture in one of the layouts."""
    margin = 16 if layout == "cropped" else 0
    parts = [bytes(5)] if layout == "behind a header" else []
    offsets, strides = [], []
    for plane in planes:
        around = margin * plane.shape[1] // WIDTH
        rows = numpy.pad(plane, around, constant_values=99)
        if layout == "padded":
            rows = numpy.pad(rows, ((0, 0), (0, 24)), constant_values=99)
        upside_down = layout == "upside down"
        stride = rows.shape[1]
        offsets.append(sum(map(len, parts)) + (stride * (len(rows) - 1) if upside_down else 0))
        strides.append(-stride if upside_down else stride)
        parts.append((rows[::-1] if upside_down else rows).tobytes())
    buffer = Gst.Buffer.new()
    for part in parts if layout == "planes apart" else [b"".join(parts)]:
        buffer = buffer.append(Gst.Buffer.new_wrapped(part))
    if layout != "plain":
        GstVideo.buffer_add_video_meta_full(buffer, GstVideo.VideoFrameFlags.NONE, GstVideo.VideoFormat.I420,
                                            WIDTH + 2 * margin, HEIGHT + 2 * margin, 3, offsets + [0], strides + [0])
    if margin:
        numbers = frames.numbers_of_crop(buffer.add_meta(GstVideo.video_crop_meta_get_info(), None))
        numbers[:] = [margin, margin, WIDTH, HEIGHT]
    return buffer


def push_odd(run):
    """Lets the appsrc push frames with different layouts, one after another, the last ones without times."""
    source, numbers = run.by_name("odd"), iter(range(1 << 30))
    source.set_property("caps", Gst.Caps.from_string(f"video/x-raw,format=I420,width={WIDTH},height={HEIGHT},framerate={RATE}/1"))

    def need(_source, _size):
        number = next(numbers)
        if number == 3 * len(LAYOUTS):
            source.end_of_stream()
        elif number < 3 * len(LAYOUTS):
            planes = picture(number)
            run.made.add(b"".join(plane.tobytes() for plane in planes))
            buffer = laid_out(planes, LAYOUTS[number % len(LAYOUTS)])
            if number < 2 * len(LAYOUTS):
                buffer.pts = number * Gst.SECOND // RATE
            source.push_buffer(buffer)
    source.connect("need-data", need)


# --- a server ---


@functools.cache
def main_loop():
    loop = GLib.MainLoop()
    thread = threading.Thread(target=loop.run, daemon=True)
    thread.start()
    return loop, thread


def serve(run):
    """Plays through an RTSP server; the element is in its pipeline if the element stands before the neighbour."""
    gi.require_version("GstRtspServer", "1.0")
    from gi.repository import GstRtspServer

    main_loop()
    server, factory = GstRtspServer.RTSPServer(), GstRtspServer.RTSPMediaFactory()
    server.set_address("127.0.0.1")
    server.set_service("0")
    factory.set_launch(run.text("( {source} ! rtpvrawpay name=pay0 )"))
    factory.connect("media-configure", lambda _factory, media: run.watch(media.get_element()))
    server.get_mount_points().add_factory("/video", factory)
    watch = server.attach(None)
    run.values["address"] = f"rtsp://127.0.0.1:{server.get_bound_port()}/video"
    run.closers.append(lambda: GLib.source_remove(watch))


def end_servers():
    """Waits for the threads of the servers, at the end of the program: a thread whose client has gone releases
    callbacks in Python. If it did that after the end of the interpreter, the process would die or hang."""
    if main_loop.cache_info().currsize:
        from gi.repository import GstRtspServer

        GstRtspServer.RTSPThreadPool.cleanup()
        loop, thread = main_loop()
        loop.quit()
        thread.join()


def missing(hook):
    """Names what the hook needs and this machine lacks."""
    if hook is serve:
        try:
            gi.require_version("GstRtspServer", "1.0")
        except ValueError as why:
            return [str(why)]
    return []
