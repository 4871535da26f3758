// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudacanny.
#pragma once

#include "gst/base/filter.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_VISION_CANNY (gst_cuda_vision_canny_get_type())
GType gst_cuda_vision_canny_get_type(void);
GST_ELEMENT_REGISTER_DECLARE(cudacanny)

G_END_DECLS
