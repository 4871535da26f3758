// SPDX-License-Identifier: LGPL-2.1-or-later
// The serialised form of a tensor.
#pragma once

#include <gst/cudavision/tensormeta.h>

#include "gst/meta/registration.h"

namespace cudavision {

#if CUDAVISION_HAVE_META_SERIALISATION
inline constexpr guint8 kTensorWireVersion = 1;

// Returns FALSE if the tensor cannot be read or exceeds 2 GiB.
gboolean write_tensor(const GstCudaVisionTensorMeta *tensor, GstByteArrayInterface *to);
// Sets all fields except the GstMeta; the caller owns tensor->data. Returns FALSE, without data, if the bytes are
// invalid, if there is no memory, or if the id is a new name beyond the limits of tensor_names.h.
gboolean read_tensor(const guint8 *bytes, gsize size, GstCudaVisionTensorMeta *tensor);
#endif

}  // namespace cudavision
