// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the tensors of others where the backend works.
#include "gst/base/tensor_data.h"

#include <cstdint>
#include <cstring>
#include <string>

#include "gst/base/tensor_pool.h"

namespace cudavision {
namespace {

bool is_aligned(const void *data, GstCudaVisionElementType type) {
  return reinterpret_cast<std::uintptr_t>(data) % gst_cuda_vision_element_type_size(type) == 0;
}

}  // namespace

Status TensorData::read(const Execution &execution, const DeviceContext *context,
                        const GstCudaVisionTensorMeta &tensor, const void **data) {
  if (context != nullptr && tensor_lies_in(tensor.data, *context)) {
    CUDAVISION_TRY(map(tensor, kMapCuda));
    *data = map_.data;
    if (is_aligned(map_.data, tensor.element_type)) return {};
  }
  CUDAVISION_TRY(map(tensor, 0));
  *data = map_.data;
  if (context == nullptr && is_aligned(map_.data, tensor.element_type)) return {};
  return copy(execution, gst_cuda_vision_tensor_meta_get_size(&tensor), data);
}

Status TensorData::map(const GstCudaVisionTensorMeta &tensor, guint flags) {
  release();
  const std::string name = std::string("the tensor ") + g_quark_to_string(tensor.id);
  if (tensor.data == nullptr ||
      !gst_buffer_map(tensor.data, &map_, static_cast<GstMapFlags>(guint{GST_MAP_READ} | flags)))
    return {Status::Code::device_failed, name + " could not be mapped"};
  buffer_.reset(gst_buffer_ref(tensor.data));
  const std::size_t bytes = gst_cuda_vision_tensor_meta_get_size(&tensor);
  if (map_.size >= bytes) return {};
  return invalid_argument(name + " has " + std::to_string(map_.size) + " bytes instead of " +
                          std::to_string(bytes));
}

Status TensorData::copy(const Execution &execution, std::size_t bytes, const void **data) {
  if (memory_.size() < bytes) {
    CUDAVISION_TRY(memory_.allocate(execution, bytes));
    CUDAVISION_TRY(host_.allocate(execution, memory_));
  }
  std::memcpy(host_.written(), map_.data, bytes);
  *data = memory_.data();
  return host_.send(execution, memory_, bytes);
}

void TensorData::release() {
  if (buffer_) gst_buffer_unmap(buffer_.get(), &map_);
  buffer_.reset();
}

}  // namespace cudavision
