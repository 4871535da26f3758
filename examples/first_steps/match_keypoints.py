#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds what two pictures of about the same scale have in common: keypoints of cudasigma2kp, described, matched and
drawn by OpenCV.

  match_keypoints.py graf1.png graf3.png matches.png
"""
try:
    import cv2
    import numpy
except ImportError as error:
    raise SystemExit(f"{error}: install python3-opencv and python3-numpy, and use Debian's /usr/bin/python3") from None
from frames import GstCudaVision, arguments, samples, upright

DETECTOR = "cudasigma2kp display=false window=7 cell=8 tau=3.9 grids=4 min-distance=5 orientation=true max-keypoints=1000"


def describe(file):
    """A picture, its keypoints, and OpenCV's descriptors of them."""
    sample, *others = samples(f"{upright('filesrc name=file ! decodebin')} ! video/x-raw,format=GRAY8 ! {DETECTOR}", file)
    if others:
        raise SystemExit(f"{file} is no picture, but a video")
    (plane,) = GstCudaVision.frame_tensors(sample.get_buffer(), sample.get_caps())
    picture = numpy.array(plane)  # OpenCV wants rows without gaps
    found = numpy.asarray(GstCudaVision.buffer_get_keypoints_meta(sample.get_buffer()))
    points = [cv2.KeyPoint(float(x), float(y), 31, float(numpy.degrees(angle))) for x, y, _, angle in found]
    if not points:
        raise SystemExit(f"{file} has no keypoints: is there any texture in it?")
    return picture, *cv2.ORB_create().compute(picture, points)


*pictures, drawn = arguments(3)
(first, points1, descriptors1), (second, points2, descriptors2) = map(describe, pictures)
matches = cv2.BFMatcher(cv2.NORM_HAMMING, crossCheck=True).match(descriptors1, descriptors2)
if len(matches) < 4:
    raise SystemExit(f"the pictures have {len(matches)} keypoints in common: a homography needs four")
here, there = (numpy.float32([points[index].pt for points, index in pairs]) for pairs in
               ([(points1, match.queryIdx) for match in matches], [(points2, match.trainIdx) for match in matches]))
homography, agree = cv2.findHomography(here, there, cv2.RANSAC, 4.0)
inliers = [match for match, good in zip(matches, agree.ravel()) if good]
try:
    written = cv2.imwrite(drawn, cv2.drawMatches(first, points1, second, points2, inliers, None))
except cv2.error:  # it knows no such kind of picture
    written = False
if not written:
    raise SystemExit(f"{drawn} cannot be written: does its folder exist, and does its name end as that of a picture?")
print(f"{len(points1)} and {len(points2)} keypoints, {len(matches)} matches, {len(inliers)} of them agree on one homography")
