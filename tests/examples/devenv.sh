#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# `meson devenv` of the build folder runs GStreamer's tools and Python programs with this plugin and library.
#
#   devenv.sh BUILD_FOLDER PYTHON     PYTHON: `missing` skips
set -euo pipefail
build=$1 python=$2
[[ $python != missing ]] || { echo "skipped: no introspection, or a library with sanitizers"; exit 77; }
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
unset GST_PLUGIN_PATH_1_0 GST_PLUGIN_SYSTEM_PATH_1_0 LD_LIBRARY_PATH GI_TYPELIB_PATH PYTHONPATH LD_PRELOAD
export GST_REGISTRY_1_0=$root/registry
meson devenv -C "$build" gst-inspect-1.0 cudacanny | grep -F "Filename" | grep -F "$build/gst/plugin"
meson devenv -C "$build" "$python" - <<'END'
import gi
gi.require_version("Gst", "1.0")
gi.require_version("GstCudaVision", "1.0")
from gi.repository import Gst, GstCudaVision
Gst.init(None)
frames = [sample.get_buffer() for sample in GstCudaVision.samples("videotestsrc num-buffers=2 ! cudacanny ! appsink name=sink")]
assert [str(meta) for buffer in frames for meta in GstCudaVision.metas(buffer)] == ["<tensor edges 240x320 u8 on the host>"] * 2
END
