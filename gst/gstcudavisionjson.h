// SPDX-License-Identifier: LGPL-2.1-or-later
// The element cudavisionjson.
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_CUDA_VISION_JSON (gst_cuda_vision_json_get_type())
GType gst_cuda_vision_json_get_type(void);
GST_ELEMENT_REGISTER_DECLARE(cudavisionjson)

G_END_DECLS
