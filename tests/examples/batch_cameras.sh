#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests the example batch with a camera: an RTSP server that is killed and comes back, and a batch.py that is killed,
# too.
#
#   batch_cameras.sh PYTHON FOLDER_OF_BATCH PLUGIN_FOLDER     PYTHON: `missing` skips
set -euo pipefail
python=$1 examples=$2 plugins=$3
source "$(dirname "${BASH_SOURCE[0]}")/python_plugin.sh"
source "$(dirname "${BASH_SOURCE[0]}")/batch_tools.sh"
"$python" -c 'import gi; gi.require_version("GstRtspServer", "1.0")' 2>/dev/null ||
  { echo "skipped: no gir1.2-gst-rtsp-server-1.0"; exit 77; }
processes=()
# shellcheck disable=SC2317  # the trap calls it
stop() { kill -9 "${processes[@]}" 2>/dev/null || true; rm -rf "$root"; }
trap stop EXIT

cat >"$root/camera.py" <<'END'
import sys

import gi

gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer

Gst.init(None)
server, factory = GstRtspServer.RTSPServer(), GstRtspServer.RTSPMediaFactory()
server.set_service(sys.argv[1])
factory.set_shared(True)
factory.set_launch("( videotestsrc is-live=true pattern=ball ! video/x-raw,format=I420,width=160,height=120,framerate=30/1 ! "
                   "jpegenc ! rtpjpegpay name=pay0 )")
server.get_mount_points().add_factory("/camera", factory)
server.attach(None)
print(server.get_bound_port(), flush=True)
GLib.MainLoop().run()
END
# camera PORT: starts a camera, whose process is $camera, at the port; 0 means any port.
camera() {
  : >"$root/port"
  "$python" "$root/camera.py" "$1" >"$root/port" 2>/dev/null &
  camera=$!
  processes+=("$camera")
  wait_for test -s "$root/port"
}
# The ball does not reach the corner, which is dark.
elements="cudahistogram display=false ! cudacameracheck display=false dark-level=255 hysteresis=0.5 roi-width=20 roi-height=20"
# watch: starts batch.py, whose process is $watcher.
watch() {
  "${batch[@]}" --cameras --rotate 2 --stall-timeout 5 --elements "$elements" --output "$root/parts" "$root/cameras.txt" \
    >"$root/out" 2>"$root/err" &
  watcher=$!
  processes+=("$watcher")
}
parts() { compgen -G "$root/parts/door.*.jsonl" | wc -l; }
has_parts() { (($(parts) >= $1)); }
writes() { [[ -n $(find "$root/parts" -name '.*.part' -size +2k) ]]; }
# Stops the watcher while it writes a part; if it was between two parts, lets it go on and fails.
pauses_in_a_part() {
  kill -STOP "$watcher"
  sleep 0.1
  writes || { kill -CONT "$watcher"; return 1; }
}
said() { grep -qE -- "$1" "$root/err"; }

camera 0
port=$(cat "$root/port")
printf '# name and address\ndoor rtspt://user:secret@127.0.0.1:%s/camera\n' "$port" >"$root/cameras.txt"

echo "== a camera that goes and comes back"
watch
wait_for has_parts 2
wait_for writes
said '^door: dark$'
kill -9 "$camera"
wait_for said 'door: .*the next attempt is in 1 s'
wait_for said 'door: .*the next attempt is in 2 s'
has_parts 3
before=$(parts)
camera "$port"
wait_for has_parts $((before + 2))

echo "== two processes for one camera"
"${batch[@]}" --cameras --elements identity --output "$root/parts" "$root/cameras.txt" >/dev/null 2>"$root/second" &
second=$!
processes+=("$second")
wait_for grep -q 'door: another process has it' "$root/second"
kill "$second"
wait "$second" || true

echo "== a program that is killed, and one that is stopped"
wait_for pauses_in_a_part
kill -9 "$watcher"
wait "$watcher" 2>/dev/null || true
before=$(parts)
lines=$(cat "$root"/parts/.*.part | wc -l)
printf '{"half":' >>"$(compgen -G "$root/parts/.*.part")"
watch
wait_for has_parts $((before + 2))
rescued=$(compgen -G "$root/parts/door.*.jsonl" | sort | sed -n "$((before + 1))p")
[[ $lines -gt 0 && $(wc -l <"$rescued") -ge $lines ]]
kill "$watcher"
status=0
wait "$watcher" || status=$?
[[ $status == 143 ]]
says 'stopped: SIGTERM'
says '^door: dark 1$'
[[ -z $(find "$root/parts" -name '.?*') ]]

echo "== the parts"
if grep -r secret "$root/parts" "$root/out" "$root/err"; then exit 1; fi
for part in "$root"/parts/*.jsonl; do
  jq -es 'length > 0 and all(.[]; .source == "door" and .utc >= "2026" and .tensors[0].sum == 19200) and .[0].frame == 0' "$part" >/dev/null
done
# At 30 frames a second there is no gap between two parts of one connection: to connect again would take a second. On a
# busy machine the queue before the elements may drop some frames.
cat "$root"/parts/*.jsonl | jq -s '[.[] | .pts] | [., .[1:]] | transpose | map(select(.[1] != null) | .[1] - .[0]) |
  {connections: (map(select(. < 0)) | length + 1), longest: (map(select(. > 0)) | max)}' -c | tee "$root/gaps"
jq -e '.connections == 3 and .longest < 900000000' "$root/gaps" >/dev/null
echo "the batch of cameras holds"
