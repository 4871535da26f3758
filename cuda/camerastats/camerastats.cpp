// SPDX-License-Identifier: LGPL-2.1-or-later
// The camera's statistics: validation, and choice of a backend.
#include "cuda/camerastats/camerastats.h"

#include "cuda/camerastats/camerastats_backends.h"

namespace cudavision {

Status make_camerastats(const Execution &execution, Size size, std::unique_ptr<CameraStats> *stats) {
  return make_on_backend(execution, size, stats, CUDAVISION_BACKENDS(camerastats::make_camerastats));
}

}  // namespace cudavision
