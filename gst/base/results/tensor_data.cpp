// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/results/tensor_data.h"

#include <cstdint>
#include <cstring>

#include "gst/meta/reading.h"

namespace cudavision {
namespace {

bool is_aligned(const void *data, GstCudaVisionElementType type) {
  return reinterpret_cast<std::uintptr_t>(data) % gst_cuda_vision_element_type_size(type) == 0;
}

}  // namespace

Status TensorData::read(const Execution &execution, const DeviceContext *context,
                        const GstCudaVisionTensorMeta &tensor, const void **data) {
  *data = nullptr;
  const TensorReading reading = reading_of(tensor);
  if (reading.fault != nullptr) return {};
  if (context != nullptr && tensor_lies_in(tensor.data, *context)) {
    *data = map(tensor, reading.size, kMapCuda);
    if (*data == nullptr || is_aligned(*data, tensor.element_type)) return {};
  }
  *data = map(tensor, reading.size, 0);
  if (*data == nullptr || (context == nullptr && is_aligned(*data, tensor.element_type))) return {};
  return copy(execution, reading.size, data);
}

const void *TensorData::map(const GstCudaVisionTensorMeta &tensor, std::size_t bytes, guint flags) {
  release();
  if (!gst_buffer_map(tensor.data, &map_, static_cast<GstMapFlags>(guint{GST_MAP_READ} | flags)))
    return nullptr;
  buffer_.reset(gst_buffer_ref(tensor.data));
  return map_.size >= bytes ? map_.data : nullptr;
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
