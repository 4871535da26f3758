#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Says which files of a release nobody vouches for, so that tests/release.sh signs nothing that it has not built.
#
#   release_pool.sh FOLDER KEYS BUILT [ROOT...]
#
# Compares the files of FOLDER/pool with the list BUILT, as sha256sum prints it in FOLDER, and with the list SHA256SUMS
# of the release that is in FOLDER, if one of KEYS (as `gpg --export` writes them) has signed it. Names each file that
# is in neither list or has other content, and fails if there is one. Files may be missing. What is in pool/ROOT is not
# looked at.
set -euo pipefail
export LC_ALL=C  # sort and comm must agree
folder=$1 keys=$(realpath "$2") built=$3
shift 3
lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT

[[ -e $folder/pool ]] || exit 0
: >"$lists/signed"
if [[ -e $folder/SHA256SUMS && -e $folder/SHA256SUMS.asc ]]; then
  cp "$folder"/SHA256SUMS{,.asc} "$lists"  # nobody replaces the copy after it was verified
  if gpgv --quiet --keyring "$keys" "$lists/SHA256SUMS.asc" "$lists/SHA256SUMS" 2>"$lists/errors"; then
    mv "$lists/SHA256SUMS" "$lists/signed"
  else
    echo "the key of this release has not signed $folder/SHA256SUMS:" >&2
    cat "$lists/errors" >&2
  fi
fi

leave_out=()
for root in "$@"; do leave_out+=(-path "pool/$root" -prune -o); done
cat "$lists/signed" "$built" | sort >"$lists/known"
cd "$folder"
{
  find pool "${leave_out[@]}" -type f -print0 | xargs -0 -r sha256sum
  find pool "${leave_out[@]}" ! -type d ! -type f -printf 'no file  %p\n'  # a link, for example
} | sort >"$lists/there"
strangers=$(comm -13 "$lists/known" "$lists/there" | sed 's/^.*  pool/pool/')
[[ -z $strangers ]] || {
  echo "these files were not built by this run, and are in no list that the key of this release has signed:" >&2
  while read -r name; do echo "  $folder/$name"; done <<<"$strangers" >&2
  echo "remove them, or build their roots, too" >&2
  exit 1
}
