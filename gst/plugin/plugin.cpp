// SPDX-License-Identifier: LGPL-2.1-or-later
// The plugin "cudavision". It registers its elements on every machine; CUDA devices are looked for only when
// an element starts.
#include <gst/gst.h>

#include "gst/base/frame_memory.h"

#define CUDAVISION_ELEMENT(name) GST_ELEMENT_REGISTER_DECLARE(name)
G_BEGIN_DECLS
#include "elements.inc"
G_END_DECLS
#undef CUDAVISION_ELEMENT

#define CUDAVISION_ELEMENT(name) ok = GST_ELEMENT_REGISTER(name, plugin) && ok;

static gboolean plugin_init(GstPlugin *plugin) {
  cudavision::offer_frames();
  gboolean ok = TRUE;
#include "elements.inc"
  return ok;
}

#define PACKAGE "gst-cudavision"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, cudavision,
                  "Computer vision on NVIDIA GPUs and on CPUs", plugin_init, PACKAGE_VERSION, "LGPL",
                  "gst-cudavision", "gst-cudavision")
