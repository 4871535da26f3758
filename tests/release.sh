#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes a release of the last commit: a folder that is a repository for apt, with packages for several releases of
# Debian. They are built and checked in a fresh root (tests/support/build_packages.sh), Debian 13's twice, and then
# installed from the folder into another fresh root and used there (tests/support/installed_package.sh). Needs root.
# tests/run.sh release calls it.
#
#   tests/release.sh [FOLDER [ROOT...]]
#
# FOLDER keeps the release; default: a temporary folder. Packages of other roots in it stay, if the same key has signed
# them; any other file among them is an error (tests/support/release_pool.sh). ROOT is bookworm, trixie or forky, or
# trixie-cuda for packages with kernels, which needs the CUDA toolkit in /usr/local/cuda; default: these four.
# CUDA_ARCHS are the compute capabilities (debian/rules); default: 90 alone, which compiles in a seventh of the time.
# RELEASE_KEY names the gpg key that signs; default: a key of this run. FRESH_ROOT_CACHE: see tests/fresh_root.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/support/packages.sh
needs_root_folder tests/release.sh
install_packages debootstrap apt-utils gpg gpgv gpg-agent git

temporary=$(mktemp -d /var/tmp/cudavision_release.XXXXXX)
folder=${1:-$temporary/repository}  # one that is named stays
trap 'gpgconf --homedir "$temporary/keys" --kill all; rm -rf "$temporary"' EXIT
chmod 755 "$temporary"
mkdir -m 700 "$temporary/keys"
mkdir -p "$folder"
folder=$(realpath "$folder")
chmod 755 "$folder"  # apt reads it as a user without rights
(($# < 1)) || shift
roots=("$@")
((${#roots[@]})) || roots=(bookworm trixie trixie-cuda forky)
declare -A suffixes=([bookworm]=+deb12 [trixie]=+deb13 [forky]=+deb14)
for root in "${roots[@]}"; do
  [[ -n ${suffixes[${root%-cuda}]:-} ]] || { sed -n 's/^#   tests/usage: tests/p' "$0" >&2; exit 2; }
  [[ $root != *-cuda || -x /usr/local/cuda/bin/nvcc ]] || { echo "$root: /usr/local/cuda/bin/nvcc is missing" >&2; exit 2; }
done

if [[ -z ${RELEASE_KEY:-} ]]; then
  export GNUPGHOME=$temporary/keys
  RELEASE_KEY=release-test@gst-cudavision.example
  gpg --batch --quiet --passphrase '' --quick-generate-key "$RELEASE_KEY" default sign 1d
fi
gpg --batch --export "$RELEASE_KEY" >"$temporary/keys.gpg"
[[ -s $temporary/keys.gpg ]] || { echo "gpg has no key $RELEASE_KEY" >&2; exit 2; }
sign() { gpg --batch --yes --local-user "$RELEASE_KEY" "$@"; }
# check_pool [ROOT...]: whether each file in the pool, except those of these roots, is ours.
check_pool() { tests/support/release_pool.sh "$folder" "$temporary/keys.gpg" "$temporary/built" "$@"; }
: >"$temporary/built"
check_pool "${roots[@]}"  # before hours of builds

failed=0
for root in "${roots[@]}"; do
  rm -rf "${folder:?}/pool/$root"
  mkdir -p "$folder/pool" "$temporary/pool/$root"
  mounts=$temporary/pool/$root:/root/packages
  [[ $root != *-cuda ]] || mounts+=" $(realpath /usr/local/cuda):/usr/local/cuda"
  twice=
  [[ ${root%-cuda} != trixie ]] || twice=twice
  echo "== $root"
  FRESH_ROOT_MOUNTS=$mounts tests/fresh_root.sh "${root%-cuda}" \
    "CUDA_ARCHS=${CUDA_ARCHS:-90} tests/support/build_packages.sh /root/packages ${suffixes[${root%-cuda}]} $twice" ||
    { failed=1; continue; }  # nobody installs what was refused
  (cd "$temporary" && find "pool/$root" -type f -exec sha256sum {} +) >>"$temporary/built"
  mv "$temporary/pool/$root" "$folder/pool"
done
compgen -G "$folder/pool/*" >/dev/null || exit 1

echo "== the repository"
check_pool
cd "$folder"
rm -rf dists
for pool in pool/*; do
  root=${pool#pool/}
  mkdir -p "dists/$root/main/binary-amd64" "dists/$root/main/source"
  apt-ftparchive packages "$pool" >"dists/$root/main/binary-amd64/Packages"
  apt-ftparchive sources "$pool" >"dists/$root/main/source/Sources"
  gzip -kn9 "dists/$root/main/binary-amd64/Packages" "dists/$root/main/source/Sources"
  apt-ftparchive -o APT::FTPArchive::Release::Origin=gst-cudavision -o "APT::FTPArchive::Release::Codename=$root" \
    -o APT::FTPArchive::Release::Architectures=amd64 -o APT::FTPArchive::Release::Components=main release "dists/$root" >"$temporary/Release"
  mv "$temporary/Release" "dists/$root/Release"
  sign --clearsign --output "dists/$root/InRelease" "dists/$root/Release"
done
cp "$OLDPWD/CHANGELOG.md" .
gpg --batch --armor --export "$RELEASE_KEY" >gst-cudavision.asc
"$OLDPWD/tests/support/release_parts.py" . >gst-cudavision.spdx.json
find pool dists CHANGELOG.md gst-cudavision.asc gst-cudavision.spdx.json -type f | LC_ALL=C sort | xargs -d '\n' sha256sum >"$temporary/SHA256SUMS"
sign --armor --detach-sign "$temporary/SHA256SUMS"
mv "$temporary"/SHA256SUMS{,.asc} .
cd "$OLDPWD"

for root in "${roots[@]}"; do
  [[ -d $folder/pool/$root ]] || continue
  echo "== $root, installed"
  FRESH_ROOT_MOUNTS=$folder:/srv/gst-cudavision tests/fresh_root.sh "${root%-cuda}" \
    "tests/support/installed_package.sh $root" || failed=1
done
exit "$failed"
