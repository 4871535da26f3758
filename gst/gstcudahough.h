// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudahough.
#pragma once

#include "base/filter.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_VISION_HOUGH (gst_cuda_vision_hough_get_type())
GType gst_cuda_vision_hough_get_type(void);
GST_ELEMENT_REGISTER_DECLARE(cudahough)

G_END_DECLS
