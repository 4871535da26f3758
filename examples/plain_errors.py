# SPDX-License-Identifier: LGPL-2.1-or-later
"""Errors of pipelines as one line that says what to do. GStreamer's texts are in the user's language, so codes decide."""
import os
import pathlib
import re
import signal
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402
from one_file import read_nothing_else  # noqa: E402

signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python notices ^C only when GStreamer returns to it, which may wait for ever

PARSE, CORE, STREAM = "gst_parse_error", "gst-core-error-quark", "gst-stream-error-quark"
HELP = {
    (PARSE, int(Gst.ParseError.SYNTAX)): "elements are written as for gst-launch-1.0, with ! between them",
    (PARSE, int(Gst.ParseError.NO_SUCH_ELEMENT)): "is it misspelt, or not installed? gst-inspect-1.0 lists the elements",
    (PARSE, int(Gst.ParseError.NO_SUCH_PROPERTY)): "gst-inspect-1.0 and the element's name list the properties",
    (PARSE, int(Gst.ParseError.COULD_NOT_SET_PROPERTY)): "gst-inspect-1.0 and the element's name list the values",
    (PARSE, int(Gst.ParseError.LINK)): "is decodebin or videoconvert missing between them?",
    (PARSE, int(Gst.ParseError.DELAYED_LINK)): "is there a video in the file, and a videoconvert between formats?",
    (CORE, int(Gst.CoreError.MISSING_PLUGIN)): "if it is a video, gstreamer1.0-libav or gstreamer1.0-plugins-bad may decode it",
    (STREAM, int(Gst.StreamError.TYPE_NOT_FOUND)): "the file is no video or picture that GStreamer knows",
    (STREAM, int(Gst.StreamError.FAILED)): "is there a video in the file, and a videoconvert between formats?",
}


def source_of(text):
    """The elements of a source: of a file, if the text names one, or the text itself. No character of a URI is special."""
    return f"urisourcebin uri={pathlib.Path(text).absolute().as_uri()} ! decodebin" if os.path.isfile(text) else text


def upright(source):
    """The elements of a source, with frames as they are to be shown: phones store portraits sideways, with a tag."""
    return f"{source_of(source)} ! videoconvert ! videoflip video-direction=auto"


told = set()  # the warnings that were printed


def with_help(text, error):
    """The text in one line, with what helps against the GLib.Error, if that is known."""
    more = HELP.get((error.domain, error.code))
    line = " ".join(text.split())
    return f"{line.removesuffix('.')}: {more}" if more else line


def no_source(source):
    """Says what is wrong with a file, if the text begins with the name of one; otherwise ""."""
    first = source.partition(" ! ")[0].strip()
    if "=" in first or "://" in first or Gst.ElementFactory.find(first):
        return ""
    if os.path.isdir(first):
        return f"{first}: this is a folder, name a file in it"
    if os.path.lexists(first):
        return f"{first} is a file, not an element: write 'filesrc location=\"{first}\" ! decodebin'"
    if "/" in first or re.search(r"\w\.\w", first):
        return f"{first}: there is no such file"
    return ""


def launch(description):
    """Gst.parse_launch(), of which decodebin reads no other files. A wrong description ends the program with one line."""
    read_nothing_else()
    try:
        pipeline = Gst.parse_launch(description)
    except GLib.Error as error:
        raise SystemExit(no_source(description) or with_help(error.message, error)) from None
    pipeline.get_bus().enable_sync_message_emission()
    pipeline.get_bus().connect("sync-message::warning", tell)
    return pipeline


def tell(bus, message):
    """Prints a warning once. If decodebin warns that the elements after it do not take what a file holds, it becomes an error: of
    a short file, which decodebin has read to its end by then, no error and no end of the stream would follow."""
    error, details = message.parse_warning()
    if error.matches(GLib.quark_from_string(PARSE), Gst.ParseError.DELAYED_LINK):
        bus.post(Gst.Message.new_error(message.src, error, details))
    elif (text := text_of(message)) not in told:
        told.add(text)
        print("warning:", text, file=sys.stderr, flush=True)


def text_of(message):
    """The error or the warning of a message: who speaks, why, and the last line of the details, which names files."""
    error, details = message.parse_error() if message.type == Gst.MessageType.ERROR else message.parse_warning()
    last = (details or "").strip().partition("\n")[2].split("\n")[-1]  # the first line is a place in GStreamer's sources
    more = f" ({last})" if last and last not in error.message else ""
    return with_help(f"{message.src.get_name()}: {error.message}{more}", error)
