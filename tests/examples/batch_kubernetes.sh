#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests the manifests of the example batch without a cluster: against Kubernetes' published schemas, which the package
# kubernetes-validate of PyPI has, and by running the Job's command for each of its indices.
#
#   batch_kubernetes.sh PYTHON FOLDER_OF_BATCH PLUGIN_FOLDER     PYTHON: `missing` skips
set -euo pipefail
python=$1 examples=$2 plugins=$3
source "$(dirname "${BASH_SOURCE[0]}")/python_plugin.sh"
source "$(dirname "${BASH_SOURCE[0]}")/batch_tools.sh"
use_pypi kubernetes-validate pyyaml
manifests=$examples/kubernetes

echo "== the schemas"
valid() { "$venv/bin/kubernetes-validate" --strict "$@" >"$root/valid" 2>&1; }
valid "$manifests"/*.yaml || { cat "$root/valid"; exit 1; }
cat "$root/valid"
[[ $(grep -c passed "$root/valid") == 3 ]]
for wrong in 's/completions: 8/completions: eight/' 's/completionMode/completionsMode/' 's/action: Ignore/act: Ignore/'; do
  sed "$wrong" "$manifests/job.yaml" >"$root/wrong.yaml"
  if valid "$root/wrong.yaml"; then echo "accepted: $wrong"; exit 1; fi
done

echo "== the commands"
# command MANIFEST: the arguments of its container's program, with a NUL byte behind each, as Kubernetes expands them.
command() {
  "$venv/bin/python" - "$manifests/$1" <<'END'
import os, re, sys, yaml

objects = list(yaml.safe_load_all(open(sys.argv[1])))
spec = objects[-1]["spec"]
container = spec["template"]["spec"]["containers"][0]
values = {entry["name"]: entry["value"] for entry in container.get("env", [])} | dict(os.environ)
if "completions" in spec:
    assert spec["completions"] == spec["parallelism"] == spec["maxFailedIndexes"] == int(values["SHARES"])
else:
    names = {o["metadata"]["name"] for o in objects} | {spec["selector"]["matchLabels"]["app"]}
    names |= {spec["template"]["metadata"]["labels"]["app"], spec["template"]["spec"]["volumes"][-1]["secret"]["secretName"]}
    assert names == {"cameras-entrance"}, names
assert container["command"][0].endswith("/examples/batch/batch.py")
for argument in container["command"][1:]:
    argument = re.sub(r"\$\((\w+)\)", lambda match: values[match[1]], argument)
    for mount in container["volumeMounts"]:
        argument = re.sub(rf"(^|=){mount['mountPath']}\b", rf"\1{os.environ['root']}{mount['mountPath']}", argument)
    print(argument, end="\0")
END
}
export root
mkdir -p "$root/videos/in" "$root/cameras"
make_videos "$root/videos/in" 6
for index in 0 1 2 3 4 5 6 7; do
  mapfile -d '' -t arguments < <(JOB_COMPLETION_INDEX=$index command job.yaml)
  ((${#arguments[@]} == 4))
  expect 0 run "${arguments[@]}"
  count_done >>"$root/counts"
done
[[ $(($(paste -sd+ "$root/counts"))) == 6 ]]
expect 0 run --elements "cudahog model=people display=false ! cudavisiontrack" --output "$root/one" "$root/videos/in"
same_results "$root/one" "$root/videos/results"

"$venv/bin/python" -c 'import sys, yaml; print(next(yaml.safe_load_all(open(sys.argv[1])))["stringData"]["cameras.txt"])' \
  "$manifests/cameras.yaml" >"$root/cameras/cameras.txt"
mapfile -d '' -t arguments < <(command cameras.yaml)
"${batch[@]}" "${arguments[@]/cudahog*/identity}" >"$root/out" 2>"$root/err" &
process=$!
wait_for test -e "$(compgen -G "$root/results" || echo "$root/results")"
sleep 2
kill "$process"
status=0
wait "$process" || status=$?
[[ $status == 143 ]]
says 'stopped: SIGTERM'
echo "the manifests hold"
