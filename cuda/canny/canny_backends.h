// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends of Canny, and the checks that they share.
#pragma once

#include "cuda/canny/canny.h"
#include "cuda/canny/canny_rules.h"
#include "cuda/common/backends.h"

namespace cudavision::canny {

Thresholds integer_thresholds(const CannyParams &params);

// Returns an error if Canny::run() must refuse its arguments: luma is larger than made_for, edges has another size than
// luma, or a parameter is invalid.
Status check_run(Size luma, Size edges, Size made_for, const CannyParams &params);

decltype(make_canny) make_canny_cpu, make_canny_cuda;

}  // namespace cudavision::canny
