// SPDX-License-Identifier: LGPL-2.1-or-later
// Brings frames of system memory to the backend and back: copies for CUDA, nothing at all for the CPU.
#pragma once

#include "common/execution.h"
#include "common/frame.h"
#include "common/owned_memory.h"

namespace cudavision {

class StagedFrame {
 public:
  // Makes room for planes of this shape; their data is not read.
  Status allocate(const Execution &execution, const Planes &shape);

  // The first plane_count planes of host, where the backend can work on them. CUDA: enqueues copies; host
  // must stay mapped until the stream is synchronised. The planes that are not copied hold old data.
  Status upload(const Execution &execution, const Planes &host, int plane_count, Planes *planes) const;
  // Brings all planes back to host, as upload.
  Status download(const Execution &execution, const Planes &host) const;

 private:
  Planes planes_;
  OwnedImage images_[3];
};

}  // namespace cudavision
