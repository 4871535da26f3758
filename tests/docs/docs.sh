#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Checks the pages of the repository against the product: tables of properties, commands, programs, JSON, fragments of
# pipelines in the text, and links. Run by meson, or by hand for one check and one page.
#
#   docs.sh CHECK PYTHON PLUGIN_FOLDER [PAGE]
#
# CHECK: commands, faults, inline_code, links, programs, property_tables or shape. PYTHON: `missing` skips. PAGE: a
# part of the name of a page, for commands and programs.
set -euo pipefail
check=$1 python=$2 plugins=$(realpath "$3")  # commands run in another folder
shift 3
here=$(dirname "${BASH_SOURCE[0]}")
export PYTHONDONTWRITEBYTECODE=1
# shellcheck source=tests/examples/python_plugin.sh
source "$here/../examples/python_plugin.sh"
# Pages use all elements of GStreamer, not only those of the other tests. A child process scans their plugins.
unset GST_PLUGIN_SYSTEM_PATH_1_0 GST_REGISTRY_FORK
"$python" -c 'import jsonschema' || { echo "skipped: no python3-jsonschema"; exit 77; }
"$python" "$here/$check.py" "$@"
