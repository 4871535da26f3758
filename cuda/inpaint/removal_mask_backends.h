// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends of the removal mask: their factories and what both of them call on the host.
#pragma once

#include "cuda/common/backends.h"
#include "cuda/inpaint/removal_mask_rules.h"

namespace cudavision::inpaint {

// Validates the arguments of RemovalMask::run() of an instance for frames of the size made_for.
Status check_sources(const Frame &frame, const RemovalSources &sources, Size made_for);

// The pass that tests the regions [first_region, first_region + kRegionsPerPass).
RemovalPass removal_pass(const RemovalSources &sources, int first_region);

Status make_removal_mask_cpu(const Execution &execution, Size size, std::unique_ptr<RemovalMask> *mask);
Status make_removal_mask_cuda(const Execution &execution, Size size, std::unique_ptr<RemovalMask> *mask);

}  // namespace cudavision::inpaint
