#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes a folder of links to the GStreamer plugins that the tests use. Programs that load plugins only from
# there start quickly and are not affected by other plugins, which may leak or probe for devices.
#
#   link_plugins.sh FROM TO [PLUGIN]...    PLUGIN: more plugins, for a program that needs them
set -euo pipefail
from=$1 to=$2
shift 2
plugins=(analyticsoverlay app audiotestsrc avi compositor coreelements debug debugutilsbad imagefreeze isomp4 jpeg
  libav matroska multifile nvcodec playback png pnm rawparse rtp rtpmanager rtsp smpte tcp typefindfunctions
  udp videobox videoconvertscale videocrop videofilter videoparsersbad videorate videotestsrc vpx wavenc
  wavparse)
mkdir -p "$to"
for plugin in "${plugins[@]}" "$@"; do
  file=$from/libgst$plugin.so
  [[ ! -e $file ]] || ln -sf "$file" "$to/"
done
