// SPDX-License-Identifier: LGPL-2.1-or-later
// Internal functions of local histograms: the factories of both backends, and the checks that both backends make.
#pragma once

#include "cuda/common/backends.h"
#include "cuda/localhist/localhist.h"

namespace cudavision::localhist {

// Checks the arguments of LocalHist::run.
Status check_run(Size luma, Size made_for, const LocalHistParams &params, const LocalHistOutput &output,
                 const float *model);
// Checks the arguments of LocalHist::take_model.
Status check_region(Size luma, Size made_for, Region region);

decltype(make_localhist) make_localhist_cpu, make_localhist_cuda;

}  // namespace cudavision::localhist
