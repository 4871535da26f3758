// SPDX-License-Identifier: LGPL-2.1-or-later
// A tensor as a JSON object.
#pragma once

#include <gst/cudavision/cudavision.h>

#include <string>

namespace cudavision {

// The part of a tensor's numbers that is written.
enum class TensorData { none, summary, full };

// Appends {"id":…,"dims":[…],"type":…}. TensorData::summary adds "min", "max", "sum" and "mean";
// TensorData::full adds "data", flat and in row-major order. Sums of integers are exact; sums of f32 are
// accumulated in double, in order. A number that is not finite becomes null, and so does every member of a
// summary that is not finite because of it (with a NaN, all of them).
//
// Maps the tensor for reading, which downloads a tensor on a GPU; TensorData::none does not. Returns false,
// without appending, if the tensor cannot be mapped.
bool append_tensor(std::string *text, const GstCudaVisionTensorMeta *meta, TensorData data);

}  // namespace cudavision
