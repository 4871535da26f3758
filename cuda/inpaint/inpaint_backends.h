// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends of inpainting: their factories and what both of them call on the host.
#pragma once

#include "cuda/common/backends.h"
#include "cuda/inpaint/inpaint_rules.h"

namespace cudavision::inpaint {

// Validates the arguments of Inpaint::run() of an instance for frames of the size made_for.
Status check_run(const InpaintFrame &frame, const InpaintParams &params, Size made_for);

// The tables of lab_of_rgb(), computed in double precision by the first call.
const LabTables &lab_tables();

Status make_inpaint_cpu(const Execution &execution, Size size, std::unique_ptr<Inpaint> *inpaint);
Status make_inpaint_cuda(const Execution &execution, Size size, std::unique_ptr<Inpaint> *inpaint);

}  // namespace cudavision::inpaint
