// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudasigma2kp.
#pragma once

#include "gst/base/filter.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_VISION_SIGMA2_KP (gst_cuda_vision_sigma2_kp_get_type())
GType gst_cuda_vision_sigma2_kp_get_type(void);
GST_ELEMENT_REGISTER_DECLARE(cudasigma2kp)

G_END_DECLS
