#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plots the brightness of a video over time, one column for each frame: plot_histogram.py SOURCE plot.png"""
try:
    import matplotlib
    import numpy
except ImportError as error:
    raise SystemExit(f"{error}: install python3-matplotlib, and use Debian's /usr/bin/python3") from None
from frames import GstCudaVision, arguments, frames, upright

source, plot = arguments(2)
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

counts = [numpy.asarray(GstCudaVision.buffer_get_tensor_meta(buffer, "histogram"))[0]
          for buffer in frames(f"{upright(source)} ! cudahistogram display=false")]
if not counts:
    raise SystemExit(f"{source!r} has no frames")
shares = numpy.array(counts, dtype=float).T / counts[0].sum()
pyplot.imshow(shares, origin="lower", aspect="auto", norm=matplotlib.colors.PowerNorm(0.5), cmap="magma")
pyplot.xlabel("frame")
pyplot.ylabel("brightness")
pyplot.colorbar(label="share of the pixels")
try:
    pyplot.savefig(plot)
except (OSError, ValueError) as error:  # the name of the file is not the name of a picture
    raise SystemExit(f"the plot cannot be written: {error}") from None
print(f"{shares.shape[1]} frames, mean brightness {(shares.mean(axis=1) * numpy.arange(len(shares))).sum():.1f}")
