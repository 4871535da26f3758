# SPDX-License-Identifier: LGPL-2.1-or-later
"""GStreamer and the library of metas for the tests in Python. A test that cannot have them ends as skipped."""
import sys

SKIPPED = 77


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


if "--without-introspection" in sys.argv:
    skip("the library was built without introspection")
try:
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstApp", "1.0")
    gi.require_version("GstVideo", "1.0")
    from gi.repository import Gst, GstApp, GstVideo  # noqa: F401
except (ImportError, ValueError) as missing:
    skip(f"{missing}; it is in python3-gi and gir1.2-gst-plugins-base-1.0")
gi.require_version("GstCudaVision", "1.0")
from gi.repository import GstCudaVision  # noqa: E402,F401

Gst.init(None)
