// SPDX-License-Identifier: LGPL-2.1-or-later
// Copies and memsets: checked when they are queued, executed when their stream runs.
#include <cstdint>
#include <cstring>

#include "tests/simt/engine/device.h"
#include "tests/simt/engine/memory.h"
#include "tests/simt/engine/stream.h"

namespace simt {
namespace {

// One side of a copy or memset: rows of bytes. A range without pitch is one row.
struct Rows {
  const void *data;
  std::size_t pitch_bytes, width_bytes, height;

  const char *row(std::size_t y) const { return static_cast<const char *>(data) + y * pitch_bytes; }
  std::size_t extent() const { return (height - 1) * pitch_bytes + width_bytes; }
};

cudaError_t check_device_rows(const char *call, const Rows &rows) {
  const Allocation a = find_allocation(rows.data);
  if (a.begin == nullptr)
    return complain(cudaErrorInvalidValue, "%s: %p is not device memory", call, rows.data);
  const auto offset = static_cast<std::size_t>(static_cast<const char *>(rows.data) - a.begin);
  if (rows.extent() > a.bytes - offset)
    return complain(cudaErrorInvalidValue, "%s: %zu bytes from offset %zu reach beyond the allocation of %zu",
                    call, rows.extent(), offset, a.bytes);
  // CUDA would accept an access to row padding, but no picture has pixels there. A range without pitch may cover it.
  if (!is_drivers_own() && a.height != 0 && rows.height > 1 && rows.pitch_bytes == a.pitch_bytes &&
      offset % a.pitch_bytes + rows.width_bytes > a.width_bytes)
    return complain(cudaErrorInvalidValue, "%s: %zu bytes per row reach into the padding of rows of %zu",
                    call, rows.width_bytes, a.width_bytes);
  return cudaSuccess;
}

cudaError_t check_rows(const char *call, const Rows &rows, bool on_device) {
  if (on_device) return check_device_rows(call, rows);
  if (find_allocation(rows.data).begin == nullptr) return cudaSuccess;
  return complain(cudaErrorInvalidValue, "%s: %p is device memory, not the host's", call, rows.data);
}

cudaError_t check_owner_of(const Rows &rows) {
  const Allocation a = find_allocation(rows.data);
  return a.begin == nullptr ? cudaSuccess : check_owner(Object::device_memory, a.owner);
}

cudaMemcpyKind direction(const void *dst, const void *src) {
  const bool from_device = find_allocation(src).begin != nullptr;
  if (find_allocation(dst).begin != nullptr)
    return from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
  return from_device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost;
}

void count_copy(cudaMemcpyKind kind, std::size_t bytes) {
  Counters &c = device().counters;
  switch (kind) {
    case cudaMemcpyHostToDevice:
      ++c.host_to_device_copies;
      c.host_to_device_bytes += bytes;
      break;
    case cudaMemcpyDeviceToHost:
      ++c.device_to_host_copies;
      c.device_to_host_bytes += bytes;
      break;
    case cudaMemcpyDeviceToDevice:
      ++c.device_to_device_copies;
      c.device_to_device_bytes += bytes;
      break;
    default:
      break;
  }
}

cudaError_t copy(const char *call, const Rows &dst, const Rows &src, cudaMemcpyKind kind,
                 cudaStream_t stream) {
  if (const cudaError_t error = check_stream(stream); error != cudaSuccess) return error;
  if (dst.width_bytes > dst.pitch_bytes || src.width_bytes > src.pitch_bytes)
    return cudaErrorInvalidPitchValue;
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (dst.width_bytes == 0 || dst.height == 0) return cudaSuccess;
  if (kind == cudaMemcpyDefault) kind = direction(dst.data, src.data);
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (const cudaError_t error = check_rows(call, dst, to_device); error != cudaSuccess) return error;
  if (const cudaError_t error = check_rows(call, src, from_device); error != cudaSuccess) return error;
  if (const cudaError_t error = check_owner_of(dst); error != cudaSuccess) return error;
  if (const cudaError_t error = check_owner_of(src); error != cudaSuccess) return error;
  count_copy(kind, dst.width_bytes * dst.height);
  enqueue(stream, [dst, src] {
    const PaddingAccess dst_access(dst.data), src_access(src.data);
    for (std::size_t y = 0; y < dst.height; ++y)
      std::memcpy(const_cast<char *>(dst.row(y)), src.row(y), dst.width_bytes);
  });
  return cudaSuccess;
}

// Sets each element to the lowest element_bytes of value, little-endian as on the device.
cudaError_t fill(const char *call, const Rows &dst, std::uint32_t value, std::size_t element_bytes,
                 cudaStream_t stream) {
  if (const cudaError_t error = check_stream(stream); error != cudaSuccess) return error;
  if (dst.width_bytes > dst.pitch_bytes) return cudaErrorInvalidPitchValue;
  if (dst.width_bytes == 0 || dst.height == 0) return cudaSuccess;
  if (const cudaError_t error = check_device_rows(call, dst); error != cudaSuccess) return error;
  if (const cudaError_t error = check_owner_of(dst); error != cudaSuccess) return error;
  ++device().counters.memsets;
  device().counters.memset_bytes += dst.width_bytes * dst.height;
  enqueue(stream, [dst, value, element_bytes] {
    const PaddingAccess access(dst.data);
    for (std::size_t y = 0; y < dst.height; ++y)
      if (char *row = const_cast<char *>(dst.row(y)); element_bytes == 1)
        std::memset(row, static_cast<int>(value), dst.width_bytes);
      else
        for (std::size_t x = 0; x < dst.width_bytes; x += element_bytes)
          std::memcpy(row + x, &value, element_bytes);
  });
  return cudaSuccess;
}

}  // namespace

cudaError_t copy_rows_now(void *dst, std::size_t dst_pitch_bytes, const void *src,
                          std::size_t src_pitch_bytes, std::size_t width_bytes, std::size_t height,
                          cudaMemcpyKind kind) {
  return api({Call::copy, __func__}, [=] {
    join_streams();
    const cudaError_t error = copy(device().running, {dst, dst_pitch_bytes, width_bytes, height},
                                   {src, src_pitch_bytes, width_bytes, height}, kind, nullptr);
    ++device().counters.synchronisations;
    drain_null_stream();
    return error;
  });
}

cudaError_t fill_rows(void *dst, std::size_t pitch_bytes, std::uint32_t value, std::size_t element_bytes,
                      std::size_t width, std::size_t height, cudaStream_t stream) {
  return api({Call::copy, __func__}, [=] {
    return fill(device().running, {dst, pitch_bytes, width * element_bytes, height}, value, element_bytes,
                stream);
  });
}

}  // namespace simt

