// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudalocalhist.
#pragma once

#include "gst/base/filter.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_VISION_LOCAL_HIST (gst_cuda_vision_local_hist_get_type())
GType gst_cuda_vision_local_hist_get_type(void);
GST_ELEMENT_REGISTER_DECLARE(cudalocalhist)

G_END_DECLS
