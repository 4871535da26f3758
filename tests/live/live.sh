#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests the page of cudavision-live in Chromium, also behind nginx and Caddy, and its server with random requests. tests/run.sh live calls it.
#
#   live.sh BUILD_FOLDER     pictures of the page are written to BUILD_FOLDER/pages, to be looked at
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
build=$(realpath "../../$1")
registry=$(mktemp)
trap 'rm -f "$registry"' EXIT
export GST_PLUGIN_PATH_1_0=$build/gst/plugin GST_REGISTRY_1_0=$registry PYTHONDONTWRITEBYTECODE=1
export GI_TYPELIB_PATH=$build/gst/meta LD_LIBRARY_PATH=$build/gst/meta PYTHONPATH=$PWD/../../gst/meta/python
/usr/bin/python3 browser_test.py "$build/pages"
export PATH=$PATH:/usr/sbin:$build/proxies/usr/sbin:$build/proxies/usr/bin
if ! command -v nginx >/dev/null || ! command -v caddy >/dev/null; then
  # shellcheck source=tests/support/packages.sh
  . ../support/packages.sh
  unpack_packages "$build/proxies" nginx caddy
fi
/usr/bin/python3 proxy_test.py "$build/pages"
/usr/bin/python3 fuzz.py "${CUDAVISION_LIVE_REQUESTS:-100000}"
