// SPDX-License-Identifier: LGPL-2.1-or-later
// Validation for luma extraction, and the choice of a backend.
#include "cuda/luma/luma.h"

#include "cuda/common/backends.h"
#include "cuda/luma/luma_backends.h"

namespace cudavision {

Status extract_luma(const Execution &execution, const Frame &frame, ImageView<std::uint8_t> luma,
                    LumaRange range) {
  CUDAVISION_TRY(check_size("luma", luma.size(), frame.size()));
  return run_on_backend(execution, CUDAVISION_BACKENDS(luma::extract_luma), frame, luma, range);
}

}  // namespace cudavision
