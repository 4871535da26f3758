// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends of morphology, and the host code that they share.
#pragma once

#include <memory>

#include "cuda/common/backends.h"
#include "cuda/morphology/morphology.h"

namespace cudavision::morphology {

Status check_run(const MorphologyParams &params, Size mask, Size cleaned, Size made_for);

decltype(make_mask_cleaner) make_mask_cleaner_cpu, make_mask_cleaner_cuda;

}  // namespace cudavision::morphology
