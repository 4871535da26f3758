#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tracks and draws the people whom a detector of OpenCV finds in every third frame: own_detector.py SOURCE SINK

  own_detector.py street.mp4 "videoconvert ! autovideosink"
"""
try:
    import cv2
    import numpy
except ImportError as error:
    raise SystemExit(f"{error}: install python3-opencv and python3-numpy, and use Debian's /usr/bin/python3") from None
from frames import Gst, GstCudaVision, arguments, launch, text_of, upright

EVERY_NTH = 3
source, sink = arguments(2)
detector, number = cv2.HOGDescriptor(), 0
detector.setSVMDetector(cv2.HOGDescriptor_getDefaultPeopleDetector())


def detect(pad, info):
    """Attaches boxes to the frame in info. The tracker predicts the boxes of frames that are not marked as analysed."""
    global number
    number += 1
    if number % EVERY_NTH == 1:
        (plane,) = GstCudaVision.frame_tensors(info.get_buffer(), pad.get_current_caps())
        boxes, scores = detector.detectMultiScale(numpy.array(plane))  # a copy: OpenCV wants rows without gaps
        GstCudaVision.mark_analysed(info, "person")  # also if there are no boxes
        for box, score in zip(boxes, scores):
            GstCudaVision.add_region(info, "person", *box, score=score)
    return Gst.PadProbeReturn.OK


pipeline = launch(f"{upright(source)} ! video/x-raw,format=BGR ! identity name=detector !"
                  f" cudavisiontrack min-hits=0 ! cudavisionoverlay ! {sink}")
pipeline.get_by_name("detector").get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, detect)
pipeline.set_state(Gst.State.PLAYING)
message = pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
pipeline.set_state(Gst.State.NULL)
if message.type == Gst.MessageType.ERROR:
    raise SystemExit(text_of(message))
