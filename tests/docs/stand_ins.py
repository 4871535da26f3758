# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the commands and programs of the pages find when a test runs them: short videos, pictures, and a gst-launch-1.0
that needs neither a window nor a camera."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from pages import ROOT

FRAMES = 6  # of each video
VIDEO, PICTURE = (".avi", ".mkv", ".mov", ".mp4", ".webm"), (".jpeg", ".jpg", ".png")
# The folder of OpenCV's videos: the tests' source of videos, and the installed folder that pages may name.
DATA = pathlib.Path(os.environ.get("CUDAVISION_TEST_DATA", "/usr/share/doc/opencv-doc/examples/data"))
READ_FILE = re.compile(r"(?:filesrc\s+location|mask-location|calibration-location)=[\"']?([\w.+-]+)")


def require(path, package):
    if not path.exists():
        print(f"skipped: {path} is missing (Debian: {package})")
        sys.exit(77)


def launch(pipeline):
    subprocess.run([shutil.which("gst-launch-1.0"), "-q", *pipeline.split()], check=True, timeout=600)


class StandIns:
    """A folder with the media, and the environment in which the commands run."""

    def __init__(self, folder):
        require(DATA / "vtest.avi", "opencv-doc")
        self.media = pathlib.Path(folder) / "media"
        self.media.mkdir()
        programs = pathlib.Path(folder) / "bin"
        programs.mkdir()
        self._make_programs(programs)
        self._make_media()

    def _make_programs(self, programs):
        (programs / "gst-launch-1.0").symlink_to(ROOT / "tests" / "docs" / "gst-launch-1.0")
        python = programs / "python3"
        python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n', encoding="utf-8")
        python.chmod(0o755)
        # Every machine runs the pages on the CPU, so that a card, its driver and its frameworks do not decide.
        self.environment = {**os.environ, "CUDAVISION_GST_LAUNCH": shutil.which("gst-launch-1.0") or "",
                            "CUDA_VISIBLE_DEVICES": "-1",
                            "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1",
                            "PYTHONPATH": f"{os.environ.get('PYTHONPATH', '')}:{ROOT / 'examples' / 'first_steps'}"}

    def _make_media(self):
        """The first frames of vtest.avi, one picture, a mask with a bright rectangle, and a calibration.

        The AVI file holds the frames as vtest.avi does, so that commands print what they print for the whole video. No
        MP4 file can hold them: its frames are JPEG pictures."""
        video = f"filesrc location={DATA / 'vtest.avi'}"
        frames = f"{video} ! decodebin ! identity eos-after={FRAMES} ! videoconvert ! jpegenc"
        picture, rectangle = "videotestsrc num-buffers=1", "videobox fill=white left=-2 top=-2 right=-138 bottom=-98"
        launch(f"{video} ! avidemux name=in in.video_0 ! identity eos-after={FRAMES} ! queue ! out.video_0 "
               f"avimux name=out ! filesink location={self.media / 'video.avi'}")
        launch(f"{frames} ! qtmux ! filesink location={self.media / 'video.mp4'}")
        launch(f"{picture} ! video/x-raw,width=160,height=120 ! videoconvert ! jpegenc ! "
               f"filesink location={self.media / 'picture.jpg'}")
        launch(f"{picture} pattern=black ! video/x-raw,width=20,height=20,format=RGB ! {rectangle} ! pngenc ! "
               f"filesink location={self.media / 'mask.png'}")

        # A lens that bends the picture a little, for frames of every size.
        (self.media / "camera.yml").write_text("camera_matrix: [300, 0, 160, 0, 300, 120, 0, 0, 1]\n"
                                               "distortion_coefficients: [-0.05, 0, 0, 0]\n", encoding="utf-8")

    def folder_for(self, text, path):
        """Prepares the folder in which a text runs, with links to the repository's folders and every file that the text
        reads."""
        path.mkdir(exist_ok=True)
        files = {name: ROOT / name for name in ("examples", "gst", "tests")}
        for name in {"in.mp4", "vtest.avi", *READ_FILE.findall(text)}:
            suffix = pathlib.Path(name).suffix.lower()
            video = "video.mp4" if "qtdemux" in text and suffix != ".avi" else "video.avi"
            kind = video if suffix in VIDEO else "camera.yml" if suffix == ".yml" else "picture.jpg"
            files[name] = self.media / ("mask.png" if "mask" in name else kind)
        for name, target in files.items():
            if not (path / name).exists():  # a command before this one may have written it
                (path / name).symlink_to(target)
        return path

    def local(self, text):
        """The text with the path of OpenCV's installed videos replaced by the short ones."""
        return re.sub(rf"{re.escape(str(DATA))}/|/usr/share/doc/opencv-doc/examples/data/", "", text)
