# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes a folder of pictures for the example face_identification: make_faces.py FOLDER PERSONS PICTURES

Each person is a grating with its own direction; pictures of one person differ in phase, brightness and noise.
"""
import math
import pathlib
import random
import sys

WIDTH, HEIGHT = 46, 56


def face(person, persons, chance):
    angle, phase, mean = math.pi * person / persons, chance.uniform(0, 6), chance.uniform(90, 160)
    cosine, sine = math.cos(angle), math.sin(angle)
    return bytes(max(0, min(255, round(mean + 50 * math.sin(0.5 * (x * cosine + y * sine) + phase) + chance.gauss(0, 6))))
                 for y in range(HEIGHT) for x in range(WIDTH))


folder, persons, pictures = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
chance = random.Random(1)
for person in range(persons):
    (folder / f"s{person + 1}").mkdir(parents=True)
    for picture in range(pictures):
        (folder / f"s{person + 1}" / f"{picture + 1}.pgm").write_bytes(
            f"P5\n{WIDTH} {HEIGHT}\n255\n".encode() + face(person, persons, chance))
