// SPDX-License-Identifier: LGPL-2.1-or-later
// An 8-bit image in the memory of a backend.
#include "common/owned_image.h"

#include <new>
#include <string>

#include "common/backends.h"
#if CUDAVISION_HAVE_CUDA
#include "common/buffer.h"
#endif

namespace cudavision {
namespace {

struct Allocation {
  std::shared_ptr<void> memory;
  ImageView<std::uint8_t> view;
};

Status allocate_on_host(const Execution &, Size size, Allocation *allocation) {
  const std::size_t bytes = static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
  auto *data = new (std::nothrow) std::uint8_t[bytes];
  if (data == nullptr) return out_of_memory(std::to_string(bytes) + " bytes of memory for an image");
  *allocation = {std::shared_ptr<void>(data, [data](void *) { delete[] data; }),
                 {data, size.width, size.width, size.height}};
  return {};
}

#if CUDAVISION_HAVE_CUDA
Status allocate_on_device(const Execution &, Size size, Allocation *allocation) {
  auto image = std::make_shared<DeviceImage<std::uint8_t>>();
  CUDAVISION_TRY(image->allocate(size));
  const ImageView<std::uint8_t> view = image->view();
  *allocation = {std::move(image), view};
  return {};
}
#endif

}  // namespace

Status OwnedImage::allocate(const Execution &execution, Size size) {
  *this = OwnedImage();
  Allocation allocation;
  CUDAVISION_TRY(
      run_on_backend(execution, allocate_on_host, CUDAVISION_IF_CUDA(allocate_on_device), size, &allocation));
  memory_ = std::move(allocation.memory);
  view_ = allocation.view;
  return {};
}

}  // namespace cudavision
