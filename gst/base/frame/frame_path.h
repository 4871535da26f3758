// SPDX-License-Identifier: LGPL-2.1-or-later
// Where a frame was stored and what was copied to process it, for the log.
#pragma once

#include <string>

#include "cuda/common/execution.h"

namespace cudavision {

struct FramePath {
  Backend backend = Backend::cpu;
  bool in_cuda_memory = false;
  bool in_our_context = false;  // the CUDA memory belongs to the element's context
  bool luma_alone = false;      // no other component was needed
  bool repacked = false;        // processed as an 8-bit copy (repacked_format.h)
  bool drawn_on = false;

  bool operator==(const FramePath &) const = default;
};

// A sentence such as "frames lie in system memory; their luma is copied to the GPU".
std::string describe(const FramePath &path);

}  // namespace cudavision
