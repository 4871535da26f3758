// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudainpaint.
#pragma once

#include "gst/base/filter.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_VISION_INPAINT (gst_cuda_vision_inpaint_get_type())
GType gst_cuda_vision_inpaint_get_type(void);
GST_ELEMENT_REGISTER_DECLARE(cudainpaint)

G_END_DECLS
