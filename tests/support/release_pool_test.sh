#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests release_pool.sh: a release vouches for the files that it has built and for those that its own key has signed
# before, and for no others. Builds nothing.
set -euo pipefail
command -v gpg >/dev/null && command -v gpgv >/dev/null || { echo "skipped: no gpg and gpgv"; exit 77; }
check=$(realpath "$(dirname "${BASH_SOURCE[0]}")/release_pool.sh")
root=$(mktemp -d)
export GNUPGHOME=$root/keys
trap 'gpgconf --kill all; rm -rf "$root"' EXIT
mkdir -m 700 "$root/keys"
for name in ours theirs; do
  gpg --batch --quiet --passphrase '' --quick-generate-key "$name@example.org" default sign 1d
  gpg --batch --export "$name@example.org" >"$root/$name.gpg"
done
mkdir -p "$root/folder/pool/old" "$root/folder/pool/new"
cd "$root/folder"
echo old >pool/old/a.deb
echo new >"pool/new/b 1.deb"

list() { find pool -type f -exec sha256sum {} +; }
sign() { gpg --batch --yes --local-user "$1" --armor --detach-sign SHA256SUMS; }
# says STATUS FILES ROOT...: the check of the pool, without these roots, ends so, and names exactly these files.
says() {
  local status=0
  "$check" "$root/folder" "$root/ours.gpg" "$root/built" "${@:3}" 2>"$root/errors" || status=$?
  [[ $status == "$1" ]] || { echo "status $status, not $1" >&2; cat "$root/errors" >&2; return 1; }
  diff <(sed -n "s|^  $root/folder/||p" "$root/errors" | sort) <(printf '%b' "$2")
}

: >"$root/built"
says 1 'pool/new/b 1.deb\npool/old/a.deb\n'
says 1 'pool/new/b 1.deb\n' old
says 0 '' old new

sha256sum pool/new/* >"$root/built"
says 1 'pool/old/a.deb\n'
sha256sum pool/old/a.deb >SHA256SUMS
says 1 'pool/old/a.deb\n'  # nobody has signed the list
sign theirs
says 1 'pool/old/a.deb\n'  # somebody else has, whose key gpg knows, too
grep 'has not signed' "$root/errors"
sign ours
says 0 ''
echo 'a line more' >>SHA256SUMS
says 1 'pool/old/a.deb\n'

list >SHA256SUMS
sign ours
: >"$root/built"
says 0 ''
rm pool/new/b*
says 0 ''
echo other >pool/old/a.deb
says 1 'pool/old/a.deb\n'
echo old >pool/old/a.deb
cp pool/old/a.deb pool/old/copy.deb
ln -s a.deb pool/old/link.deb
mkdir pool/more
echo more >pool/more/c.deb
echo top >pool/d.deb
says 1 'pool/d.deb\npool/more/c.deb\npool/old/copy.deb\npool/old/link.deb\n'
says 1 'pool/d.deb\npool/more/c.deb\n' old
rm -r pool
says 0 ''

echo "only what this release has built or signed is accepted"