using simt::api;
using simt::Call;

cudaError_t cudaMemsetAsync(void *dst, int value, std::size_t bytes, cudaStream_t stream) {
  return api({Call::copy, __func__}, [=] {
    return simt::fill("cudaMemsetAsync", {dst, bytes, bytes, 1}, static_cast<std::uint32_t>(value), 1,
                      stream);
  });
}

cudaError_t cudaMemset2DAsync(void *dst, std::size_t pitch_bytes, int value, std::size_t width_bytes,
                              std::size_t height, cudaStream_t stream) {
  return api({Call::copy, __func__}, [=] {
    return simt::fill("cudaMemset2DAsync", {dst, pitch_bytes, width_bytes, height},
                      static_cast<std::uint32_t>(value), 1, stream);
  });
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return api({Call::copy, __func__}, [=] {
    return simt::copy("cudaMemcpyAsync", {dst, bytes, bytes, 1}, {src, bytes, bytes, 1}, kind, stream);
  });
}

cudaError_t cudaMemcpy2DAsync(void *dst, std::size_t dst_pitch_bytes, const void *src,
                              std::size_t src_pitch_bytes, std::size_t width_bytes, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return api({Call::copy, __func__}, [=] {
    return simt::copy("cudaMemcpy2DAsync", {dst, dst_pitch_bytes, width_bytes, height},
                      {src, src_pitch_bytes, width_bytes, height}, kind, stream);
  });
}
