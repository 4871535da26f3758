# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what of a camera's address the example batch shows, and how it reads lists. batch_addresses.sh runs it, in an
empty folder."""
import itertools
import os
import pathlib
import urllib.parse

import addresses
import videos

SECRETS = ("geheim", "p@ss", "p/ss", "p?ss", "p#ss", "a@b/c?d#e", "://x", "p:ss", "p&ss=x", "pä", "@", "//", "?", "p%40ss", "p+s s")
PLACES = ("rtsp://host:554/live", "http://[::1]:8080/a/b.mjpg", "rtspt://192.0.2.1")


def addresses_with(secret, place):
    scheme, rest = place.split("://")
    yield f"{scheme}://user:{secret}@{rest}"
    yield f"{scheme}://{secret}:x@{rest}"
    yield f"{place}?user=admin&password={secret}&channel=1"
    yield f"{place}#{secret}"
    yield f"{place}/user=admin&password={secret}&channel=1.sdp"


for secret, place in itertools.product(SECRETS, PLACES):
    for uri in addresses_with(secret, place):
        shown, name = addresses.public(uri), videos.Camera(uri.replace(" ", "")).name
        # only letters of the secret that no other part of the address has
        for word in [secret, "ss", "geheim", "pä"]:
            if word in secret and len(word) > 1 and word not in place:
                assert word not in shown.split("://", 1)[1], (uri, shown)
                assert word not in name, (uri, name)
        texts = [uri, f'Could not open "{uri}".', f"'{uri}/trackID=1'", f"http://other/{secret}", urllib.parse.unquote(uri),
                 f"no user for {secret}, please", f"GET {uri.partition('://')[2]} failed", urllib.parse.quote(uri, safe=":/@?&=#")]
        for text in texts:
            told = addresses.hide(text, uri)
            if len(secret) > 2 and secret != "://x":
                assert secret not in told and urllib.parse.quote(secret, safe="") not in told, (uri, text, told)
assert addresses.public("rtsp://host:554/live/1") == "rtsp://host:554/live/1"
assert addresses.public("rtsp://user:p@ss@host:554/live/1?a=b") == "rtsp://host:554/live/1"
assert addresses.public("rtsp://user:secret%40host:554/live") == "rtsp://host:554/live"
assert addresses.public("rtsp://host:554/a%40b") == "rtsp://host:554/a%40b"
assert addresses.hide("Could not open rtsp://user:secret%40host", "rtsp://user:secret%40host") == "Could not open rtsp://..."
assert addresses.hide("the disk is full", "rtsp://user:secret@host/live") == "the disk is full"
assert addresses.hide("401: wrong password for channel 1", "rtsp://h/a?password=secret&channel=1") == "401: wrong password for channel 1"


def read(*lines, more=()):
    pathlib.Path("cameras.txt").write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines))
    found, unusable = videos.cameras(["cameras.txt", *more])
    return [(c.source, c.uri) for c in found], [label + ": " + why for label, why in unusable]


found, unusable = read("rtsp://channel1:pw@nvr/live", "rtsp://channel2:pw@nvr/live", "door rtsp://a/1", "door rtsp://b/2")
assert len(found) == 2 and len(unusable) == 2, (found, unusable)
assert all(f"line {mine}" in text and f"line {its}" in text for text, mine, its in zip(unusable, (2, 4), (1, 3))), unusable
assert "'door'" in unusable[1] and "pw" not in "".join(unusable)
found, unusable = read("# two", "", "one rtsp://nvr/live?channel=1", "two rtsp://nvr/live?channel=2", "one rtsp://nvr/live?channel=1")
assert len(found) == 2 and not unusable, (found, unusable)
found, unusable = read("rtsp://nvr/live?channel=1", "rtsp://nvr/live?channel=2")
assert len(found) == 1 and len(unusable) == 1
found, unusable = read("a rtsp://b/1", more=["rtsp://u:geheim@b/1", "rtsp://u:anders@b/1"])
assert len(found) == 2 and unusable[0].startswith("input 3: ") and "input 2" in unusable[0] and "geheim" not in unusable[0], unusable
found, unusable = read(b"b\xff\x1b[31m rtsp://b/1", b"rtsp://b/\xff")
assert found == [("b\\xff\\x1b[31m", "rtsp://b/1")] and len(unusable) == 1, (found, unusable)
# different names have different results
names = {videos.Camera(f"{name} rtsp://a/1").name for name in ("a b".replace(" ", c) for c in "_-/.:")}
assert len(names) == 5

os.mkdir("rtsp:")
pathlib.Path("rtsp:/film.avi").touch()
found, unusable = videos.videos(["rtsp://film.avi", "rtsp:/film.avi", "rtsp://u:geheim@h/film.avi"])
# a file may have a name that looks like an address
assert [v.path for v in found] == [os.path.abspath("rtsp:/film.avi")], found
assert unusable == [("input 3", unusable[0][1])] and "geheim" not in unusable[0][1]
print("addresses are shown without passwords")
