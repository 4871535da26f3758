// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends of the detector.
#pragma once

#include "cuda/common/backends.h"
#include "cuda/hog/hog_detector.h"

namespace cudavision::hog {

Status make_hog_detector_cpu(const Execution &execution, Size size, int channels, const HogModel &model,
                             const HogSearch &search, std::unique_ptr<HogDetector> *detector);
Status make_hog_detector_cuda(const Execution &execution, Size size, int channels, const HogModel &model,
                              const HogSearch &search, std::unique_ptr<HogDetector> *detector);

}  // namespace cudavision::hog
