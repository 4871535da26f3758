// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/common/owned_memory.h"

#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "cuda/common/backends.h"
#include "cuda/common/memory_budget.h"
#if CUDAVISION_HAVE_CUDA
#include "cuda/common/buffer_cuda.h"
#endif

namespace cudavision {
namespace {

struct Allocated {
  std::shared_ptr<void> memory;
  ImageView<std::uint8_t> view;
};

Status allocate_bytes_on_host(const Execution &, std::size_t size, std::shared_ptr<void> *memory) {
  auto charge = std::make_shared<MemoryCharge>();
  CUDAVISION_TRY(charge->take(size));
  void *data = ::operator new(size, std::nothrow);
  if (data == nullptr) return out_of_memory(std::to_string(size) + " bytes of memory");
  *memory = std::shared_ptr<void>(data, [charge = std::move(charge)](void *p) { ::operator delete(p); });
  return {};
}

Status allocate_image_on_host(const Execution &execution, Size size, Allocated *allocation) {
  CUDAVISION_TRY(allocate_bytes_on_host(
      execution, static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height),
      &allocation->memory));
  allocation->view = {static_cast<std::uint8_t *>(allocation->memory.get()), size.width, size.width,
                      size.height};
  return {};
}

Status copy_on_host(const Execution &, void *dst, const void *src, std::size_t size) {
  std::memcpy(dst, src, size);
  return {};
}

#if CUDAVISION_HAVE_CUDA
Status allocate_bytes_on_device(const Execution &, std::size_t size, std::shared_ptr<void> *memory) {
  auto buffer = std::make_shared<DeviceBuffer<unsigned char>>();
  CUDAVISION_TRY(buffer->allocate(size));
  void *data = buffer->data();
  *memory = std::shared_ptr<void>(std::move(buffer), data);
  return {};
}

Status allocate_image_on_device(const Execution &, Size size, Allocated *allocation) {
  auto image = std::make_shared<DeviceImage<std::uint8_t>>();
  CUDAVISION_TRY(image->allocate(size));
  const ImageView<std::uint8_t> view = image->view();
  *allocation = {std::move(image), view};
  return {};
}

Status allocate_bytes_pinned(const Execution &, std::size_t size, std::shared_ptr<void> *memory) {
  auto buffer = std::make_shared<PinnedBuffer>();
  CUDAVISION_TRY(buffer->allocate(size));
  void *data = buffer->data();
  *memory = std::shared_ptr<void>(std::move(buffer), data);
  return {};
}

template <cudaMemcpyKind kKind>
Status copy_with_device(const Execution &execution, void *dst, const void *src, std::size_t size) {
  return CUDAVISION_CHECK_CUDA(cudaMemcpyAsync(dst, src, size, kKind, execution.stream));
}
#endif

}  // namespace

Status OwnedBytes::allocate(const Execution &execution, std::size_t size) {
  *this = OwnedBytes();
  CUDAVISION_TRY(run_on_backend(execution, allocate_bytes_on_host,
                                CUDAVISION_IF_CUDA(allocate_bytes_on_device), size, &memory_));
  size_ = size;
  return {};
}

Status HostCopy::allocate(const Execution &execution, const OwnedBytes &bytes) {
  memory_ = execution.backend == Backend::cpu ? bytes.memory_ : nullptr;
  if (execution.backend == Backend::cpu) return {};
  return run_on_backend(execution, allocate_bytes_on_host, CUDAVISION_IF_CUDA(allocate_bytes_pinned),
                        bytes.size(), &memory_);
}

Status HostCopy::fetch(const Execution &execution, const OwnedBytes &bytes) {
  if (execution.backend == Backend::cpu) return {};
  return copy_to_host(execution, memory_.get(), bytes.data(), bytes.size());
}

Status HostCopy::send(const Execution &execution, const OwnedBytes &bytes, std::size_t size) const {
  if (execution.backend == Backend::cpu) return {};
  return copy_from_host(execution, bytes.data(), memory_.get(), size);
}

Status OwnedImage::allocate(const Execution &execution, Size size) {
  *this = OwnedImage();
  Allocated allocation;
  CUDAVISION_TRY(run_on_backend(execution, allocate_image_on_host,
                                CUDAVISION_IF_CUDA(allocate_image_on_device), size, &allocation));
  memory_ = std::move(allocation.memory);
  view_ = allocation.view;
  return {};
}

Status copy_to_host(const Execution &execution, void *host, const void *memory, std::size_t size) {
  return run_on_backend(execution, copy_on_host, CUDAVISION_IF_CUDA(copy_with_device<cudaMemcpyDeviceToHost>),
                        host, memory, size);
}

Status copy_from_host(const Execution &execution, void *memory, const void *host, std::size_t size) {
  return run_on_backend(execution, copy_on_host, CUDAVISION_IF_CUDA(copy_with_device<cudaMemcpyHostToDevice>),
                        memory, host, size);
}

Status copy_within(const Execution &execution, void *to, const void *from, std::size_t size) {
  return run_on_backend(execution, copy_on_host,
                        CUDAVISION_IF_CUDA(copy_with_device<cudaMemcpyDeviceToDevice>), to, from, size);
}

}  // namespace cudavision
