#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds the Debian packages of the last commit, in a fresh root, and checks them: lintian, hardening, and whether a
# second build, in another folder and time zone and without the compiler cache, gives the same bytes. Called by
# tests/release.sh.
#
#   build_packages.sh FOLDER SUFFIX [twice]     FOLDER gets the packages, whose version ends in SUFFIX
#
# With nvcc in PATH, the kernels are built for the compute capabilities CUDA_ARCHS (debian/rules).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export DEBIAN_FRONTEND=noninteractive PATH=$PATH:/usr/local/cuda/bin
folder=$1 suffix=$2 twice=${3:-}

apt-get update -qq
apt-get install -qq -y --no-install-recommends dpkg-dev debhelper lintian >/dev/null
apt-get build-dep -qq -y . >/dev/null

# build PLACE
build() {
  mkdir -p "$1/gst-cudavision"
  git archive HEAD | tar -x -C "$1/gst-cudavision"
  # The packages of one version differ between releases of Debian, and a newer release's replace an older one's.
  sed -i "1s/)/$suffix)/" "$1/gst-cudavision/debian/changelog"
  (cd "$1/gst-cudavision" && dpkg-buildpackage -us -uc)
}

echo "== dpkg-buildpackage"
build "$PWD/build-packages"

echo "== lintian"
# A package of this repository closes no bug of Debian's.
lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs,bad-distribution-in-changes-file \
  build-packages/gst-cudavision_*.changes

echo "== hardening"
built="$PWD/build-packages/gst-cudavision"
plugin=$(find "$built/debian/gstreamer1.0-cudavision" -name libgstcudavision.so)
mapfile -t libraries < <(find "$built"/debian/*cudavision* -name 'libgstcudavision*.so*' -type f)
((${#libraries[@]} >= 2)) || { echo "the packages lack the plugin or the library of metas" >&2; exit 1; }
mapfile -t objects < <(find "$built" -name '*.cu.o')
tests/support/hardening.sh "${libraries[@]}" "${objects[@]}"
description=$(dpkg-deb -f build-packages/gstreamer1.0-cudavision_*.deb Description)
if command -v nvcc >/dev/null; then
  ((${#objects[@]} > 0)) || { echo "the package's build has no objects of nvcc" >&2; exit 1; }
  [[ ! ${CUDA_ARCHS:-} =~ ^[0-9]+$ ]] || tests/support/fatbin_archs.py "$plugin" | grep -x "sm_$CUDA_ARCHS" >/dev/null ||
    { echo "no sm_$CUDA_ARCHS code in the package" >&2; exit 1; }
  grep 'with CUDA kernels' <<<"$description" >/dev/null
else
  grep 'without CUDA' <<<"$description" >/dev/null
fi

find build-packages -maxdepth 1 -type f -exec cp -t "$folder" {} +
[[ -n $twice ]] || { echo "built, and without complaint of lintian: $(find "$folder" -name '*.deb' | wc -l) packages"; exit; }

echo "== the second build"
(export CCACHE_DISABLE=1 TZ=Pacific/Kiritimati; build /var/tmp/built/again)
# nvcc puts a hash of the source folder into the names of kernels, and names of temporary files into objects. No option
# of nvcc changes that, so with kernels the plugin itself may differ, and nothing else.
with_kernels=no
! command -v nvcc >/dev/null || with_kernels=yes
same=0 different=() unexpected=0
# The .buildinfo and .changes files tell when and where a build ran.
for first in build-packages/*.deb build-packages/*.dsc build-packages/*.tar.*; do
  name=$(basename "$first")
  if cmp "$first" "/var/tmp/built/again/$name"; then
    same=$((same + 1))
    continue
  fi
  different+=("$name")
  expected='^$'
  [[ $with_kernels/$name != yes/gstreamer1.0-cudavision@(_|-dbgsym_)* ]] ||
    expected='libgstcudavision\.so |/DEBIAN/(control|md5sums) |/\.build-id'
  [[ $name == *.deb ]] || { unexpected=1; continue; }
  for build in build-packages /var/tmp/built/again; do
    dpkg-deb -R "$build/$name" "$build/unpacked.$name"
  done
  diff -rq --no-dereference "build-packages/unpacked.$name" "/var/tmp/built/again/unpacked.$name" >"$name.differences" || true
  cat "$name.differences"
  ! grep -vE "$expected" "$name.differences" || unexpected=1
done
echo "built twice: $same files are the same, ${#different[@]} differ ${different[*]}"
((unexpected == 0))
