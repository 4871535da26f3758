# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by examples/demo.sh and tests/run.sh: installs missing Debian packages, as root or with sudo.

packages_to_build=(g++ meson ninja-build pkg-config python3
  libglib2.0-dev libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev libhwy-dev libjson-glib-dev libyaml-dev
  libpng-dev gobject-introspection libgirepository1.0-dev)
packages_to_play=(gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-libav opencv-doc
  libopencv-ml-dev libopencv-objdetect-dev)
packages_to_test=(jq parallel libgtest-dev libopencv-dev libboost-context-dev binutils python3-gi python3-jsonschema python3-yaml python3-numpy
  python3-opencv python3-aiohttp python3-paho-mqtt python3-confluent-kafka python3-jinja2 mosquitto-clients openssl libseccomp2 libunwind8 locales python3-matplotlib python3-venv gir1.2-gst-plugins-base-1.0 gir1.2-gst-rtsp-server-1.0
  libgstreamer-plugins-bad1.0-dev gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly)
packages_to_live=(python3-aiohttp python3-gi python3-numpy gir1.2-gstreamer-1.0 gir1.2-gst-plugins-base-1.0)
packages_to_browse=(chromium chromium-driver python3-selenium python3-pil fonts-dejavu-core openssl)
packages_to_draw=(webp python3-numpy)
packages_to_document=(gi-docgen)
packages_to_measure=(libbenchmark-dev gstreamer1.0-opencv)

# install_packages NAME...: does nothing, and needs no network, if all packages are installed.
install_packages() {
  local name missing=()
  for name in "$@"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null) == installed ]] || missing+=("$name")
  done
  ((${#missing[@]})) || return 0
  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || { echo "Missing: ${missing[*]}. Install them, or run this as root." >&2; return 1; }
    as_root=(sudo)
  fi
  echo "Installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
    >/dev/null
}

# unpack_packages FOLDER NAME...: unpacks packages into a folder. An installed web server would be started, too.
unpack_packages() {
  mkdir -p "$1"
  (cd "$1" && apt-get download -qq "${@:2}" && for package in *.deb; do dpkg -x "$package" . && rm "$package"; done) >&2
}

# unpack_broker: unpacks mosquitto, with the libraries that are missing, into build-data: if it was installed, it would run.
unpack_broker() {
  [[ ! -x /usr/sbin/mosquitto && ! -x build-data/usr/sbin/mosquitto ]] || return 0
  # shellcheck disable=SC2046  # the names are words
  unpack_packages build-data $(apt-get -s install --no-install-recommends mosquitto | sed -n 's/^Inst \([^ ]*\).*/\1/p')
}

# test_data: prints the folder of OpenCV's sample pictures and videos. Slim container images omit files under
# /usr/share/doc; the package is then unpacked into build-data.
test_data() {
  local installed=/usr/share/doc/opencv-doc/examples/data unpacked=$PWD/build-data
  if [[ -e $installed/vtest.avi ]]; then
    echo "$installed"
    return
  fi
  if [[ ! -e $unpacked$installed/vtest.avi ]]; then
    mkdir -p "$unpacked"
    (cd "$unpacked" && apt-get download -qq opencv-doc && dpkg -x opencv-doc_*.deb . && rm opencv-doc_*.deb) >&2
  fi
  echo "$unpacked$installed"
}

# native_archs: prints the compute capabilities of the GPUs of this machine that nvcc supports, such as 75,90.
native_archs() {
  local arch
  nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ' | grep -xE '[0-9]+' | sort -un |
    while read -r arch; do nvcc --list-gpu-code 2>/dev/null | grep -oxE "sm_$arch" | cut -c4-; done | paste -sd, || true
}

# build_in FOLDER MESON_OPTION...: configures the folder the first time, then builds everything.
build_in() {
  local folder=$1; shift
  [[ -e $folder/build.ninja ]] || meson setup "$folder" "$@" || return
  ninja -C "$folder"
}

# needs_root_folder NAME: ends the lane NAME as skipped where no root folder can be made, as in many containers.
needs_root_folder() {
  ((EUID == 0)) && unshare --mount --propagation unchanged true 2>/dev/null && return
  echo "$1: skipped: only root can make a root folder, and not in every container"
  exit 77
}
