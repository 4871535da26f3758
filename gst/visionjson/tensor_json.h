// SPDX-License-Identifier: LGPL-2.1-or-later
// A tensor as a JSON object.
#pragma once

#include <gst/cudavision/cudavision.h>

#include <string>

namespace cudavision {

// What is written of a tensor's numbers.
enum class TensorData { none, summary, full };

// {"id":…,"dims":[…],"type":…} and, of TensorData::summary, "min", "max", "sum" and "mean", of full "data",
// flat and row-major. A sum of whole numbers is exact; one of f32 is added up in double, in order. Where a
// number is not finite it is null, and so is every member of a summary that it makes not finite (NaN: all of
// them).
//
// Maps the tensor for reading, which downloads one on a GPU, unless nothing of its numbers is asked for.
// False when it cannot be mapped: then nothing of it is written.
bool append_tensor(std::string *text, const GstCudaVisionTensorMeta *meta, TensorData data);

}  // namespace cudavision
