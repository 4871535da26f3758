// SPDX-License-Identifier: LGPL-2.1-or-later
// What both backends of inpainting share, and their makers.
#pragma once

#include "cuda/inpaint/inpaint_rules.h"

namespace cudavision::inpaint {

Status check_run(const InpaintFrame &frame, const InpaintParams &params, Size made_for);

// Made once, in double precision.
const LabTables &lab_tables();

Status make_inpaint_cpu(const Execution &execution, Size size, std::unique_ptr<Inpaint> *inpaint);
Status make_inpaint_cuda(const Execution &execution, Size size, std::unique_ptr<Inpaint> *inpaint);

}  // namespace cudavision::inpaint
