#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes files with the names of videos that ask for other files and addresses, and an HTTP server that they ask.

  asking_files.py FOLDER VIDEO LOG

VIDEO is somebody else's, which some of the files name. LOG receives the path of each request. The server has a
playlist, /local.m3u8, which names VIDEO. Prints the port when it is ready.
"""
import http.server
import os
import pathlib
import sys

folder, video, log = map(pathlib.Path, sys.argv[1:])


class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(log, "a", encoding="utf-8") as file:
            print(self.path, file=file)
        if self.path != "/local.m3u8":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.apple.mpegurl")
        self.end_headers()
        self.wfile.write(hls(video.as_uri()).encode())

    do_HEAD = do_POST = do_GET

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
host = f"127.0.0.1:{server.server_port}"


def hls(*entries):
    return "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:5\n" + "".join(f"#EXTINF:5,\n{entry}\n" for entry in entries) + \
        "#EXT-X-ENDLIST\n"


def dash(address):
    return f"""<?xml version="1.0"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT9S" minBufferTime="PT1S"
 profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"><BaseURL>{address}</BaseURL><Period><AdaptationSet mimeType="video/mp4">
<Representation id="v" bandwidth="1000" width="64" height="64" codecs="avc1.42c01e"><SegmentList duration="5">
<Initialization sourceURL="init.mp4"/><SegmentURL media="dash.mp4"/></SegmentList></Representation></AdaptationSet></Period></MPD>
"""


def smooth():
    return f"""<?xml version="1.0"?>
<SmoothStreamingMedia MajorVersion="2" MinorVersion="0" Duration="90000000"><StreamIndex Type="video" Chunks="1" QualityLevels="1"
 Url="http://{host}/smooth/QualityLevels({{bitrate}})/Fragments(video={{start time}})"><QualityLevel Index="0" Bitrate="1000"
 FourCC="H264" MaxWidth="64" MaxHeight="64" CodecPrivateData="000000016742C01E"/><c t="0" d="90000000"/></StreamIndex>
</SmoothStreamingMedia>
"""


def session(address):
    return ("v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=holiday\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
            f"a=control:{address}\r\nm=video 5004 RTP/AVP 26\r\na=rtpmap:26 JPEG/90000\r\n")


def project():
    return f"""<ges version='0.7'><project properties='properties;' metadatas='metadatas;'><ressources>
<asset id='{video.as_uri()}' extractable-type-name='GESUriClip' properties='properties;' metadatas='metadatas;'/></ressources>
<timeline properties='properties;' metadatas='metadatas;'><track caps='video/x-raw' track-type='4' track-id='0'/>
<layer priority='0'><clip id='0' asset-id='{video.as_uri()}' type-name='GESUriClip' layer-priority='0' track-types='6' start='0'
 duration='1000000000' inpoint='0' rate='0'/></layer></timeline></project></ges>
"""


def behind_id3(text):
    return b"ID3\x03\x00\x00\x00\x00\x00\x0a" + bytes(10) + text.encode()


def multipart(kind, text):
    text += 300 * "\n"  # GStreamer looks at 256 bytes
    return f"--part\r\nContent-Type: {kind}\r\nContent-Length: {len(text)}\r\n\r\n{text}\r\n--part\r\n"


variants = f"#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000\nhttp://{host}/variant.m3u8\n"
keys = hls(video.as_uri()).replace("#EXTINF", f'#EXT-X-KEY:METHOD=AES-128,URI="http://{host}/key"\n#EXTINF', 1)
subtitles = variants.replace("#EXT-X-STREAM", f'#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="s",URI="http://{host}/subtitles"\n'
                             '#EXT-X-STREAM')
files = {
    "hls.mp4": hls(f"http://{host}/segment.ts"), "variants.mp4": variants, "keys.mp4": keys, "subtitles.mkv": subtitles,
    "local.mp4": hls(video.as_uri()), "relative.avi": hls(os.path.relpath(video, folder)),
    "sound.mp4": variants.replace("#EXT-X-STREAM", f'#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="a",URI="http://{host}/sound"\n'
                                  '#EXT-X-STREAM'),
    "dash.mp4": dash(f"http://{host}/"), "dash_local.mp4": dash(video.parent.as_uri() + "/"), "smooth.mov": smooth(),
    "smooth_utf16.mov": smooth().encode("utf-16"),
    "session.mp4": session("*"), "session_rtsp.mp4": session(f"rtsp://{host}/session"), "project.mp4": project(),
    "id3.mp4": behind_id3(hls(f"http://{host}/id3.ts")),
    "multipart.avi": multipart("application/x-hls", hls(f"http://{host}/multipart.ts")),
    "multipart_dash.avi": multipart("application/dash+xml", dash(f"http://{host}/multipart/")),
    "multipart_sdp.avi": multipart("application/sdp", session("*")),
    "list.mp4": f"ffconcat version 1.0\nfile 'http://{host}/list.ts'\nfile '{video}'\n",
    "uris.mp4": f"http://{host}/uris.mp4\n{video.as_uri()}\n", "pls.mp4": f"[playlist]\nFile1=http://{host}/pls\n",
    "asx.wmv": f'<asx version="3.0"><entry><ref href="http://{host}/asx"/></entry></asx>\n',
    "smil.mp4": f'<smil><body><video src="http://{host}/smil"/></body></smil>\n',
    "text.mp4": f"RTSPtextRTSP://{host}/text\nhttp://{host}/text\n",
}
folder.mkdir(parents=True, exist_ok=True)
for name, content in files.items():
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
print(server.server_port, flush=True)
server.serve_forever()
