// SPDX-License-Identifier: LGPL-2.1-or-later
// An element that needs a CUDA context when it goes from NULL to READY, as GStreamer's decoders and encoders do.
#pragma once

#include "tests/elements/cuda_memory.h"

namespace cudavision::test {

// An element of the type with a sink and a source pad, which are never used. It looks for a context as
// nvh264dec does: by gst_cuda_ensure_element_context(), which makes a new one where nobody has one.
OwnedObject<GstElement> make_asking_element();
// The context that it found, or made; null in NULL. The element keeps it.
GstCudaContext *context_found_by(GstElement *asking);

}  // namespace cudavision::test
