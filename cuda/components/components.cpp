// SPDX-License-Identifier: LGPL-2.1-or-later
// Connected components: validation, and choice of a backend.
#include "cuda/components/components.h"

#include "cuda/common/backends.h"
#include "cuda/common/check_range.h"
#include "cuda/components/components_backends.h"

namespace cudavision {

Status validate(const ComponentParams &params) {
  return check_range("min-area", params.min_area, ComponentRanges::min_area);
}

Status components::check_run(Size mask, Size made_for, const ComponentParams &params,
                             const ComponentList &list) {
  CUDAVISION_TRY(validate(params));
  CUDAVISION_TRY(check_range("the capacity of the list", list.capacity, 1, kMaxComponents));
  return check_size("the mask", mask, made_for);
}

Status make_components(const Execution &execution, Size size, std::unique_ptr<Components> *components) {
  return make_on_backend(execution, size, components, CUDAVISION_BACKENDS(components::make_components));
}

}  // namespace cudavision
