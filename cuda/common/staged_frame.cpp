// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/common/staged_frame.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cuda/common/backends.h"
#if CUDAVISION_HAVE_CUDA
#include "cuda/common/buffer_cuda.h"
#include "cuda/common/check_cuda.h"
#endif

namespace cudavision {
namespace {

class HostFrame : public StagedFrame {
 public:
  Status upload(const Planes &host, int, Planes *planes) override {
    *planes = host;
    return {};
  }
  Status download(const Planes &) override { return {}; }
};

Status make_host_frame(const Execution &, const Planes &, std::unique_ptr<StagedFrame> *staged) {
  *staged = std::make_unique<HostFrame>();
  return {};
}

#if CUDAVISION_HAVE_CUDA
// The size of a strip: copying one takes much less time than a frame and much more than a call of
// cudaMemcpy2DAsync.
constexpr int kStripBytes = 1 << 18;

void copy_rows(unsigned char *dst, std::ptrdiff_t dst_pitch, const unsigned char *src,
               std::ptrdiff_t src_pitch, int row_bytes, int rows) {
  for (int y = 0; y < rows; ++y)
    std::memcpy(dst + y * dst_pitch, src + y * src_pitch, static_cast<std::size_t>(row_bytes));
}

Status is_pinned(const void *memory, bool *pinned) {
  cudaPointerAttributes attributes;
  CUDAVISION_TRY_CUDA(cudaPointerGetAttributes(&attributes, memory));
  *pinned = attributes.type == cudaMemoryTypeHost;
  return {};
}

// One plane: its image on the device, and a pinned staging buffer with tightly packed rows.
class StagedPlane {
 public:
  Status allocate(const Planes::Plane &shape) {
    row_bytes_ = shape.row_bytes;
    rows_ = shape.rows;
    return device_.allocate({row_bytes_, rows_});
  }

  Planes::Plane on_device() const {
    return {device_.view().data, device_.view().pitch_bytes, row_bytes_, rows_};
  }

  // Pinned memory is copied directly. Pageable memory is copied in strips: the device fetches one strip while
  // the CPU copies the next one to the staging buffer.
  Status upload(const Planes::Plane &host, cudaStream_t stream) {
    bool pinned = false;
    CUDAVISION_TRY(is_pinned(host.data, &pinned));
    if (pinned && host.pitch_bytes > 0) return copy_to_device(host.data, host.pitch_bytes, 0, rows_, stream);
    CUDAVISION_TRY(allocate_staging());
    const int strip_rows = std::max(1, kStripBytes / row_bytes_);
    for (int y = 0; y < rows_; y += strip_rows) {
      const int rows = std::min(strip_rows, rows_ - y);
      copy_rows(staging_row(y), row_bytes_, host.data + y * host.pitch_bytes, host.pitch_bytes, row_bytes_,
                rows);
      CUDAVISION_TRY(copy_to_device(staging_row(y), row_bytes_, y, rows, stream));
    }
    return {};
  }

  // cudaMemcpy2DAsync() does not accept a negative pitch, so each row is then copied on its own.
  Status download(const Planes::Plane &host, cudaStream_t stream) const {
    if (host.pitch_bytes > 0) return copy_to_host(host.data, host.pitch_bytes, 0, rows_, stream);
    for (int y = 0; y < rows_; ++y)
      CUDAVISION_TRY(copy_to_host(host.data + y * host.pitch_bytes, row_bytes_, y, 1, stream));
    return {};
  }

 private:
  unsigned char *staging_row(int y) const { return staging_.data() + std::ptrdiff_t{y} * row_bytes_; }

  Status allocate_staging() {
    if (staging_.data() != nullptr) return {};
    return staging_.allocate(static_cast<std::size_t>(row_bytes_) * static_cast<std::size_t>(rows_));
  }

  Status copy_to_device(const unsigned char *src, std::ptrdiff_t pitch, int y, int rows,
                        cudaStream_t stream) const {
    return CUDAVISION_CHECK_CUDA(
        cudaMemcpy2DAsync(device_.view().row(y), static_cast<std::size_t>(device_.view().pitch_bytes), src,
                          static_cast<std::size_t>(pitch), static_cast<std::size_t>(row_bytes_),
                          static_cast<std::size_t>(rows), cudaMemcpyHostToDevice, stream));
  }

  Status copy_to_host(unsigned char *dst, std::ptrdiff_t pitch, int y, int rows, cudaStream_t stream) const {
    return CUDAVISION_CHECK_CUDA(cudaMemcpy2DAsync(
        dst, static_cast<std::size_t>(pitch), device_.view().row(y),
        static_cast<std::size_t>(device_.view().pitch_bytes), static_cast<std::size_t>(row_bytes_),
        static_cast<std::size_t>(rows), cudaMemcpyDeviceToHost, stream));
  }

  int row_bytes_ = 0, rows_ = 0;
  DeviceImage<std::uint8_t> device_;
  PinnedBuffer staging_;
};

class DeviceFrame : public StagedFrame {
 public:
  explicit DeviceFrame(cudaStream_t stream) : stream_(stream) {}

  Status allocate(const Planes &shape) {
    planes_ = shape;
    for (int i = 0; i < shape.count; ++i) {
      CUDAVISION_TRY(plane_[i].allocate(shape.plane[i]));
      planes_.plane[i] = plane_[i].on_device();
    }
    return {};
  }

  Status upload(const Planes &host, int plane_count, Planes *planes) override {
    for (int i = 0; i < plane_count; ++i) CUDAVISION_TRY(plane_[i].upload(host.plane[i], stream_));
    *planes = planes_;
    return {};
  }

  Status download(const Planes &host) override {
    for (int i = 0; i < host.count; ++i) CUDAVISION_TRY(plane_[i].download(host.plane[i], stream_));
    return {};
  }

 private:
  cudaStream_t stream_;
  Planes planes_;  // on the device
  StagedPlane plane_[Planes::kMost];
};

Status make_device_frame(const Execution &execution, const Planes &shape,
                         std::unique_ptr<StagedFrame> *staged) {
  auto made = std::make_unique<DeviceFrame>(execution.stream);
  CUDAVISION_TRY(made->allocate(shape));
  *staged = std::move(made);
  return {};
}
#endif

}  // namespace

Status make_staged_frame(const Execution &execution, const Planes &shape,
                         std::unique_ptr<StagedFrame> *staged) {
  return run_on_backend(execution, make_host_frame, CUDAVISION_IF_CUDA(make_device_frame), shape, staged);
}

}  // namespace cudavision
