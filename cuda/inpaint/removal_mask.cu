// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA backend of the removal mask.
#include <cuda_runtime.h>

#include <memory>

#include "cuda/common/buffer_cuda.h"
#include "cuda/common/grid_cuda.h"
#include "cuda/common/launch_cuda.h"
#include "cuda/inpaint/inpaint_backends.h"

namespace cudavision::inpaint {
namespace {

static __global__ void __launch_bounds__(kBlockX *kBlockY)
    select_kernel(RemovalPass pass, Frame frame, std::uint8_t *mask) {
  const int x = static_cast<int>(blockIdx.x * kBlockX + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * kBlockY + threadIdx.y);
  if (x >= frame.width || y >= frame.height) return;
  std::uint8_t &m = mask[y * frame.width + x];
  m = (pass.adds && m != 0) || is_selected(pass, frame, x, y) ? 255 : 0;
}

// Dilates along the rows (dx 1, dy 0) or along the columns (dx 0, dy 1).
static __global__ void __launch_bounds__(kBlockX *kBlockY)
    dilate_kernel(const std::uint8_t *from, Size size, int dx, int dy, int distance, Region limit,
                  std::uint8_t *to) {
  const int x = static_cast<int>(blockIdx.x * kBlockX + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * kBlockY + threadIdx.y);
  if (x >= size.width || y >= size.height) return;
  const int at = dx * x + dy * y, last = dx * (size.width - 1) + dy * (size.height - 1);
  const int first = at > distance ? -distance : -at, end = at + distance < last ? distance : last - at;
  const std::uint8_t *middle = from + y * size.width + x;
  std::uint8_t any = 0;
  for (int i = first; i <= end && any == 0 && is_allowed(limit, x, y); ++i)
    any = middle[(dx + dy * size.width) * i];
  to[y * size.width + x] = any;
}

class RemovalMaskCuda final : public RemovalMask {
 public:
  RemovalMaskCuda(const Execution &execution, Size size) : execution_(execution), size_(size) {}

  Status allocate() {
    const std::size_t pixels = static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(size_.height);
    CUDAVISION_TRY(mask_.allocate(pixels));
    return wide_.allocate(pixels);
  }

  Status run(const Frame &frame, const RemovalSources &sources, ImageView<const std::uint8_t> *mask,
             std::uint8_t *into) override {
    CUDAVISION_TRY(check_sources(frame, sources, size_));
    std::uint8_t *const made = into != nullptr ? into : mask_.data();
    const dim3 block = block_2d(), grid = grid_2d(size_.width, size_.height);
    for (int first = 0; first == 0 || first < sources.region_count; first += kRegionsPerPass) {
      if (execution_.stop != nullptr && execution_.stop->requested()) return Status(Status::Code::stopped);
      CUDAVISION_TRY(CUDAVISION_LAUNCH(select_kernel, grid, block, execution_.stream,
                                       removal_pass(sources, first), frame, made));
    }
    if (sources.dilation > 0) {
      CUDAVISION_TRY(CUDAVISION_LAUNCH(dilate_kernel, grid, block, execution_.stream, made, size_, 1, 0,
                                       sources.dilation, Region{}, wide_.data()));
      CUDAVISION_TRY(CUDAVISION_LAUNCH(dilate_kernel, grid, block, execution_.stream, wide_.data(), size_, 0,
                                       1, sources.dilation, sources.limit, made));
    }
    *mask = {made, size_.width, size_.width, size_.height};
    return {};
  }

 private:
  Execution execution_;
  Size size_;
  DeviceBuffer<std::uint8_t> mask_, wide_;
};

}  // namespace

Status make_removal_mask_cuda(const Execution &execution, Size size, std::unique_ptr<RemovalMask> *mask) {
  return make_as<RemovalMaskCuda>(mask, execution, size);
}

}  // namespace cudavision::inpaint
