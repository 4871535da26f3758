// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA context that all elements of the process share by default: the primary context of the device,
// which PyTorch, CuPy, OpenCV and every other user of the CUDA runtime also use.
#pragma once

#include <gst/gst.h>

#include "cuda/common/status.h"

typedef struct _GstCudaContext GstCudaContext;

namespace cudavision {

// Sets *context to a new reference to the GstCudaContext that elements share by default; makes it if there is none.
// It wraps the primary context of the device, and retains it until the last reference to the GstCudaContext is dropped;
// frames, pools and tensors may hold one longer than the elements do. This plugin never resets the primary context. If
// the primary context was not in use before, CPU threads will sleep while they wait for the GPU, rather than poll
// (CU_CTX_SCHED_BLOCKING_SYNC). Thread-safe. GStreamer's CUDA library must be loaded and the driver initialised.
Status share_process_context(int device_id, GstCudaContext **context);

// Returns true if share_process_context() made the context, which must not be null.
bool is_process_context(GstCudaContext *context);

// Returns true if the context wraps the primary context of its device, even if other code made the GstCudaContext.
bool is_primary_context(GstCudaContext *context);

}  // namespace cudavision
