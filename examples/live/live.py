#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows cameras and files in the browser, with all elements of gst-cudavision and their properties.
README.md describes it."""
import argparse
import asyncio
import ipaddress
import os
import pathlib
import re
import secrets
import signal
import sys

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(EXAMPLES), str(EXAMPLES / "batch"), str(EXAMPLES / "heatmap")]
import elements  # noqa: E402
from camera import Camera  # noqa: E402
from one_file import read_nothing_else, read_nothing_local  # noqa: E402
from server import Server  # noqa: E402
from sources import TEST_PICTURE, Source  # noqa: E402

PATIENCE = 3  # seconds that pipelines may take to stop
MOST_CAMERAS = 64

# For files and cameras: people are searched where something moves.
PEOPLE = ("cudabgsub scale=1/2 learning-rate=0.001 display=false ! "
          "cudahog model=people roi-type=motion hit-threshold=-0.3 display=false ! "
          "cudavisiontrack type=person ! cudavisionoverlay hide=motion")
EDGES = "cudacanny output=overlay color=lime"  # for source elements, whose test pictures show nobody

EXAMPLE = f"""example:
  cudavision-live --elements "{EDGES}" in.mp4"""


def folder(text):
    if not os.path.isdir(text):
        raise argparse.ArgumentTypeError(f"{text}: no such folder")
    return pathlib.Path(text).resolve()


def host_name(text):
    if not re.fullmatch(r"[^/\s@]+", text):
        raise argparse.ArgumentTypeError(f"{text}: a host name is without https:// and a path, as cams.example.org or "
                                         "cams.example.org:8443")
    return text


def options():
    parser = argparse.ArgumentParser(prog="cudavision-live", description=__doc__, epilog=EXAMPLE,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", metavar="SOURCE",
                        help="a file, a device such as /dev/video0, an address such as rtsp://…, or source elements as for "
                             "gst-launch-1.0; default: a test picture")
    parser.add_argument("--elements", metavar="TEXT",
                        help="the steps at the start, as for gst-launch-1.0; default: people with ids, and edges for source elements")
    parser.add_argument("--port", type=int, default=8080, metavar="N",
                        help="the port of the page; default: %(default)s; 0: any that is free")
    parser.add_argument("--listen", default="127.0.0.1", metavar="ADDRESS",
                        help="the address of this machine at which the page is served; default: %(default)s. Others need a token")
    parser.add_argument("--name", action="append", default=[], type=host_name, metavar="HOST",
                        help="a further host name that leads to this machine, or to a reverse proxy in front of it, as "
                             "cams.example.org or cams.example.org:8443")
    parser.add_argument("--folder", action="append", default=[], type=folder, metavar="DIR",
                        help="a folder with files that properties such as model-location may name; default: none")
    chosen = parser.parse_args()
    if len(chosen.sources) > MOST_CAMERAS:
        parser.error(f"at most {MOST_CAMERAS} sources can be shown")
    return parser, chosen


def is_loopback(address):
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def restrict(sources):
    """Content must not choose elements that open other files and addresses. What cameras on a network send may lead to
    further addresses, as playlists do, but to nothing local; if there are local sources, too, it leads nowhere."""
    if all(source.is_address for source in sources):
        read_nothing_local({source.text.partition("://")[0].lower() for source in sources})
    elif any(source.is_address or source.is_file for source in sources):
        read_nothing_else()


async def serve(chosen):
    token = None if is_loopback(chosen.listen) else secrets.token_urlsafe(24)
    catalogue = elements.offered()
    if not catalogue:
        raise elements.Refused("GStreamer does not find the plugin cudavision: is it installed, or does GST_PLUGIN_PATH name its "
                               "folder?")
    sources = [Source(text) for text in chosen.sources or [TEST_PICTURE]]
    described = [elements.steps_of_text(chosen.elements or (EDGES if source.parts is None else PEOPLE)) for source in sources]
    restrict(sources)
    server = Server(chosen, catalogue, token)
    for number, source in enumerate(sources):
        server.cameras.append(Camera(number, source, described[number], catalogue, chosen.folder, server))
    try:
        await server.start()
    except (OSError, OverflowError) as error:
        raise elements.Refused(f"{chosen.listen}, port {chosen.port}: {getattr(error, 'strerror', None) or error}") from error
    for camera in server.cameras:
        camera.later(camera.reconnect)
    host = f"[{chosen.listen}]" if ":" in chosen.listen else chosen.listen
    print(f"http://{host}:{chosen.port}/" + (f"?token={token}" if token else ""), flush=True)
    if token:
        print("There is no TLS: whoever can read the traffic sees the pictures and the token. In a network that is not your\n"
              "own, leave --listen out and use ssh -L.", file=sys.stderr, flush=True)
    stopped = asyncio.Event()
    for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    watching = asyncio.create_task(server.watch())
    await stopped.wait()
    watching.cancel()
    closing = [asyncio.get_running_loop().run_in_executor(None, camera.close) for camera in server.cameras]
    await asyncio.wait([asyncio.ensure_future(part) for part in (server.stop(), *closing)], timeout=PATIENCE)


def main():
    parser, chosen = options()
    try:
        asyncio.new_event_loop().run_until_complete(serve(chosen))
    except elements.Refused as refused:
        parser.error(str(refused))
    sys.stdout.flush()
    os._exit(0)  # even if a pipeline hangs


if __name__ == "__main__":
    main()
