#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Installs the library into an empty folder, compiles a C program with what pkg-config says of it, and runs it.
#
#   consumer.sh BUILD_FOLDER PREFIX LIBDIR SOURCE SANITIZERS     SANITIZERS: of the build, `none` or as address,undefined
set -euo pipefail
build=$1 prefix=$2 libdir=$3 source=$4 sanitizers=$5
for tool in meson pkg-config "${CC:-cc}"; do
  command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
meson install -C "$build" --no-rebuild --destdir "$root/dest" --tags devel,runtime --quiet

# PKG_CONFIG_SYSROOT_DIR would move GStreamer's folders too; so this one file is moved.
mkdir "$root/pc"
sed "s|^prefix=.*|prefix=$root/dest$prefix|" "$root/dest$libdir/pkgconfig/gstreamer-cudavision-1.0.pc" \
  >"$root/pc/gstreamer-cudavision-1.0.pc"
export PKG_CONFIG_PATH="$root/pc${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
read -ra flags <<<"$(pkg-config --cflags --libs gstreamer-cudavision-1.0)"
[[ $sanitizers == none ]] || flags+=("-fsanitize=$sanitizers")
"${CC:-cc}" -std=c11 -Wall -Wextra -Werror -o "$root/consumer" "$source" "${flags[@]}"

readelf -d "$root/consumer" | grep -q 'libgstcudavision-1.0.so.0' || { echo "no soname of version 0" >&2; exit 1; }
output=$(LD_LIBRARY_PATH="$root/dest$libdir" "$root/consumer")
echo "$output"
[[ $output == "histogram u32 [1][4]: 1 2 3 4; 1 keypoint at (1.5, 2.5)" ]]

foreign=$(nm -D --defined-only "$root/dest$libdir/libgstcudavision-1.0.so" | awk '$3 !~ /^gst_cuda_vision_/ { print $3 }')
[[ -z $foreign ]] || { echo "exported but not of the interface: $foreign" >&2; exit 1; }
