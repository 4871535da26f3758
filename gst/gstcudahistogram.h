// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudahistogram.
#pragma once

#include "gst/base/filter.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_VISION_HISTOGRAM (gst_cuda_vision_histogram_get_type())
GType gst_cuda_vision_histogram_get_type(void);
GST_ELEMENT_REGISTER_DECLARE(cudahistogram)

G_END_DECLS
