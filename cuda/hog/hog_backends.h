// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends of HOG, and the host code that they share.
#pragma once

#include "cuda/common/backends.h"
#include "cuda/hog/hog_rules.h"

namespace cudavision::hog {

Rules rules_of(const HogParams &params);

// Fails if the picture does not have the size `made_for` and `channels` channels, or if a channel is subsampled or
// differs from channel 0 in pitch or step.
Status check_run(const HogPicture &picture, Size made_for, int channels);

Status make_hog_cpu(const Execution &execution, Size size, int channels, HogParams params,
                    std::unique_ptr<Hog> *hog);
Status make_hog_cuda(const Execution &execution, Size size, int channels, HogParams params,
                     std::unique_ptr<Hog> *hog);

}  // namespace cudavision::hog
