// SPDX-License-Identifier: LGPL-2.1-or-later
// The bytes of a serialised tensor.
#pragma once

#include <gst/cudavision/tensormeta.h>

#include "gst/meta/registration.h"

namespace cudavision {

#if CUDAVISION_HAVE_META_SERIALISATION
inline constexpr guint8 kTensorWireVersion = 1;

// FALSE when the data cannot be mapped, or more than 2 GiB were to be written.
gboolean write_tensor(const GstCudaVisionTensorMeta *tensor, GstByteArrayInterface *to);
// Sets all but the GstMeta; the caller owns the data. FALSE, and no data, when the bytes are no tensor.
gboolean read_tensor(const guint8 *bytes, gsize size, GstCudaVisionTensorMeta *tensor);
#endif

}  // namespace cudavision
