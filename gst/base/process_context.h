// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA context that all elements of the process share when nobody gives them another one: the primary
// context of the device, which PyTorch, CuPy, OpenCV and every other user of the CUDA runtime work in, too.
#pragma once

#include <gst/gst.h>

#include "cuda/common/status.h"

typedef struct _GstCudaContext GstCudaContext;

namespace cudavision {

// Gives a reference to the one GstCudaContext that wraps the primary context of the device. The primary context
// is retained when the first caller asks, and released when the last reference to the GstCudaContext goes:
// frames, pools and tensors may hold one longer than the elements do. This plugin never resets it. If nobody
// used it before, threads that wait for it sleep (CU_CTX_SCHED_BLOCKING_SYNC). Thread-safe. Needs
// GStreamer's CUDA library to be loaded and the driver to be initialised.
Status share_process_context(int device_id, GstCudaContext **context);

// Whether share_process_context() gave it. It may not be null.
bool is_process_context(GstCudaContext *context);

}  // namespace cudavision
