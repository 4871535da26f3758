#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests that passwords in the addresses of cameras reach neither the results nor a text of the example batch, and that
# no camera gets lost.
#
#   batch_addresses.sh PYTHON FOLDER_OF_BATCH PLUGIN_FOLDER     PYTHON: `missing` skips
set -euo pipefail
python=$1 examples=$2 plugins=$3
source "$(dirname "${BASH_SOURCE[0]}")/python_plugin.sh"
source "$(dirname "${BASH_SOURCE[0]}")/batch_tools.sh"
unset GST_PLUGIN_SYSTEM_PATH_1_0 GST_REGISTRY_FORK  # all elements of GStreamer, not only those of the other tests
tests=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
(mkdir "$root/lists"; cd "$root/lists"; PYTHONPATH=$examples "$python" "$tests/batch_addresses.py")

# no_secret: fails if the output or the results of the last run hold a word that the addresses below hide.
no_secret() {
  if grep -rE 'xyz[a-z]{3}|%40|%2F' "$root/out" "$root/err" "$root/results"; then return 1; fi >&2
  if find "$root/results" -name '*xyz*' | grep .; then return 1; fi >&2
}
# connect: runs until the cameras of the list have failed to connect.
connect() {
  : >"$root/err"
  "${batch[@]}" "${usage[@]}" --stall-timeout 5 "$root/cameras.txt" >"$root/out" 2>"$root/err" &
  process=$!
  wait_for grep -q 'the next attempt' "$root/err"
  kill "$process"
  wait "$process" || true
}
mkdir "$root/results"
usage=(--elements "cudahistogram display=false" --output "$root/results" --cameras)
addresses=(rtspt://xyzuse:xyzabc@127.0.0.1:9/live rtsp://xyzuse:xyz@xyzabc@127.0.0.1:9/live rtsp://xyzuse:xyzabc/xyzdef@127.0.0.1:9/live
  'rtsp://xyzuse:xyzabc?xyzdef@127.0.0.1:9/live' 'rtsp://xyzuse:xyzabc#xyzdef@127.0.0.1:9/live'
  'http://127.0.0.1:9/video?user=xyzuse&password=xyzabc' 'http://127.0.0.1:9/video?token=xyz@xyzabc' 'http://127.0.0.1:9/video#xyzabc'
  'rtsp://127.0.0.1:9/user=xyzuse&password=xyzabc&channel=1.sdp' 'http://xyzuse:xyz%40xyzabc%2Fxyzdef@127.0.0.1:9/video'
  "http://xyzuse:xyz'xyzabc\"xyzdef@127.0.0.1:9/video" 'nosuch://xyzuse:xyzabc@127.0.0.1/live' 'http://127.0.0.1:9/video;xyzuse=xyzabc'
  'rtsp://:xyzabc@' 'http://xyzuse:xyzabc@[::1' 'http://xyzuse:xyzabc@127.0.0.1:port/video')

echo "== cameras that cannot be reached"
for address in "${addresses[@]}"; do
  for line in "$address" "door $address"; do
    printf '%s\n' "$line" >"$root/cameras.txt"
    connect
    no_secret
    [[ $line == "$address" ]] || grep -q '^door: ' "$root/err"
  done
done

echo "== what a camera's server says"
cat >"$root/server.py" <<'END'
import http.server

class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if "again" not in self.path:
            self.send_response(302)
            self.send_header("Location", "http://xyznew:xyzpas@127.0.0.1:9/again?token=xyztok")
            self.end_headers()
        else:
            self.send_response(404, "no \x1b[2J\x07such video")
            self.end_headers()

    do_HEAD = do_GET

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Server)
print(server.server_port, flush=True)
server.serve_forever()
END
"$python" "$root/server.py" >"$root/port" &
server=$!
wait_for test -s "$root/port"
for path in video again; do
  printf 'door http://xyzuse:xyzabc@127.0.0.1:%s/%s?token=xyztok\n' "$(cat "$root/port")" "$path" >"$root/cameras.txt"
  connect
  no_secret
  if grep -n '[[:cntrl:]]' "$root/err"; then exit 1; fi >&2
done
says 'no \\x1b\[2J\\x07such video' "$root/err"
kill "$server"

echo "== wrong usage"
for address in "${addresses[@]}"; do
  expect 2 run "${usage[@]}" --shard "$address" "$address"
  no_secret
  expect 2 run "$address" "${usage[@]}" "$address" "$address and a space xyzabc"
  no_secret
  expect 2 run "${usage[@]}" "$address and a space xyzabc"
  no_secret
  expect 2 run "${usage[@]}" "${address/:\/\//:}"  # a name that is no list
  no_secret
  expect 1 run --elements identity --output "$root/results" "$address"  # an address without --cameras
  says 'failed: input 1: this is an address'
  no_secret
  printf '%s\n' "$address" >"$root/list.txt"
  expect 1 run --elements identity --output "$root/results" "$root/list.txt"
  says 'failed: .*list.txt, line 1: this is an address'
  no_secret
  printf '%s\n' "$address $address" "a b $address" "$address b" >"$root/list.txt"
  expect 2 run "${usage[@]}" "$root/list.txt"
  for line in 1 2 3; do says "list.txt, line $line: a camera is a URI" "$root/err"; done
  no_secret
done

echo "== two cameras of one name"
printf 'door rtsp://xyzuse:xyzabc@a/1\ngate rtsp://c/1\ndoor rtsp://b/2\n' >"$root/list.txt"
expect 2 run "${usage[@]}" "$root/list.txt"
says "list.txt, line 3: its name is 'door', as that of .*list.txt, line 1" "$root/err"
no_secret
expect 2 run "${usage[@]}" rtsp://xyzuse:xyzabc@a/1 rtsp://xyzuse:xyzdef@a/1
says "input 2: its name is .* as that of input 1" "$root/err"
no_secret
echo "no password is told"
