// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/common/rectangle.h"

#include <algorithm>

#include "cuda/common/backends.h"
#if CUDAVISION_HAVE_CUDA
#include <cuda_runtime.h>

#include "cuda/common/check_cuda.h"
#endif

namespace cudavision {
namespace {

Status fill_on_host(const Execution &, ImageView<std::uint8_t> bytes, std::uint8_t value) {
  for (int y = 0; y < bytes.height; ++y) std::fill_n(bytes.row(y), bytes.width, value);
  return {};
}

Status copy_on_host(const Execution &, ImageView<const std::uint8_t> from, ImageView<std::uint8_t> to) {
  for (int y = 0; y < from.height; ++y) std::copy_n(from.row(y), from.width, to.row(y));
  return {};
}

#if CUDAVISION_HAVE_CUDA
Status fill_on_device(const Execution &execution, ImageView<std::uint8_t> bytes, std::uint8_t value) {
  return CUDAVISION_CHECK_CUDA(cudaMemset2DAsync(bytes.data, static_cast<std::size_t>(bytes.pitch_bytes),
                                                 value, static_cast<std::size_t>(bytes.width),
                                                 static_cast<std::size_t>(bytes.height), execution.stream));
}

Status copy_on_device(const Execution &execution, ImageView<const std::uint8_t> from,
                      ImageView<std::uint8_t> to) {
  return CUDAVISION_CHECK_CUDA(
      cudaMemcpy2DAsync(to.data, static_cast<std::size_t>(to.pitch_bytes), from.data,
                        static_cast<std::size_t>(from.pitch_bytes), static_cast<std::size_t>(from.width),
                        static_cast<std::size_t>(from.height), cudaMemcpyDeviceToDevice, execution.stream));
}
#endif

}  // namespace

Status fill_rectangle(const Execution &execution, ImageView<std::uint8_t> bytes, std::uint8_t value) {
  if (bytes.width <= 0 || bytes.height <= 0) return {};
  return run_on_backend(execution, fill_on_host, CUDAVISION_IF_CUDA(fill_on_device), bytes, value);
}

Status copy_rectangle(const Execution &execution, ImageView<const std::uint8_t> from,
                      ImageView<std::uint8_t> to) {
  return run_on_backend(execution, copy_on_host, CUDAVISION_IF_CUDA(copy_on_device), from, to);
}

}  // namespace cudavision
