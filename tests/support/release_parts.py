#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints an SPDX document (version 2.3, as JSON) of the packages of a release, and of what others have written in them.

usage: release_parts.py FOLDER     a folder that tests/release.sh fills

What a package merely depends on, such as GStreamer, is not part of it, and is not listed. The versions of what the
compiler takes from other packages are those of the build (.buildinfo). SPDX: https://spdx.github.io/spdx-spec/v2.3/
"""
import datetime
import hashlib
import json
import pathlib
import re
import subprocess
import sys

LICENCE = "LGPL-2.1-or-later"
TRADEMARKS = ("NVIDIA, CUDA and Jetson are trademarks of NVIDIA Corporation, GStreamer of the GStreamer project, OpenCV of the Open Source Vision "
              "Foundation, Debian of Software in the Public Interest, Inc. All trademarks belong to their owners. gst-cudavision is not made, "
              "sponsored or endorsed by any of them.")
CUDA_LICENCE = "LicenseRef-NVIDIA-CUDA-EULA"
# Name, licence, who wrote it, why it is there, and the package of Debian from which the compiler takes it.
PEOPLE = ("OpenCV's people detector: the weights of cv::HOGDescriptor::getDefaultPeopleDetector()", "BSD-3-Clause",
          "Copyright 2000-2008 Intel Corporation; 2009 Willow Garage Inc.", "gst/hog/people_model.xml", None)
PICTURES = ("Pictures of the pages: processed copies of OpenCV's samples", "Apache-2.0 AND BSD-3-Clause",
            "Copyright 2000-2022 Intel Corporation and the contributors of OpenCV", "*.webp", None)
HIGHWAY = ("Highway", "Apache-2.0", "Copyright Google LLC", "compiled from its headers", r"libhwy-dev")
CXX_RUNTIME = ("libstdc++ and libgcc", "GPL-3.0-or-later WITH GCC-exception-3.1", "Copyright Free Software Foundation, Inc.",
               "linked statically", r"libstdc\+\+-\d+-dev")
CUDART = ("CUDA runtime (libcudart_static)", CUDA_LICENCE, "Copyright NVIDIA Corporation", "linked statically", None)
PARTS = {  # of binary packages, and of the source
    "gst-cudavision": [PEOPLE, PICTURES],
    "gstreamer1.0-cudavision": [PEOPLE, HIGHWAY, CXX_RUNTIME],
    "gstreamer1.0-cudavision-examples": [PICTURES],
    "libgstcudavision-1.0-0": [CXX_RUNTIME],
}


def toolkit_version():
    """The version of the CUDA toolkit of this machine, which -cuda roots were built with."""
    try:
        told = subprocess.run(["/usr/local/cuda/bin/nvcc", "--version"], capture_output=True, text=True, check=True).stdout
        return re.search(r"\bV(\d+\.\d+\.\d+)", told)[1]
    except OSError:
        return None


def main(folder):
    packages, relations, ids = [], [], {}

    def add(key, **members):
        if key not in ids:
            ids[key] = f"SPDXRef-{len(ids) + 1}"
            packages.append({"SPDXID": ids[key], "downloadLocation": "NOASSERTION", "filesAnalyzed": False, **members})
        return ids[key]

    def relate(one, how, other):
        relations.append({"spdxElementId": one, "relationshipType": how, "relatedSpdxElement": other})

    for file in sorted(folder.glob("pool/*/*")):
        if file.suffix not in (".deb", ".dsc"):
            continue
        name, version = file.name.split("_")[0], file.name.split("_")[1].removesuffix(".dsc")
        built = next(file.parent.glob("*.buildinfo")).read_text(encoding="utf-8")
        own = add(file, name=name, versionInfo=version, packageFileName=str(file.relative_to(folder)), licenseConcluded=LICENCE,
                  licenseDeclared=LICENCE, copyrightText="Copyright 2026 the maintainers of gst-cudavision", attributionTexts=[TRADEMARKS],
                  checksums=[{"algorithm": "SHA256", "checksumValue": hashlib.sha256(file.read_bytes()).hexdigest()}])
        relate("SPDXRef-DOCUMENT", "DESCRIBES", own)
        parts = list(PARTS.get(name, []))
        if file.parent.name.endswith("-cuda") and name == "gstreamer1.0-cudavision":
            parts.append(CUDART)
        for title, licence, owner, place, debian in parts:
            part_version = toolkit_version() if licence == CUDA_LICENCE else None
            if debian:
                part_version = re.search(rf"^ {debian} \(= (\S+)\)", built, re.MULTILINE)[1]
            known = {"versionInfo": part_version} if part_version else {}
            relate(own, "CONTAINS", add((title, part_version), name=title, licenseConcluded=licence, licenseDeclared=licence,
                                        copyrightText=owner, comment=place, **known))
    json.dump({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": "gst-cudavision",
        "documentNamespace": "https://gst-cudavision.example/spdx/" + hashlib.sha256(json.dumps(packages).encode()).hexdigest(),
        "creationInfo": {"created": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: gst-cudavision-release_parts.py"]},
        "packages": packages, "relationships": relations,
        "hasExtractedLicensingInfos": [{
            "licenseId": CUDA_LICENCE, "name": "NVIDIA CUDA Toolkit End User License Agreement",
            "extractedText": "The static CUDA runtime may be distributed as a part of an application: see the attachment A of the agreement.",
            "seeAlsos": ["https://docs.nvidia.com/cuda/eula/"]}] if any(p["licenseConcluded"] == CUDA_LICENCE for p in packages) else [],
    }, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
