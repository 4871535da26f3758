#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds the image of examples/container/Containerfile from the last commit, without a registry, and uses it as a
# stranger would. Its base is a Debian 13 by debootstrap. Needs root, and about 6 GB in /var/tmp. tests/run.sh container
# calls it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/support/packages.sh
needs_root_folder tests/container.sh
install_packages debootstrap buildah git
data=$(test_data)

folder=$(mktemp -d /var/tmp/cudavision_container.XXXXXX)
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
buildah=(buildah --root "$folder/images" --runroot "$folder/run")
trap '"${buildah[@]}" rm --all >/dev/null || true; rm -rf --one-file-system "$folder"' EXIT

debootstrap --variant=minbase trixie "$folder/base" >"$folder/debootstrap.log" 2>&1 ||
  { tail -n 5 "$folder/debootstrap.log" >&2; exit 1; }
# How this machine reaches Debian's servers.
apt-config dump | grep -E '^Acquire::(Check-|https?::)' >"$folder/base/etc/apt/apt.conf.d/90machine" || true
tar -C "$folder/base" -cf "$folder/base.tar" .
rm -rf --one-file-system "$folder/base"
base=$("${buildah[@]}" from scratch)
"${buildah[@]}" add --quiet "$base" "$folder/base.tar" / >/dev/null
"${buildah[@]}" commit --quiet --rm "$base" localhost/debian:trixie >/dev/null

git clone --quiet . "$folder/source"
"${buildah[@]}" bud --quiet --build-arg BUILD=localhost/debian:trixie --build-arg RUN=localhost/debian:trixie \
  -f "$folder/source/examples/container/Containerfile" -t cudavision "$folder/source" >"$folder/build.log" 2>&1 ||
  { tail -n 40 "$folder/build.log" >&2; exit 1; }

mkdir -m 777 "$folder/data"
cp "$data/vtest.avi" "$folder/data/in.mp4"
cp examples/read_metas.py examples/{one_file,plain_errors}.py "$folder/data"
container=$("${buildah[@]}" from localhost/cudavision)
# in_container COMMAND: in bash, in /data, as the user of the image.
in_container() { "${buildah[@]}" run -v "$folder/data:/data" "$container" -- bash -ec "cd /data; $1"; }
pages=(gst/docs/cuda*.md)
[[ $(in_container 'id -u') == 10001 ]] || { echo "the programs should run as the user 10001" >&2; exit 1; }
[[ $(in_container 'gst-inspect-1.0 cudavision' | grep -c '^  cuda') == "${#pages[@]}" ]] ||
  { echo "one element is expected for each page" >&2; exit 1; }
# The pipeline of examples/README.md.
in_container 'gst-launch-1.0 -q filesrc location=/data/in.mp4 ! decodebin ! videoconvert ! cudahistogram display=false ! \
  cudavisionjson location=/data/histogram.jsonl ! fakesink'
[[ $(wc -l <"$folder/data/histogram.jsonl") == 795 ]] || { echo "795 lines are expected" >&2; exit 1; }
in_container "python3 read_metas.py 'videotestsrc num-buffers=2 ! cudahistogram display=false'" | grep histogram >/dev/null
in_container 'cudavision-live --help && cudavision-publish --help && cudavision-record --help' >/dev/null
echo "container: built and used"
