// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudaopticalflow.
#pragma once

#include "gst/base/filter.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_VISION_OPTICAL_FLOW (gst_cuda_vision_optical_flow_get_type())
GType gst_cuda_vision_optical_flow_get_type(void);
GST_ELEMENT_REGISTER_DECLARE(cudaopticalflow)

G_END_DECLS
