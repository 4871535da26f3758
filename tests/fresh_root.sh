#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs the README's two commands as somebody with a new machine would: in an empty Debian, from a fresh clone.
#
#   tests/fresh_root.sh [bookworm|trixie|forky|testing] [COMMAND...]   COMMAND: default examples/demo.sh, tests/run.sh
#
# Makes the Debian by debootstrap (minbase, git and ca-certificates), clones what is committed here into it, and prints
# each command's exit status, time and last line. Ends in 1 when one of them failed; its output is then left in
# /var/tmp/fresh_root.SUITE.*. Needs root, debootstrap and about 8 GB in FRESH_ROOT_FOLDER (default /var/tmp).
# FRESH_ROOT_MOUNTS lists folders of this machine to mount there, as HERE:THERE. FRESH_ROOT_CACHE names a folder for
# ccache; the times are then not those of a fresh machine. The commands see CUDAVISION_WERROR (tests/run.sh).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
suite=${1:-bookworm}
(($# < 1)) || shift
commands=("$@")
((${#commands[@]})) || commands=(examples/demo.sh tests/run.sh)
[[ $suite =~ ^(bookworm|trixie|forky|testing)$ ]] || { sed -n 's/^#   tests/usage: tests/p' "$0" >&2; exit 2; }
((EUID == 0)) || { echo "A fresh root is made by root alone." >&2; exit 2; }
command -v debootstrap >/dev/null || { echo "Missing: debootstrap" >&2; exit 2; }

read -ra mounts <<<"${FRESH_ROOT_MOUNTS:-}"
[[ -z ${FRESH_ROOT_CACHE:-} ]] || { mkdir -p "$FRESH_ROOT_CACHE"; mounts+=("$FRESH_ROOT_CACHE:/ccache"); }
folder=$(realpath "$(mktemp -d "${FRESH_ROOT_FOLDER:-/var/tmp}/fresh_root.$suite.XXXXXX")")
[[ $folder != *[[:space:]]* ]] || { echo "$folder: no spaces, please" >&2; exit 2; }
root=$folder/root
remove_root() {
  local mounted
  for mounted in "${mounts[@]#*:}" /dev /proc; do
    ! mountpoint -q "$root$mounted" || umount -R "$root$mounted" || umount -R -l "$root$mounted"
  done
  # What is still mounted belongs to the machine: a bind mount must not be emptied.
  if grep -qF " $root/" /proc/self/mounts; then
    echo "$root is left: something is still mounted there" >&2
  else
    rm -rf --one-file-system "$root"
  fi
  rmdir "$folder" 2>/dev/null || true
}
trap remove_root EXIT
trap 'exit 143' TERM  # after the command that runs

packages=git,ca-certificates
[[ -z ${FRESH_ROOT_CACHE:-} ]] || packages+=,ccache
from=()
# An older debootstrap does not know the suite: it is made as sid.
[[ -e /usr/share/debootstrap/scripts/$suite ]] || from=(http://deb.debian.org/debian /usr/share/debootstrap/scripts/sid)
echo "Making a Debian $suite in $root"
debootstrap --variant=minbase --include="$packages" "$suite" "$root" "${from[@]}" >"$folder/debootstrap.log" 2>&1 ||
  { tail -n 5 "$folder/debootstrap.log" >&2; exit 1; }
rm "$folder/debootstrap.log"
mount -t proc proc "$root/proc"
mount --rbind --make-rslave /dev "$root/dev"  # what is unmounted there stays mounted here
cp -L /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
# How this machine reaches Debian's servers: proxies, and whether it trusts the dates of a mirror.
apt-config dump | grep -E '^Acquire::(Check-|https?::)' >"$root/etc/apt/apt.conf.d/90machine" || true
git clone --quiet --no-hardlinks . "$root/root/gst-cudavision"
for mounted in "${mounts[@]}"; do
  mkdir -p "$root${mounted#*:}"
  mount --bind "${mounted%%:*}" "$root${mounted#*:}"
done

environment=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8)
for name in http_proxy https_proxy no_proxy CUDAVISION_WERROR; do
  [[ -z ${!name:-} ]] || environment+=("$name=${!name}")
done
[[ -z ${FRESH_ROOT_CACHE:-} ]] ||
  environment+=(CCACHE_DIR=/ccache CCACHE_COMPILERCHECK=content CCACHE_BASEDIR=/root/gst-cudavision CCACHE_NOHASHDIR=1)

failed=0
for command in "${commands[@]}"; do
  log=$folder/$(basename "${command%% *}").log
  began=$SECONDS status=0
  env -i "${environment[@]}" chroot "$root" bash -c "cd /root/gst-cudavision && $command" >"$log" 2>&1 </dev/null ||
    status=$?
  echo "$suite: $command: exit status $status, $((SECONDS - began)) s: $(tail -n 1 "$log")"
  if ((status == 0)); then
    rm "$log"
  else
    echo "  its output: $log"
    failed=1
  fi
done
exit "$failed"
