// SPDX-License-Identifier: LGPL-2.1-or-later
// An element that asks for a CUDA context when it goes from NULL to READY, like GStreamer's decoders and encoders.
#pragma once

#include "tests/elements/cuda_memory.h"

namespace cudavision::test {

// Makes the element. It has an unused sink pad and source pad. It looks for a context as nvh264dec does: with
// gst_cuda_ensure_element_context(), which makes a new context if nobody has one.
OwnedObject<GstElement> make_asking_element();
// The context that the element found or made; null in NULL. The element keeps the reference.
GstCudaContext *context_found_by(GstElement *asking);

}  // namespace cudavision::test
