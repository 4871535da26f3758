// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudahog.
#pragma once

#include "gst/base/filter.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_VISION_HOG (gst_cuda_vision_hog_get_type())
GType gst_cuda_vision_hog_get_type(void);
GST_ELEMENT_REGISTER_DECLARE(cudahog)

G_END_DECLS
