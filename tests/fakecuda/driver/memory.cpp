// SPDX-License-Identifier: LGPL-2.1-or-later
// The driver's calls for memory, copies and fills, made of the emulated runtime's. A call that names a stream
// or an allocation needs no current context.
#include <optional>

#include "tests/fakecuda/driver/driver.h"

namespace fakecuda {
namespace {

template <class T>
T *pointer_to(CUdeviceptr address) {
  return reinterpret_cast<T *>(static_cast<std::uintptr_t>(address));
}

// One side of a copy of rows.
struct End {
  char *data = nullptr;
  std::size_t pitch_bytes = 0;
};

// Returns nullopt for anything but host and device memory.
std::optional<End> end(CUmemorytype type, const void *host, CUdeviceptr device, std::size_t pitch_bytes,
                       std::size_t x_bytes, std::size_t y, std::size_t width_bytes) {
  const std::size_t pitch = pitch_bytes != 0 ? pitch_bytes : x_bytes + width_bytes;
  if (type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_DEVICE && type != CU_MEMORYTYPE_UNIFIED)
    return std::nullopt;
  char *data =
      type == CU_MEMORYTYPE_HOST ? static_cast<char *>(const_cast<void *>(host)) : pointer_to<char>(device);
  return End{data + y * pitch + x_bytes, pitch};
}

cudaMemcpyKind direction(CUmemorytype dst, CUmemorytype src) {
  if (dst == CU_MEMORYTYPE_UNIFIED || src == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
  const bool to_device = dst == CU_MEMORYTYPE_DEVICE, from_device = src == CU_MEMORYTYPE_DEVICE;
  if (to_device) return from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
  return from_device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost;
}

// Calls run(dst, dst pitch, src, src pitch, width, height, kind).
template <class Run>
CUresult copy_2d(const CUDA_MEMCPY2D *c, Run run) {
  if (c == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto dst =
      end(c->dstMemoryType, c->dstHost, c->dstDevice, c->dstPitch, c->dstXInBytes, c->dstY, c->WidthInBytes);
  const auto src =
      end(c->srcMemoryType, c->srcHost, c->srcDevice, c->srcPitch, c->srcXInBytes, c->srcY, c->WidthInBytes);
  if (!dst || !src) return CUDA_ERROR_NOT_SUPPORTED;  // an array
  return to_result(run(dst->data, dst->pitch_bytes, src->data, src->pitch_bytes, c->WidthInBytes, c->Height,
                       direction(c->dstMemoryType, c->srcMemoryType)));
}

CUresult copy_now(const char *name, void *dst, const void *src, std::size_t bytes, cudaMemcpyKind kind) {
  return api(name, Needs::context,
             [=] { return simt::copy_rows_now(dst, bytes, src, bytes, bytes, 1, kind); });
}

// The needs of a call with a stream: the null stream belongs to the current context, so there must be one.
Needs needs_of(CUstream stream) { return stream == nullptr ? Needs::context : Needs::no_destroyed_context; }

void join(CUstream stream) {
  if (stream == nullptr) simt::join_blocking_streams();
}

CUresult copy_async(const char *name, void *dst, const void *src, std::size_t bytes, cudaMemcpyKind kind,
                    CUstream stream) {
  return api(name, needs_of(stream), [=] {
    join(stream);
    return cudaMemcpyAsync(dst, src, bytes, kind, stream);
  });
}

struct Fill {
  CUdeviceptr dst;
  std::size_t pitch_bytes;
  std::uint32_t value;
  std::size_t element_bytes, width, height;
};

CUresult fill_async(const char *name, const Fill &f, CUstream stream) {
  return api(name, needs_of(stream), [=] {
    join(stream);
    return simt::fill_rows(pointer_to<void>(f.dst), f.pitch_bytes, f.value, f.element_bytes, f.width,
                           f.height, stream);
  });
}

CUresult fill_now(const char *name, const Fill &f) {
  const CUresult result = fill_async(name, f, nullptr);
  return result != CUDA_SUCCESS ? result : cuStreamSynchronize(nullptr);
}

}  // namespace
}  // namespace fakecuda

using fakecuda::api;
using fakecuda::Needs;
using fakecuda::pointer_to;

CUresult cuMemAlloc(CUdeviceptr *pointer, size_t bytes) {
  return api("cuMemAlloc", Needs::context, [=] {
    if (pointer == nullptr || bytes == 0) return cudaErrorInvalidValue;
    void *data = nullptr;
    const cudaError_t error = cudaMalloc(&data, bytes);
    *pointer = reinterpret_cast<CUdeviceptr>(data);
    return error;
  });
}

CUresult cuMemAllocPitch(CUdeviceptr *pointer, size_t *pitch_bytes, size_t width_bytes, size_t height,
                         unsigned element_bytes) {
  return api("cuMemAllocPitch", Needs::context, [=] {
    const bool is_element = element_bytes == 4 || element_bytes == 8 || element_bytes == 16;
    if (pointer == nullptr || pitch_bytes == nullptr || !is_element) return cudaErrorInvalidValue;
    void *data = nullptr;
    const cudaError_t error = cudaMallocPitch(&data, pitch_bytes, width_bytes, height);
    *pointer = reinterpret_cast<CUdeviceptr>(data);
    return error;
  });
}

CUresult cuMemAllocHost(void **pointer, size_t bytes) {
  return api("cuMemAllocHost", Needs::context, [=] { return cudaMallocHost(pointer, bytes); });
}

CUresult cuMemFree(CUdeviceptr pointer) {
  return api("cuMemFree", Needs::no_destroyed_context, [=] { return cudaFree(pointer_to<void>(pointer)); });
}

CUresult cuMemFreeHost(void *pointer) {
  return api("cuMemFreeHost", Needs::no_destroyed_context, [=] { return cudaFreeHost(pointer); });
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D *copy) {
  return api("cuMemcpy2D", Needs::context, [=] { return fakecuda::copy_2d(copy, simt::copy_rows_now); });
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream) {
  return api("cuMemcpy2DAsync", fakecuda::needs_of(stream), [=] {
    fakecuda::join(stream);
    return fakecuda::copy_2d(copy,
                             [stream](auto... arguments) { return cudaMemcpy2DAsync(arguments..., stream); });
  });
}

CUresult cuMemcpyDtoD(CUdeviceptr dst, CUdeviceptr src, size_t bytes) {
  return fakecuda::copy_now("cuMemcpyDtoD", pointer_to<void>(dst), pointer_to<void>(src), bytes,
                            cudaMemcpyDeviceToDevice);
}

CUresult cuMemcpyDtoH(void *dst, CUdeviceptr src, size_t bytes) {
  return fakecuda::copy_now("cuMemcpyDtoH", dst, pointer_to<void>(src), bytes, cudaMemcpyDeviceToHost);
}

CUresult cuMemcpyHtoD(CUdeviceptr dst, const void *src, size_t bytes) {
  return fakecuda::copy_now("cuMemcpyHtoD", pointer_to<void>(dst), src, bytes, cudaMemcpyHostToDevice);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream) {
  return fakecuda::copy_async("cuMemcpyDtoDAsync", pointer_to<void>(dst), pointer_to<void>(src), bytes,
                              cudaMemcpyDeviceToDevice, stream);
}

CUresult cuMemcpyDtoHAsync(void *dst, CUdeviceptr src, size_t bytes, CUstream stream) {
  return fakecuda::copy_async("cuMemcpyDtoHAsync", dst, pointer_to<void>(src), bytes, cudaMemcpyDeviceToHost,
                              stream);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream) {
  return fakecuda::copy_async("cuMemcpyHtoDAsync", pointer_to<void>(dst), src, bytes, cudaMemcpyHostToDevice,
                              stream);
}

CUresult cuMemsetD2D8(CUdeviceptr dst, size_t pitch_bytes, unsigned char value, size_t width, size_t height) {
  return fakecuda::fill_now("cuMemsetD2D8", {dst, pitch_bytes, value, 1, width, height});
}

CUresult cuMemsetD2D16(CUdeviceptr dst, size_t pitch_bytes, unsigned short value, size_t width,
                       size_t height) {
  return fakecuda::fill_now("cuMemsetD2D16", {dst, pitch_bytes, value, 2, width, height});
}

CUresult cuMemsetD2D32(CUdeviceptr dst, size_t pitch_bytes, unsigned value, size_t width, size_t height) {
  return fakecuda::fill_now("cuMemsetD2D32", {dst, pitch_bytes, value, 4, width, height});
}

CUresult cuMemsetD2D8Async(CUdeviceptr dst, size_t pitch_bytes, unsigned char value, size_t width,
                           size_t height, CUstream stream) {
  return fakecuda::fill_async("cuMemsetD2D8Async", {dst, pitch_bytes, value, 1, width, height}, stream);
}

CUresult cuMemsetD2D16Async(CUdeviceptr dst, size_t pitch_bytes, unsigned short value, size_t width,
                            size_t height, CUstream stream) {
  return fakecuda::fill_async("cuMemsetD2D16Async", {dst, pitch_bytes, value, 2, width, height}, stream);
}

CUresult cuMemsetD2D32Async(CUdeviceptr dst, size_t pitch_bytes, unsigned value, size_t width, size_t height,
                            CUstream stream) {
  return fakecuda::fill_async("cuMemsetD2D32Async", {dst, pitch_bytes, value, 4, width, height}, stream);
}
