# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by the tests of Python examples that run in the source tree, with $python and $plugins set: skips the test if
# Python cannot run them, makes the temporary folder $root, and lets Python find the plugin and the metas of the build.
[[ $python != missing ]] || { echo "skipped: no introspection, or a library with sanitizers"; exit 77; }
"$python" -c 'import gi; gi.require_version("GstApp", "1.0")' ||
  { echo "skipped: no Python with python3-gi and gir1.2-gst-plugins-base-1.0"; exit 77; }
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
export GST_PLUGIN_PATH_1_0=$plugins GST_REGISTRY_1_0=$root/registry
export GI_TYPELIB_PATH=$plugins/../meta LD_LIBRARY_PATH=$plugins/../meta
PYTHONPATH=$(dirname "${BASH_SOURCE[0]}")/../../gst/meta/python
export PYTHONPATH
