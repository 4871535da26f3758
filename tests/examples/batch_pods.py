# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that the pods and the container of the examples, which decode what strangers have made, run without rights.

  batch_pods.py EXAMPLES_FOLDER
"""
import copy
import pathlib
import re
import sys

try:
    import yaml
except ImportError:
    print("skipped: no PyYAML (Debian: python3-yaml)")
    sys.exit(77)

examples = pathlib.Path(sys.argv[1])


def faults_of(pod):
    """What is missing in the specification of a pod."""
    context = pod.get("securityContext", {})
    if context.get("runAsNonRoot") is not True or not context.get("runAsUser", 0) >= 1000 or not context.get("runAsGroup", 0) >= 1000:
        yield "it may run as root"
    if context.get("seccompProfile") != {"type": "RuntimeDefault"}:
        yield "no filter of system calls"
    if pod.get("automountServiceAccountToken") is not False:
        yield "it can talk to the cluster"
    if {"hostNetwork", "hostPID", "hostIPC"} & set(pod) or any("hostPath" in volume for volume in pod["volumes"]):
        yield "it sees the host"
    for container in pod["containers"] + pod.get("initContainers", []):
        own = container.get("securityContext", {})
        if own.get("allowPrivilegeEscalation") is not False or own.get("capabilities") != {"drop": ["ALL"]} or own.get("privileged"):
            yield "it may get rights"
        if {"runAsUser", "runAsNonRoot", "seccompProfile"} & set(own):
            yield "a container has another user or filter than its pod"
        if own.get("readOnlyRootFilesystem") is not True:
            yield "its root file system can be written to"
        if not {"cpu", "memory", "ephemeral-storage"} <= set(container.get("resources", {}).get("limits", {})):
            yield "it has no limits"
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        mounts = {mount["mountPath"]: volumes[mount["name"]] for mount in container["volumeMounts"]}
        if "emptyDir" not in mounts.get("/tmp", {}) or "sizeLimit" not in mounts["/tmp"]["emptyDir"]:
            yield "it has nowhere to write GStreamer's list of plugins, or no limit there"


def user_of(containerfile):
    """The user that the last stage ends as."""
    stage = re.split(r"^FROM ", containerfile, flags=re.MULTILINE)[-1]
    return (re.findall(r"^USER (.*)$", stage, re.MULTILINE) or ["root"])[-1]


pods = [spec["spec"]["template"]["spec"] for path in sorted((examples / "batch" / "kubernetes").glob("*.yaml"))
        for spec in yaml.safe_load_all(path.read_text(encoding="utf-8")) if spec["kind"] != "Secret"]
assert len(pods) == 2
for pod in pods:
    assert list(faults_of(pod)) == [], list(faults_of(pod))
    for key in pod["securityContext"].keys() - {"fsGroup", "fsGroupChangePolicy"}:  # without any key, a fault is found
        changed = copy.deepcopy(pod)
        del changed["securityContext"][key]
        assert list(faults_of(changed)), key
    changed = copy.deepcopy(pod)
    del changed["containers"][0]["securityContext"]
    assert len(list(faults_of(changed))) == 2

text = (examples / "container" / "Containerfile").read_text(encoding="utf-8")
assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", user_of(text)), user_of(text)
assert user_of(text) == "{runAsUser}:{runAsGroup}".format(**pods[0]["securityContext"])
assert re.search(r"^ENV .*GST_REGISTRY=/tmp/", text, re.MULTILINE)
print("the pods and the container have no rights")
