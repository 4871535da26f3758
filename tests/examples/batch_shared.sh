#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests the example batch in a folder of results that others may write to: whatever they put there, the run goes on,
# writes through no link, and deletes nothing but what belongs to the video in question. Root also tests two users.
#
#   batch_shared.sh PYTHON FOLDER_OF_BATCH PLUGIN_FOLDER     PYTHON: `missing` skips
set -euo pipefail
python=$1 examples=$2 plugins=$3
source "$(dirname "${BASH_SOURCE[0]}")/python_plugin.sh"
source "$(dirname "${BASH_SOURCE[0]}")/batch_tools.sh"
results=$root/results victim=$root/victim.txt
mkdir "$root/videos"
make_videos "$root/videos" 2
mapfile -t names < <(PYTHONPATH=$examples "$python" -c 'import sys, videos; [print(videos.Video(p).name) for p in sys.argv[1:]]' \
  "$root/videos"/made{1,2}.avi)
name=${names[0]} other=${names[1]}
quick=(--elements "cudahistogram display=false" --output "$results" "$root/videos")

fresh() { rm -rf "$results"; mkdir "$results"; printf 'precious\nhalf a line' >"$victim"; cp "$victim" "$root/copy"; }
unharmed() { cmp "$victim" "$root/copy"; }
both_done() { expect 0 timeout 60 "${batch[@]}" "${quick[@]}" >"$root/out" 2>"$root/err" </dev/null; says "^2 videos done"; unharmed; }
one_fails() {
  expect 1 timeout 60 "${batch[@]}" "${quick[@]}" >"$root/out" 2>"$root/err" </dev/null
  says '^1 videos done .* 1 failed'
  says "failed: .*made1.avi: .*$1"
  unharmed
}
both_results() { local n; for n in "${names[@]}"; do [[ -f $results/$n.jsonl && ! -L $results/$n.jsonl && ! -L $results/$n.made.json ]]; done; }

echo "== what is no lock, under the name of a lock"
fresh; ln -s "$victim" "$results/.$name.lock"; both_done; only_results "$results"
fresh; ln -s "$root/nowhere" "$results/.$name.lock"; both_done; [[ ! -e $root/nowhere ]]
fresh; ln -s /etc "$results/.$name.lock"; both_done
fresh; mkfifo "$results/.$name.lock"; both_done; only_results "$results"
fresh; mkdir "$results/.$name.lock"; one_fails '\.lock: '; [[ -d $results/.$name.lock ]]
for foreign in .x.lock .lock "..lock" ".made1.0.lock" ".strange.0123456789abcdef.lock"; do
  fresh; mkdir "$results/$foreign"; both_done; [[ -d $results/$foreign ]]
  fresh; ln -s "$victim" "$results/$foreign"; both_done; [[ -L $results/$foreign ]]
