// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends of connected components, and the host code that they share.
#pragma once

#include <memory>

#include "cuda/common/backends.h"
#include "cuda/components/components.h"

namespace cudavision::components {

Status check_run(Size mask, Size made_for, const ComponentParams &params, const ComponentList &list);

Status make_components_cpu(const Execution &execution, Size size, std::unique_ptr<Components> *components);
Status make_components_cuda(const Execution &execution, Size size, std::unique_ptr<Components> *components);

}  // namespace cudavision::components
