// SPDX-License-Identifier: LGPL-2.1-or-later
// The plugin "cudavision". It registers its elements on every machine; CUDA devices are looked for only when an element
// leaves the state NULL.
#include <gst/gst.h>
#include <unwind.h>

#include "gst/base/frame/frame_memory.h"
#include "gst/base/results/frame_notes.h"

#define CUDAVISION_ELEMENT(name) GST_ELEMENT_REGISTER_DECLARE(name)
G_BEGIN_DECLS
#include "elements.inc"
G_END_DECLS
#undef CUDAVISION_ELEMENT

#define CUDAVISION_ELEMENT(name) ok = GST_ELEMENT_REGISTER(name, plugin) && ok;

// The plugin contains its own unwinder (see gst/README.md), which initialises itself when it is first used. That must
// not happen while an exception of the program, or the end of one of its threads, passes through the plugin: the
// program's unwinder would then call functions of the plugin's unwinder, which would end the process.
static void prepare_unwinder() {
  (void)_Unwind_Backtrace([](_Unwind_Context *, void *) { return _URC_END_OF_STACK; }, nullptr);
}

static gboolean plugin_init(GstPlugin *plugin) {
  prepare_unwinder();
  cudavision::offer_frames();
  cudavision::register_frame_notes();
  gboolean ok = TRUE;
#include "elements.inc"
  return ok;
}

#define PACKAGE "gst-cudavision"
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, cudavision,
                  "Computer vision on NVIDIA GPUs and on CPUs", plugin_init, PACKAGE_VERSION, "LGPL", PACKAGE,
                  PACKAGE_ORIGIN)
