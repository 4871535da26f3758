// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA device of an element, on the runtime's own context.
#include "base/device_context.h"

#include "common/backends.h"

#if CUDAVISION_HAVE_CUDA
#include <cuda_runtime.h>

#include <string>

#include "common/check.h"
#include "common/probe.h"

namespace cudavision {

Status DeviceContext::open(int device_id, std::unique_ptr<DeviceContext> *context) {
  int count = 0;
  CUDAVISION_TRY_CUDA(cudaGetDeviceCount(&count));
  const int id = device_id < 0 ? 0 : device_id;
  if (id >= count)
    return {Status::Code::no_device,
            "there is no CUDA device " + std::to_string(id) + ": this machine has " + std::to_string(count)};
  std::unique_ptr<DeviceContext> opened(new DeviceContext(id));
  const Scope scope(opened.get());
  CUDAVISION_TRY(probe_kernels());
  // A blocking stream: copies that others make on the default stream wait for it.
  CUDAVISION_TRY_CUDA(cudaStreamCreateWithFlags(&opened->stream_, cudaStreamDefault));
  *context = std::move(opened);
  return {};
}

DeviceContext::~DeviceContext() {
  if (stream_ == nullptr) return;
  const Scope scope(this);
  (void)cudaStreamDestroy(stream_);
}

Status DeviceContext::synchronize() const { return CUDAVISION_CHECK_CUDA(cudaStreamSynchronize(stream_)); }

// Set even where the device is current already: a context of the driver's own on this thread, which an
// application may have made, gives way to the runtime's. GStreamer's streaming threads have none.
DeviceContext::Scope::Scope(const DeviceContext *context) {
  if (context == nullptr) return;
  changed_ = cudaGetDevice(&previous_) == cudaSuccess && previous_ != context->device_id_;
  (void)cudaSetDevice(context->device_id_);
}

DeviceContext::Scope::~Scope() {
  if (changed_) (void)cudaSetDevice(previous_);
}

}  // namespace cudavision

#else

namespace cudavision {

Status DeviceContext::open(int, std::unique_ptr<DeviceContext> *) { return no_cuda_in_this_build(); }
DeviceContext::~DeviceContext() = default;
Status DeviceContext::synchronize() const { return {}; }
DeviceContext::Scope::Scope(const DeviceContext *) {}
DeviceContext::Scope::~Scope() = default;

}  // namespace cudavision

#endif
