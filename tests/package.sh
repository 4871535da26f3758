#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds the Debian packages from what is committed, checks them with lintian, and uses them in a fresh root of the same
# Debian. Needs root. tests/run.sh package calls it.
#
#   tests/package.sh [FOLDER]     FOLDER keeps the packages; default: a temporary folder
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/support/packages.sh
source /etc/os-release
export DEBIAN_FRONTEND=noninteractive

needs_root_folder tests/package.sh
folder=${1:-$(mktemp -d /var/tmp/cudavision_package.XXXXXX)}
[[ -n ${1:-} ]] || trap 'rm -rf "$folder"' EXIT
folder=$(realpath "$folder")
rm -rf "$folder/source" && mkdir -p "$folder/source"
git archive HEAD | tar -x -C "$folder/source"

apt-get update -qq
apt-get install -qq -y --no-install-recommends dpkg-dev debhelper lintian debootstrap git ca-certificates >/dev/null
apt-get build-dep -qq -y "$folder/source" >/dev/null

echo "== dpkg-buildpackage"
# One architecture: a release compiles the kernels for all of them, in seven times the time.
(cd "$folder/source" && CUDA_ARCHS=90 PATH=$PATH:/usr/local/cuda/bin dpkg-buildpackage -us -uc)

echo "== lintian"
# A package of this repository closes no bug of Debian's and has no manual page for a library.
lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs,bad-distribution-in-changes-file \
  "$folder"/gst-cudavision_*.changes

plugin=$(find "$folder/source/debian/gstreamer1.0-cudavision" -name libgstcudavision.so)
echo "== hardening"
mapfile -t libraries < <(find "$folder"/source/debian/*cudavision* -name 'libgstcudavision*.so*' -type f)
((${#libraries[@]} >= 2)) || { echo "the packages lack the plugin or the library of metas" >&2; exit 1; }
mapfile -t objects < <(find "$folder/source" -name '*.cu.o')
tests/support/hardening.sh "${libraries[@]}" "${objects[@]}"
if PATH=$PATH:/usr/local/cuda/bin command -v nvcc >/dev/null; then
  ((${#objects[@]} > 0)) || { echo "the package's build has no objects of nvcc" >&2; exit 1; }
  tests/support/fatbin_archs.py "$plugin" | grep -x sm_90 >/dev/null || { echo "no sm_90 code in the package" >&2; exit 1; }
  dpkg-deb -f "$folder"/gstreamer1.0-cudavision_*.deb Description | grep 'with CUDA kernels' >/dev/null
else
  dpkg-deb -f "$folder"/gstreamer1.0-cudavision_*.deb Description | grep 'without CUDA' >/dev/null
fi

echo "== in a fresh $VERSION_CODENAME"
mkdir -p "$folder/debs"
cp "$folder"/*.deb "$folder/debs"
FRESH_ROOT_FILES=$folder/debs tests/fresh_root.sh "$VERSION_CODENAME" "tests/support/installed_package.sh /root/files"
