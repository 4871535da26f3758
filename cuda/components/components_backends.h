// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends of connected components, and the host code that they share.
#pragma once

#include <memory>

#include "cuda/common/backends.h"
#include "cuda/components/components.h"

namespace cudavision::components {

Status check_run(Size mask, Size made_for, const ComponentParams &params, const ComponentList &list);

decltype(make_components) make_components_cpu, make_components_cuda;

}  // namespace cudavision::components
