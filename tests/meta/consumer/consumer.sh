#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Installs the library into an empty folder, compiles a C program with the flags of pkg-config, and runs it.
#
# consumer.sh BUILD_FOLDER PREFIX LIBDIR SOURCE SANITIZERS
#   SANITIZERS: those of the build, as none or address,undefined
set -euo pipefail
build=$1 prefix=$2 libdir=$3 source=$4 sanitizers=$5
source "$(dirname "$0")/../../support/installed.sh"
needs meson pkg-config "${CC:-cc}"

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
install_into "$root" "$build" "$prefix" "$libdir" ""
read -ra flags <<<"$(pkg-config --cflags --libs gstreamer-cudavision-1.0)"
[[ $sanitizers == none ]] || flags+=("-fsanitize=$sanitizers")
"${CC:-cc}" -std=c11 -Wall -Wextra -Werror -o "$root/consumer" "$source" "${flags[@]}"

readelf -d "$root/consumer" | grep 'libgstcudavision-1.0.so.0' >/dev/null || { echo "no soname of version 0" >&2; exit 1; }
output=$("$root/consumer")
echo "$output"
[[ $output == "histogram u32 [1][4]: 1 2 3 4; 1 keypoint at (1.5, 2.5)" ]]

foreign=$(nm -D --defined-only "$root/dest$libdir/libgstcudavision-1.0.so" | awk '$3 !~ /^gst_cuda_vision_/ { print $3 }')
[[ -z $foreign ]] || { echo "exported but not of the interface: $foreign" >&2; exit 1; }
