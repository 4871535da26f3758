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
  release();
  const std::size_t bytes = gst_cuda_vision_tensor_meta_get_size(&tensor);
  const bool on_device = context != nullptr && lies_in(tensor.data, *context);
  const guint flags = guint{GST_MAP_READ} | (on_device ? kMapCuda : 0);
  if (tensor.data == nullptr || !gst_buffer_map(tensor.data, &map_, static_cast<GstMapFlags>(flags)))
    return {Status::Code::device_failed,
            std::string("the tensor ") + g_quark_to_string(tensor.id) + " could not be mapped"};
  buffer_.reset(gst_buffer_ref(tensor.data));
  if (map_.size < bytes)
    return invalid_argument(std::string("the tensor ") + g_quark_to_string(tensor.id) + " has " +
                            std::to_string(map_.size) + " bytes instead of " + std::to_string(bytes));
  *data = map_.data;
  if (on_device || (context == nullptr && is_aligned(map_.data, tensor.element_type))) return {};
  return copy(execution, bytes, data);
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
