#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by tests of the installed product: installs it into an empty folder and sets the environment to use it.

# install_into ROOT BUILD_FOLDER PREFIX LIBDIR PLUGIN_DIR: sets the environment of this shell to use the
# installed product.
install_into() {
  local root=$1 build=$2 prefix=$3 libdir=$4 plugin_dir=$5
  meson install -C "$build" --no-rebuild --destdir "$root/dest" --quiet
  # PKG_CONFIG_SYSROOT_DIR would also move GStreamer's folders, so only this file is edited.
  mkdir "$root/pc"
  sed "s|^prefix=.*|prefix=$root/dest$prefix|" "$root/dest$libdir/pkgconfig/gstreamer-cudavision-1.0.pc" \
    >"$root/pc/gstreamer-cudavision-1.0.pc"
  export PKG_CONFIG_PATH=$root/pc${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
  export LD_LIBRARY_PATH=$root/dest$libdir
  export GI_TYPELIB_PATH=$root/dest$libdir/girepository-1.0
  export GST_PLUGIN_PATH_1_0=$root/dest$plugin_dir GST_REGISTRY_1_0=$root/registry
}

# needs TOOL...: skips the test if a tool is missing.
needs() {
  local tool
  for tool in "$@"; do
    command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
  done
}
