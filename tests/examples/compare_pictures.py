#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares WebP pictures, still or animated: compare_pictures.py FOLDER_OF_EXPECTED FOLDER_OF_MADE

The mean colours of squares of 8x8 pixels are compared. A square differs if one is more than 10 grey levels away;
rounding does not do that. 0.3 % of the squares may differ.

Where another version of the video's decoder has decoded other pixels, boxes move by a few pixels. decoded.md5 tells so,
and 10 % of the squares may differ then in pictures that were made from the video.
"""
import ctypes
import pathlib
import sys

import numpy

SIDE, LEVELS, SHARE, SHARE_OF_OTHER_PIXELS = 8, 10, 0.003, 0.1
FROM_PICTURES = {
    f"{name}.webp" for name in ("cudacanny", "cudahistogram", "cudalocalhist", "cudahough", "cudasigma2kp")}
ABI = 0x0107  # of WebPAnimDecoder, whose structs follow


class Data(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char_p), ("size", ctypes.c_size_t)]


class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("width", "height", "loops", "background", "frames")] + [
        ("pad", ctypes.c_uint32 * 4)]


webp = ctypes.CDLL("libwebpdemux.so.2")
webp.WebPAnimDecoderNewInternal.restype = ctypes.c_void_p
webp.WebPAnimDecoderNewInternal.argtypes = ctypes.POINTER(Data), ctypes.c_void_p, ctypes.c_int
webp.WebPAnimDecoderGetInfo.argtypes = ctypes.c_void_p, ctypes.POINTER(Info)
webp.WebPAnimDecoderGetNext.argtypes = ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_int)
webp.WebPAnimDecoderDelete.argtypes = (ctypes.c_void_p,)


def frames(path):
    """The frames of a file, as one array: [frame][row][column][red, green, blue]."""
    content = path.read_bytes()
    data, info = Data(content, len(content)), Info()
    decoder = webp.WebPAnimDecoderNewInternal(data, None, ABI)
    if not decoder or not webp.WebPAnimDecoderGetInfo(decoder, info):
        raise SystemExit(f"{path}: no WebP picture")
    found, pixels, time = [], ctypes.c_void_p(), ctypes.c_int()
    while webp.WebPAnimDecoderGetNext(decoder, pixels, time):
        rgba = numpy.frombuffer(ctypes.string_at(pixels, 4 * info.width * info.height), numpy.uint8)
        found.append(rgba.reshape(info.height, info.width, 4)[:, :, :3])
    webp.WebPAnimDecoderDelete(decoder)
    return numpy.stack(found)


def squares(pictures):
    """The mean colour of each whole square."""
    count, rows, columns = pictures.shape[0], pictures.shape[1] // SIDE, pictures.shape[2] // SIDE
    whole = pictures[:, :rows * SIDE, :columns * SIDE].reshape(count, rows, SIDE, columns, SIDE, 3)
    return whole.mean(axis=(2, 4))


def share_of_different_squares(expected, made):
    return (abs(squares(expected) - squares(made)).max(axis=-1) > LEVELS).mean()


expected, made = map(pathlib.Path, sys.argv[1:3])
names = sorted({path.name for folder in (expected, made) for path in folder.glob("*.webp")})
failed = not names
same_pixels = (expected / "decoded.md5").read_text() == (made / "decoded.md5").read_text()
if not same_pixels:
    print(f"The decoder has decoded other pixels: {100 * SHARE_OF_OTHER_PIXELS:g} % of the video's squares may differ.")
for name in names:
    if not (expected / name).exists() or not (made / name).exists():
        print(f"{name}: in one folder only")
        failed = True
        continue
    before, now = frames(expected / name), frames(made / name)
    if before.shape != now.shape:
        print(f"{name}: {now.shape} instead of {before.shape}")
        failed = True
        continue
    share = share_of_different_squares(before, now)
    print(f"{name}: {100 * share:.3f} % of the squares differ")
    failed = failed or share > (SHARE if same_pixels or name in FROM_PICTURES else SHARE_OF_OTHER_PIXELS)
sys.exit(1 if failed else 0)
