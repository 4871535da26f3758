// SPDX-License-Identifier: LGPL-2.1-or-later
// Brings frames of system memory to the backend and back: copies for CUDA, nothing at all for the CPU.
#pragma once

#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"

namespace cudavision {

// For frames of one shape.
class StagedFrame {
 public:
  virtual ~StagedFrame() = default;

  // The first plane_count planes of host, where the backend can work on them. CUDA: enqueues copies, from
  // pageable memory through page-locked memory of its own, which is made when the first such plane comes; host
  // must stay mapped until the stream is synchronised. The planes that are not copied hold old data.
  virtual Status upload(const Planes &host, int plane_count, Planes *planes) = 0;
  // Brings all planes back to host, as upload; into pageable memory the driver's own staging is the faster one.
  virtual Status download(const Planes &host) = 0;
};

// shape: the sizes of the planes; their data is not read.
Status make_staged_frame(const Execution &execution, const Planes &shape,
                         std::unique_ptr<StagedFrame> *staged);

}  // namespace cudavision
