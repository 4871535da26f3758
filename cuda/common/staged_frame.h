// SPDX-License-Identifier: LGPL-2.1-or-later
// Transfers frames between system memory and the backend. CUDA: copies. CPU: does nothing.
#pragma once

#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"

namespace cudavision {

// Transfers frames of one shape.
class StagedFrame {
 public:
  virtual ~StagedFrame() = default;

  // Uploads the first plane_count planes of `host`, and sets *planes to the planes in the backend's memory. CUDA:
  // enqueues copies; `host` must stay mapped until the stream has been synchronised; planes that are not copied hold
  // old data. Pageable memory is copied through pinned memory, which is allocated when it is first needed.
  virtual Status upload(const Planes &host, int plane_count, Planes *planes) = 0;
  // Copies all planes back to `host`, which must stay mapped as for upload(). CUDA copies to pageable memory
  // directly: the driver's own staging is faster in this direction.
  virtual Status download(const Planes &host) = 0;
};

// shape: the sizes of the planes; the data pointers are not used.
Status make_staged_frame(const Execution &execution, const Planes &shape,
                         std::unique_ptr<StagedFrame> *staged);

}  // namespace cudavision
