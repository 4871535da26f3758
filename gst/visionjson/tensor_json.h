// SPDX-License-Identifier: LGPL-2.1-or-later
// A tensor as a JSON object.
#pragma once

#include <gst/cudavision/cudavision.h>

#include <span>
#include <string>

#include "cuda/common/stop.h"
#include "gst/visionjson/vector_summary.h"

namespace cudavision {

// The part of a tensor's numbers that is written.
enum class TensorPart { none, summary, full };

// How the tensors of a stream are written.
struct TensorStyle {
  TensorPart part = TensorPart::summary;
  VectorSummarizer summarizer;  // reused for its memory
};

// Appends {"id":…,"dims":[…],"type":…} of the first of these tensors. TensorPart::summary adds "min",
// "max", "sum" and "mean"; TensorPart::full adds "data", flat and in row-major order. Sums of integers are exact; sums
// of f32 are accumulated in double, in order. A number that is not finite becomes null, and so does every member of a
// summary that is not finite because of it (with a NaN, all of them).
//
// The summary of a vector field, which is an f32 tensor of at least three dimensions whose innermost one has 2 to
// kMostComponents numbers, is that of VectorSummary instead: "components" and "moving". One of the next tensors may be
// u8, with the same id plus "-valid" and a number for each vector: a 0 there excludes the vector.
//
// Maps the tensor for reading, which downloads a tensor on a GPU; with TensorPart::none it does not. If the tensor
// cannot be read, appends {"id":…,"unreadable":…} and returns the reason; otherwise returns null. The text is
// incomplete if the flag asks to stop.
const char *append_tensor(std::string *text, std::span<const GstCudaVisionTensorMeta *const> tensors,
                          TensorStyle *style, const StopFlag &stop);

}  // namespace cudavision
