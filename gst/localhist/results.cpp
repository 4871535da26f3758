// SPDX-License-Identifier: LGPL-2.1-or-later
// The tensors of cudalocalhist.
#include "gst/localhist/results.h"

#include "gst/base/results/attach.h"

namespace cudavision {
namespace {

std::size_t windows_of(const LocalHistShape &shape) {
  return static_cast<std::size_t>(shape.rows) * static_cast<std::size_t>(shape.cols);
}

}  // namespace

LocalHistParams painted_params(LocalHistParams params) {
  if (params.reduction == LocalHistReduction::none) params.reduction = LocalHistReduction::argmax;
  return params;
}

Status LocalHistResults::make(std::shared_ptr<DeviceContext> context, const LocalHistShape &shape,
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
    return attach_tensor(job, id, type, dims, std::move(lease.buffer), params_.stride_x, params_.stride_y);
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
