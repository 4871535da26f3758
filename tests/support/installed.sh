#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by tests of what is installed: puts it into an empty folder and lets compilers and programs find it there.

# install_into ROOT BUILD_FOLDER PREFIX LIBDIR PLUGIN_DIR: the environment of this shell then leads to what is installed.
install_into() {
  local root=$1 build=$2 prefix=$3 libdir=$4 plugin_dir=$5
  meson install -C "$build" --no-rebuild --destdir "$root/dest" --quiet
  # PKG_CONFIG_SYSROOT_DIR would move GStreamer's folders too; so this one file is moved.
  mkdir "$root/pc"
  sed "s|^prefix=.*|prefix=$root/dest$prefix|" "$root/dest$libdir/pkgconfig/gstreamer-cudavision-1.0.pc" \
    >"$root/pc/gstreamer-cudavision-1.0.pc"
  export PKG_CONFIG_PATH=$root/pc${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
  export LD_LIBRARY_PATH=$root/dest$libdir
  export GI_TYPELIB_PATH=$root/dest$libdir/girepository-1.0
  export GST_PLUGIN_PATH_1_0=$root/dest$plugin_dir GST_REGISTRY_1_0=$root/registry
}

# needs TOOL...: ends the test as skipped when one is missing.
needs() {
  local tool
  for tool in "$@"; do
    command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
  done
}
