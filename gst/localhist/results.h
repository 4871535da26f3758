// SPDX-License-Identifier: LGPL-2.1-or-later
// The tensors of cudalocalhist: their sizes, ids and dimensions.
#pragma once

#include <memory>

#include "cuda/localhist/localhist.h"
#include "gst/base/element/operation.h"
#include "gst/base/results/tensor_pool.h"

namespace cudavision {

// The parameters of the map that display paints: reduction `none` becomes `argmax`, the dominant bins.
LocalHistParams painted_params(LocalHistParams params);

// The buffer pools of the tensors for one set of parameters.
class LocalHistResults {
 public:
  Status make(std::shared_ptr<DeviceContext> context, const LocalHistShape &shape,
              const LocalHistParams &params);
  // Attaches new tensors to the job's frame and sets the pointers of `output` to their memory.
  Status attach(const Job &job, LocalHistOutput *output);

 private:
  LocalHistShape shape_;
  LocalHistParams params_;
  std::unique_ptr<TensorPool> histograms_, argmax_, value_;
};

}  // namespace cudavision
