// SPDX-License-Identifier: LGPL-2.1-or-later
// The tensors of cudalocalhist.
#include "gst/localhist/results.h"

#include <string>

#include "cuda/common/available_memory.h"
#include "gst/base/attach.h"

namespace cudavision {
namespace {

std::size_t windows_of(const LocalHistShape &shape) {
  return static_cast<std::size_t>(shape.rows) * static_cast<std::size_t>(shape.cols);
}

// The bytes of the largest tensor and of all tensors of a frame.
struct TensorBytes {
  std::size_t largest = 0, all = 0;
};
TensorBytes tensor_bytes(const LocalHistShape &shape, LocalHistReduction reduction) {
  if (reduction == LocalHistReduction::none) return {shape.histogram_bytes, shape.histogram_bytes};
  const std::size_t values = windows_of(shape) * sizeof(float);
  const bool argmax = reduction == LocalHistReduction::argmax;
  return {values, values + (argmax ? windows_of(shape) * sizeof(std::uint16_t) : 0)};
}

}  // namespace

LocalHistParams painted_params(LocalHistParams params) {
  if (params.reduction == LocalHistReduction::none) params.reduction = LocalHistReduction::argmax;
  return params;
}

Status check_memory(const Execution &execution, Size region, const LocalHistParams &params, bool display,
                    guint64 max_memory) {
  LocalHistShape shape;
  CUDAVISION_TRY(shape_of(region, params, &shape));
  const TensorBytes tensors = tensor_bytes(shape, params.reduction);
  std::size_t scratch = scratch_bytes(execution, region, params);
  if (display && params.reduction == LocalHistReduction::none)
    scratch += scratch_bytes(execution, region, painted_params(params)) +
               tensor_bytes(shape, LocalHistReduction::argmax).all;
  std::size_t most = max_memory;
  if (max_memory == 0) CUDAVISION_TRY(available_memory(execution, &most));
  const std::size_t needed = tensors.all + scratch;
  const std::string needs = "local histograms need " + std::to_string(needed) + " bytes for each frame";
  if (needed > most)
    return out_of_memory(needs + ", and " +
                         (max_memory != 0 ? "max-memory allows " + std::to_string(most)
                                          : "there are " + std::to_string(most)));
  if (tensors.largest > G_MAXUINT)
    return out_of_memory(needs + ", " + std::to_string(tensors.largest) +
                         " of them in one tensor: more than a buffer of a pool holds");
  return {};
}

Status LocalHistResults::make(std::shared_ptr<const DeviceContext> context, const LocalHistShape &shape,
                              const LocalHistParams &params) {
  *this = LocalHistResults();
  shape_ = shape;
  params_ = params;
  if (params.reduction == LocalHistReduction::none)
    return TensorPool::make(std::move(context), shape.histogram_bytes, &histograms_);
  if (params.reduction == LocalHistReduction::argmax)
    CUDAVISION_TRY(TensorPool::make(context, windows_of(shape) * sizeof(std::uint16_t), &argmax_));
  return TensorPool::make(std::move(context), windows_of(shape) * sizeof(float), &value_);
}

Status LocalHistResults::attach(const Job &job, LocalHistOutput *output) {
  const auto attach_from = [&](TensorPool &pool, const char *id, GstCudaVisionElementType type,
                               std::initializer_list<int> dims, auto **data) -> Status {
    TensorPool::Lease lease;
    CUDAVISION_TRY(pool.acquire(&lease));
    *data = static_cast<std::remove_pointer_t<decltype(data)>>(lease.data);
    return attach_tensor(job, id, type, dims, lease.buffer, params_.stride_x, params_.stride_y);
  };
  *output = {};
  const int rows = shape_.rows, cols = shape_.cols, bins = params_.bins;
  if (histograms_) {
    constexpr GstCudaVisionElementType kTypes[] = {
        GST_CUDA_VISION_ELEMENT_TYPE_U16, GST_CUDA_VISION_ELEMENT_TYPE_U32, GST_CUDA_VISION_ELEMENT_TYPE_F32};
    const auto type = kTypes[static_cast<int>(shape_.element)];
    if (params_.layout == LocalHistLayout::planar)
      return attach_from(*histograms_, "local-histogram", type, {bins, rows, cols}, &output->histograms);
    return attach_from(*histograms_, "local-histogram", type, {rows, cols, bins}, &output->histograms);
  }
  if (argmax_)
    CUDAVISION_TRY(attach_from(*argmax_, "local-histogram-argmax", GST_CUDA_VISION_ELEMENT_TYPE_U16,
                               {rows, cols}, &output->argmax));
  const char *id = params_.reduction == LocalHistReduction::argmax    ? "local-histogram-share"
                   : params_.reduction == LocalHistReduction::entropy ? "local-histogram-entropy"
                                                                      : "local-histogram-distance";
  return attach_from(*value_, id, GST_CUDA_VISION_ELEMENT_TYPE_F32, {rows, cols}, &output->value);
}

}  // namespace cudavision
