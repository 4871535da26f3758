# SPDX-License-Identifier: LGPL-2.1-or-later
"""Models of cudahog with decimal points, in each format, and one with a decimal comma."""
import pathlib

import cv2


def write_models(folder):
    detector = cv2.HOGDescriptor()
    weights = cv2.HOGDescriptor_getDefaultPeopleDetector()
    detector.setSVMDetector(weights)
    for kind in ("xml", "yml"):
        detector.save(f"{folder}/model.{kind}")
    numbers = " ".join(repr(float(weight)) for weight in weights.ravel())
    pathlib.Path(folder, "model.txt").write_text(numbers, encoding="ascii")
    pathlib.Path(folder, "decimal_comma.txt").write_text(numbers.replace(".", ",", 1), encoding="ascii")
