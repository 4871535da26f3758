// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends of inpainting and of the removal mask: their factories and what both of them call on the host.
#pragma once

#include "cuda/common/backends.h"
#include "cuda/inpaint/inpaint_rules.h"
#include "cuda/inpaint/removal_mask_rules.h"

namespace cudavision::inpaint {

// Validates the arguments of Inpaint::run() of an instance for frames of the size made_for.
Status check_run(const InpaintFrame &frame, const InpaintParams &params, Size made_for);

// The tables of lab_of_rgb(), computed in double precision by the first call.
const LabTables &lab_tables();

decltype(make_inpaint) make_inpaint_cpu, make_inpaint_cuda;

// Validates the arguments of RemovalMask::run() of an instance for frames of the size made_for.
Status check_sources(const Frame &frame, const RemovalSources &sources, Size made_for);

// The pass that tests the regions [first_region, first_region + kRegionsPerPass).
RemovalPass removal_pass(const RemovalSources &sources, int first_region);

decltype(make_removal_mask) make_removal_mask_cpu, make_removal_mask_cuda;

}  // namespace cudavision::inpaint
