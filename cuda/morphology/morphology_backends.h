// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends of morphology, and the host code that they share.
#pragma once

#include <memory>

#include "cuda/common/backends.h"
#include "cuda/morphology/morphology.h"

namespace cudavision::morphology {

Status check_run(const MorphologyParams &params, Size mask, Size cleaned, Size made_for);

Status make_mask_cleaner_cpu(const Execution &execution, Size size, std::unique_ptr<MaskCleaner> *cleaner);
Status make_mask_cleaner_cuda(const Execution &execution, Size size, std::unique_ptr<MaskCleaner> *cleaner);

}  // namespace cudavision::morphology
