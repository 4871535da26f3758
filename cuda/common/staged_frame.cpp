// SPDX-License-Identifier: LGPL-2.1-or-later
// Brings frames of system memory to the backend and back.
#include "common/staged_frame.h"

#include "common/backends.h"
#if CUDAVISION_HAVE_CUDA
#include "common/check.h"
#endif

namespace cudavision {
namespace {

enum class Direction { to_device, to_host };

#if CUDAVISION_HAVE_CUDA
Status copy_planes_cuda(const Execution &execution, const Planes &device, const Planes &host, int plane_count,
                        Direction direction) {
  const bool up = direction == Direction::to_device;
  for (int i = 0; i < plane_count; ++i) {
    const Planes::Plane &dst = up ? device.plane[i] : host.plane[i],
                        &src = up ? host.plane[i] : device.plane[i];
    CUDAVISION_TRY_CUDA(
        cudaMemcpy2DAsync(dst.data, static_cast<std::size_t>(dst.pitch_bytes), src.data,
                          static_cast<std::size_t>(src.pitch_bytes), static_cast<std::size_t>(src.row_bytes),
                          static_cast<std::size_t>(src.rows),
                          up ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, execution.stream));
  }
  return {};
}
#endif

Status copy_nothing(const Execution &, const Planes &, const Planes &, int, Direction) { return {}; }

}  // namespace

Status StagedFrame::allocate(const Execution &execution, const Planes &shape) {
  planes_ = shape;
  if (execution.backend == Backend::cpu) return {};
  for (int i = 0; i < shape.count; ++i) {
    CUDAVISION_TRY(images_[i].allocate(execution, {shape.plane[i].row_bytes, shape.plane[i].rows}));
    planes_.plane[i].data = images_[i].view().data;
    planes_.plane[i].pitch_bytes = images_[i].view().pitch_bytes;
  }
  return {};
}

Status StagedFrame::upload(const Execution &execution, const Planes &host, int plane_count,
                           Planes *planes) const {
  *planes = execution.backend == Backend::cpu ? host : planes_;
  return run_on_backend(execution, copy_nothing, CUDAVISION_IF_CUDA(copy_planes_cuda), planes_, host,
                        plane_count, Direction::to_device);
}

Status StagedFrame::download(const Execution &execution, const Planes &host) const {
  return run_on_backend(execution, copy_nothing, CUDAVISION_IF_CUDA(copy_planes_cuda), planes_, host,
                        host.count, Direction::to_host);
}

}  // namespace cudavision