done
fresh; echo mine >"$results/.~lock.x#"; echo mine >"$results/.swp.lock"; both_done; [[ -e $results/.~lock.x# && -e $results/.swp.lock ]]

echo "== what a lock says is nobody's business"
finished=$other.jsonl
for text in '..\n' '.\n' '/\n' "$finished\n" "$other.made.json\n" "$victim\n" "../victim.txt\n" '\xff\xfe\0\n' "\n\n\n"; do
  fresh
  both_done
  for lock in "$name" "$other"; do
    # shellcheck disable=SC2059  # the text is the format
    printf "$text" >"$results/.$lock.lock"
  done
  rm "$results/$name.made.json"
  expect 0 run "${quick[@]}"
  says '^1 videos done .* 1 done before'
  both_results
  unharmed
  only_results "$results"
done
fresh; head -c 3000000 /dev/zero >"$results/.$name.lock"; both_done
fresh; ln "$victim" "$results/.$name.lock"; both_done  # a file with a second name is not written to

echo "== links where files are written"
for suffix in jsonl made.json; do
  fresh; ln -s "$victim" "$results/$name.$suffix"; both_done; both_results
  fresh; mkfifo "$results/$name.$suffix"; both_done; both_results
  fresh; mkdir "$results/$name.$suffix"; one_fails "$suffix: "
done
# The names of the parts contain the process id, which exec keeps.
host=$(hostname | tr -cd '[:alnum:]-')
for make in "ln -s $victim" "ln $victim" mkfifo mkdir; do
  fresh
  status=0
  # shellcheck disable=SC2016
  bash -c 'for suffix in jsonl made; do $1 "$2.$3-$$-0.$suffix.part"; done; exec timeout --foreground 60 "${@:4}"' - "$make" "$results/.$name" "$host" \
    "${batch[@]}" "${quick[@]}" >"$root/out" 2>"$root/err" || status=$?
  [[ $status == 0 ]]
  # The process id in those names was that of timeout: now the same with the id of the program itself.
  # shellcheck disable=SC2016
  bash -c 'for suffix in jsonl made; do $1 "$2.$3-$$-0.$suffix.part"; done; exec "${@:4}"' - "$make" "$results/.$other" "$host" \
    "${batch[@]}" "${quick[@]}" --tensor-data full >"$root/out" 2>"$root/err"
  says '^2 videos done'
  both_results
  unharmed
done

echo "== records that cannot be read"
deep=$(printf '[%.0s' {1..20000})
for text in '' '{' 'null' '[]' '{"bytes": 1}' '{"bytes": [], "made_with": 7}' '{"bytes": SIZE, "made_with": {}, "warnings": 7}' "$deep" '{"bytes": 1e999}'; do
  fresh; both_done; printf '%s' "${text/SIZE/$(stat -c %s "$results/$name.jsonl")}" >"$results/$name.made.json"
  expect 0 run "${quick[@]}"
  says '^1 videos done .* 1 done before'
done

echo "== parts that others have left for a camera"
PYTHONPATH=$examples "$python" - "$root/parts" "$victim" <<'END'
import os, sys

import cameras, results

folder, victim = results.Folder(sys.argv[1]), sys.argv[2]
before = open(victim, "rb").read()
name = "door.0123456789abcdef"
stamp = "20260101T000000.00000{}Z.jsonl"


def left(number):
    return folder.path_of(f".{name}.host-1-1.{stamp.format(number)}.part")


os.symlink(victim, left(0))
os.link(victim, left(1))
os.mkfifo(left(2))
os.mkdir(left(3))
open(left(4), "w").write('{"a":1}\n{"half')
open(left(5), "w").write('{"a":2}\n')
open(folder.path_of(f"{name}.{stamp.format(5)}"), "w").write("finished\n")
open(folder.path_of(f".{name}.x.99999999T999999.000000Z.jsonl.part"), "w").write("no such time\n")
open(folder.path_of(f".{name}.camera"), "w").write("a lock that was left\n")
for claim in folder.leftovers(cameras.LOCK):
    cameras.rescue(folder, claim)
    claim.release()
assert open(victim, "rb").read() == before
found = {n: open(folder.path_of(n)).read() for n in folder.names(r"door.*\.jsonl")}
assert found == {f"{name}.{stamp.format(4)}": '{"a":1}\n', f"{name}.{stamp.format(5)}": "finished\n",
                 f"{name}.{stamp.format(6)}": '{"a":2}\n'}, found
assert not folder.names(r"\..*\.camera"), os.listdir(folder.path)
END
unharmed

echo "== a part that somebody replaces"
PYTHONPATH=$examples "$python" - "$root/replaced" "$victim" <<'END'
import os, sys

import results

folder, victim = results.Folder(sys.argv[1]), sys.argv[2]
claim = folder.claim("a.0123456789abcdef")
part = claim.part(".jsonl")
with open(part.location, "w") as file:
    file.write("{}\n")
os.unlink(folder.path_of(part.name))
os.symlink(victim, folder.path_of(part.name))
try:
    claim.publish(part, "a.0123456789abcdef.jsonl")
    sys.exit("it was published")
except OSError as error:
    print(error)
assert not folder.has("a.0123456789abcdef.jsonl")
claim.release()
assert os.listdir(folder.path) == []
END
unharmed

((EUID == 0)) || { echo "the shared folder holds; two users were not tried, which needs root"; exit 0; }
echo "== two users"
command -v setpriv >/dev/null || { echo "no setpriv (Debian: util-linux)"; exit 1; }
# Copies the product: other users cannot read a clone in root's home.
mkdir "$root"/product "$root"/product/{plugin,meta,system}
cp -r "$examples" "$root/product/batch"
cp "$examples"/../*.py "$root/product"
cp "$plugins"/*.so "$root/product/plugin"
cp -P "$plugins"/../meta/lib*.so* "$root/product/meta" 2>/dev/null || true  # skips folders of objects
batch=("$python" "$root/product/batch/batch.py")
export GST_PLUGIN_PATH_1_0=$root/product/plugin LD_LIBRARY_PATH=$root/product/meta
if [[ -n ${GST_PLUGIN_SYSTEM_PATH_1_0:-} ]]; then
  cp -P "$GST_PLUGIN_SYSTEM_PATH_1_0"/* "$root/product/system"  # copies links as links
  export GST_PLUGIN_SYSTEM_PATH_1_0=$root/product/system
fi
if [[ -n ${LD_PRELOAD:-} ]]; then
  cp "$LD_PRELOAD" "$root/product"
  export LD_PRELOAD=$root/product/${LD_PRELOAD##*/}
fi
chmod -R a+rX "$root"
# as USER UMASK COMMAND...
as() {
  local user=$1 mask=$2
  shift 2
  mkdir -p "$root/home.$user"
  chown "$user:$user" "$root/home.$user"
  (umask "$mask"
   exec setpriv --reuid="$user" --regid="$user" --groups=54000 env HOME="$root/home.$user" GST_REGISTRY_1_0="$root/home.$user/registry" \
     timeout 60 "$@" >"$root/out" 2>"$root/err" </dev/null)
}
shared() { rm -rf "$results"; mkdir "$results"; chgrp 54000 "$results"; chmod "$1" "$results"; }
for mode in 1777 3770 2770 0777; do
  echo "mode $mode"
  shared "$mode"
  # locks that only user 54321 may open
  install -o 54321 -g 54321 -m 600 /dev/null "$results/.$other.lock"
  install -o 54321 -g 54321 -m 600 /dev/null "$results/.x.lock"
  expect 1 as 54322 022 "${batch[@]}" "${quick[@]}"
  says '^1 videos done .* 1 failed'
  says "failed: .*made2.avi: .*$other.lock: Permission denied"
  expect 0 as 54321 022 "${batch[@]}" "${quick[@]}"
  says '^1 videos done .* 1 done before'
  [[ -e $results/.x.lock ]]
  expect 0 as 54322 022 "${batch[@]}" "${quick[@]}"
  says '^0 videos done .* 2 done before'
  # with other elements: where only the owner may replace a file, the other user's run reports that
  install -o 54321 -g 54321 -m 644 /dev/null "$results/.$other.lock"  # of a dead process; locking needs no more

  status=0
  as 54322 077 "${batch[@]}" "${quick[@]}" --tensor-data full || status=$?
  case $mode in
    1777 | 3770) [[ $status == 1 ]]; says 'failed: .*made2.avi: .*Operation not permitted'; says '^1 videos done' ;;
    *) [[ $status == 0 ]]; says '^2 videos done' ;;
  esac
  # a result that cannot be read is not made again
  expect 1 as 54321 022 "${batch[@]}" "${quick[@]}" --tensor-data none
  says 'failed: .*made1.avi: .*made.json: Permission denied'
  jq -es 'all(.[]; .tensors[0].data)' "$results/$name.jsonl" >/dev/null
done
# While one user works on a video, the other waits for it.
shared 1777
as 54321 077 "${batch[@]}" "${quick[@]}" --elements "identity sleep-time=400000" --jobs 2 &
first=$!
wait_for running_parts "$results"
expect 124 as 54322 022 timeout 3 "${batch[@]}" "${quick[@]}" --elements "identity"
running_parts "$results"
wait "$first"
echo "the shared folder holds"
