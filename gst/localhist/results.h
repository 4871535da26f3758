// SPDX-License-Identifier: LGPL-2.1-or-later
// The tensors of cudalocalhist: their memory, known before it is taken, their ids and dimensions.
#pragma once

#include <memory>

#include "gst/base/operation.h"
#include "gst/base/tensor_pool.h"
#include "cuda/localhist/localhist.h"

namespace cudavision {

// Refuses what needs more than max_memory bytes, or where that is 0 more than the backend has, or tensors
// larger than a buffer pool's; says how many bytes. Allocates nothing. display: the map that is painted
// counts too.
Status check_memory(const Execution &execution, Size region, const LocalHistogramParams &params, bool display,
                    guint64 max_memory);

// The same parameters with the reduction that display paints: histograms are shown by their dominant bins.
LocalHistogramParams painted_params(LocalHistogramParams params);

// Buffers for the results of one set of parameters.
class LocalHistResults {
 public:
  Status make(std::shared_ptr<const DeviceContext> context, const LocalHistogramShape &shape,
              const LocalHistogramParams &params);
  // Attaches new tensors to the job's frame; output is where their numbers go.
  Status attach(const Job &job, LocalHistogramOutput *output);

 private:
  LocalHistogramShape shape_;
  LocalHistogramParams params_;
  std::unique_ptr<TensorPool> histograms_, argmax_, value_;
};

}  // namespace cudavision
