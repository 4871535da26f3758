# SPDX-License-Identifier: LGPL-2.1-or-later
"""Playing one file reads nothing but that file.

Some files name others: a playlist (HLS, DASH, Smooth Streaming), a session description (SDP), a project of a video
editor. decodebin, which chooses elements by the content of a file, plays those too, whatever the name of the file is.
So a file from a stranger could send requests into a network, and mix other people's files into the result.
"""
import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

MODULES = {f"gst-plugins-{name}" for name in ("base", "good", "bad", "ugly")}
CLASSES = {"Codec/Demuxer", "Codec/Demuxer/Audio", "Codec/Demuxer/Metadata", "Codec/Demuxer/Video"}
NETWORK = {"data", "ftp", "http", "https", "icy", "icyx", "mms", "mmsh", "mmst", "rfb", "rist", "rtmp", "rtmpe", "rtmps", "rtmpt", "rtmpte",
           "rtmpts", "rtp", "rtsp", "rtsp-sdp", "rtsph", "rtsps", "rtspsh", "rtspst", "rtspsu", "rtspt", "rtspu", "srt", "udp"}


def read_nothing_else():
    """From now on, elements that open other files or addresses are not chosen by the content of a file. Those that a
    pipeline names, such as rtspsrc, can be used. Demuxers are allowed by class and origin, so that a new one is not."""
    kinds = Gst.ELEMENT_FACTORY_TYPE_DEMUXER | Gst.ELEMENT_FACTORY_TYPE_DECRYPTOR
    for factory in Gst.ElementFactory.list_get_elements(kinds, Gst.Rank.MARGINAL):
        if factory.get_metadata("klass") not in CLASSES or factory.get_plugin().get_source() not in MODULES:
            factory.set_rank(Gst.Rank.NONE)


def read_nothing_local(schemes):
    """From now on, what a camera on a network sends leads to no file and no device of this machine: elements that open
    other addresses than those of `schemes` and of the network, such as file:///…, are removed from the registry. So are
    elements that open addresses of unknown schemes."""
    if not schemes <= NETWORK:  # a scheme is local: then what cameras send must lead nowhere
        read_nothing_else()
    registry = Gst.Registry.get()
    for factory in registry.get_feature_list(Gst.ElementFactory):
        protocols = set(factory.get_uri_protocols() or ()) if factory.get_uri_type() == Gst.URIType.SRC else set()
        if not protocols <= NETWORK | schemes | {"appsrc"}:  # that one reads nothing by itself
            registry.remove_feature(factory.load() or factory)  # a plugin that is loaded later would bring it back
