#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Installs the packages of a release (tests/release.sh) and uses them as a stranger would: gst-inspect-1.0, a pipeline,
# and programs in C, C++ and Python outside of the source tree.
#
#   installed_package.sh DISTRIBUTION     as trixie-cuda, of the repository in /srv/gst-cudavision
#   installed_package.sh                  the packages are installed
set -euo pipefail
sources=$(realpath "$(dirname "$0")/../..")
export DEBIAN_FRONTEND=noninteractive
if (($#)); then
  install -D -m 644 /srv/gst-cudavision/gst-cudavision.asc /etc/apt/keyrings/gst-cudavision.asc
  echo "deb [signed-by=/etc/apt/keyrings/gst-cudavision.asc] file:/srv/gst-cudavision $1 main" >/etc/apt/sources.list.d/gst-cudavision.list
fi
apt-get update -qq
apt-get install -qq -y --no-install-recommends gstreamer1.0-cudavision gstreamer1.0-cudavision-examples libgstcudavision-1.0-dev \
  gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gcc g++ libc6-dev libgstreamer-plugins-base1.0-dev pkgconf python3-gi gir1.2-gstreamer-1.0 gir1.2-gst-plugins-base-1.0 >/dev/null

# grep without -q reads to the end: with -q it leaves early, and SIGPIPE ends the program in front of it.
gst-inspect-1.0 cudacanny | grep 'Factory Details' >/dev/null
pages=("$sources"/gst/docs/cuda*.md)
[[ $(gst-inspect-1.0 cudavision | grep -c '^  cuda') == "${#pages[@]}" ]] || { echo "one element is expected for each page" >&2; exit 1; }

outside=$(mktemp -d)
cd "$outside"
gst-launch-1.0 -q videotestsrc num-buffers=3 ! cudahistogram display=false ! cudavisionjson location=lines.jsonl ! fakesink
[[ $(wc -l <lines.jsonl) == 3 ]] || { echo "three lines are expected" >&2; exit 1; }
[[ -s /usr/share/gst-cudavision/cudavisionjson.schema.json ]] || { echo "the schema of the lines is missing" >&2; exit 1; }
[[ -s /usr/share/gst-cudavision/cudavisionzones.schema.json ]] || { echo "the schema of the zones is missing" >&2; exit 1; }

cp "$sources/tests/meta/consumer/consumer.c" "$sources"/examples/{read_metas.{cpp,py},one_file.{h,py},warnings.h,plain_errors.py} .
read -ra flags <<<"$(pkg-config --cflags --libs gstreamer-cudavision-1.0)"
read -ra app <<<"$(pkg-config --cflags --libs gstreamer-cudavision-1.0 gstreamer-app-1.0)"
gcc -std=c11 -Wall -Wextra -Werror -o consumer consumer.c "${flags[@]}"
./consumer | grep '1 keypoint at (1.5, 2.5)' >/dev/null
g++ -std=c++20 -Wall -Wextra -Werror -o read_metas read_metas.cpp "${app[@]}"
pipeline='videotestsrc num-buffers=2 ! video/x-raw,width=64,height=48 ! cudahistogram display=false'
./read_metas "$pipeline" | tee cpp.txt
python3 read_metas.py "$pipeline" | tee python.txt
grep -q histogram cpp.txt && grep -q histogram python.txt

python3 /usr/share/gst-cudavision/examples/first_steps/flow_numpy.py \
  "videotestsrc num-buffers=3 pattern=spokes horizontal-speed=-2 ! video/x-raw,width=160,height=120" | tee flow.txt
[[ $(grep -c '^frame [12]: +[12][.0-9]* ' flow.txt) == 2 ]] || { echo "two lines of motion are expected" >&2; exit 1; }
gst-launch-1.0 -q videotestsrc num-buffers=4 ! jpegenc ! avimux ! filesink location=video.avi
/usr/share/gst-cudavision/examples/batch/batch.py --elements "cudahistogram display=false" --output results video.avi | tee batch.txt
[[ $(cat results/*.jsonl | wc -l) == 4 ]] || { echo "four lines of batch are expected" >&2; exit 1; }
cudavision-live --port 0 >address.txt &
server=$!
for ((i = 0; i < 100; ++i)); do
  python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1].strip() + "healthz").read().decode())' \
    "$(cat address.txt)" >health.txt 2>/dev/null && break
  sleep 0.3
done
grep '1 of 1 cameras deliver frames' health.txt
kill "$server" && wait "$server"
said=$(cudavision-publish mqtt://127.0.0.1/topic 2>&1 </dev/null) || true
[[ -z $said || $said == *"needs the package python3-paho-mqtt"* ]] || { echo "cudavision-publish: $said" >&2; exit 1; }
cudavision-publish http://127.0.0.1/ </dev/null
cudavision-record --help >/dev/null
said=$(cudavision-calibrate --help 2>&1) || [[ $said == *python3-opencv* ]] || { echo "cudavision-calibrate: $said" >&2; exit 1; }
said=$(cudavision-heatmap --help 2>&1) || [[ $said == *matplotlib* ]] || { echo "cudavision-heatmap: $said" >&2; exit 1; }
/usr/libexec/gst-cudavision/train_hog --people people.xml | grep '3780 weights' >/dev/null
echo "the installed packages work"
