// SPDX-License-Identifier: LGPL-2.1-or-later
// The primary context of each device, wrapped once for GStreamer.
#include "gst/base/device/process_context.h"

#include <gmodule.h>

#include <map>
#include <mutex>
#include <string>

#include "gst/base/device/device_context.h"
#include "gst/base/device/gst_cuda.h"

namespace cudavision {
namespace {

// Driver functions that GStreamer's CUDA library does not load. The driver library is never unloaded.
struct PrimaryContextCalls {
  CUresult (*retain)(CUcontext *context, CUdevice device) = nullptr;
  CUresult (*release)(CUdevice device) = nullptr;
  CUresult (*state)(CUdevice device, unsigned *flags, int *active) = nullptr;
  CUresult (*set_flags)(CUdevice device, unsigned flags) = nullptr;
};

template <typename Function>
bool look_up(GModule *driver, const char *name, Function *function) {
  gpointer symbol = nullptr;
  if (!g_module_symbol(driver, name, &symbol)) return false;
  *function = reinterpret_cast<Function>(symbol);
  return true;
}

const PrimaryContextCalls &calls() {
  static const PrimaryContextCalls loaded = [] {
    PrimaryContextCalls found;
    GModule *driver = g_module_open("libcuda.so.1", G_MODULE_BIND_LAZY);
    const bool complete = driver != nullptr && look_up(driver, "cuDevicePrimaryCtxRetain", &found.retain) &&
                          look_up(driver, "cuDevicePrimaryCtxRelease_v2", &found.release) &&
                          look_up(driver, "cuDevicePrimaryCtxGetState", &found.state) &&
                          look_up(driver, "cuDevicePrimaryCtxSetFlags_v2", &found.set_flags);
    return complete ? found : PrimaryContextCalls();
  }();
  return loaded;
}

struct Registry {
  std::mutex mutex;
  std::map<int, GWeakRef> contexts;  // by device; map nodes do not move, as a GWeakRef requires
};

Registry &registry() {
  static auto &instance = *new Registry;  // never destroyed: a frame may outlive main()
  return instance;
}

// Encodes a device number as object data, for which a null pointer would mean "not set".
gpointer to_data(int device_id) { return GINT_TO_POINTER(device_id + 1); }
void release_primary_context(gpointer data) { (void)calls().release(GPOINTER_TO_INT(data) - 1); }

constexpr char kRetained[] = "cudavision-primary-context";

// Wraps the primary context, which the caller has retained. Object data releases it again: GObject frees object data
// after the class's finalize, which still uses the context.
GstCudaContext *wrap(CUcontext handle, int device_id) {
  GstCudaContext *context = gst_cuda_context_new_wrapped(handle, device_id);
  if (context != nullptr)
    g_object_set_data_full(G_OBJECT(context), kRetained, to_data(device_id), release_primary_context);
  else
    release_primary_context(to_data(device_id));
  return context;
}

// Lets threads sleep while they wait for the GPU. Decoders and converters wait with cuStreamSynchronize,
// which polls by default: sixteen of them would keep sixteen cores busy. The flags stay unchanged if the
// primary context is already in use.
void let_waits_sleep(int device_id) {
  unsigned flags = 0;
  int active = 1;
  if (calls().state(device_id, &flags, &active) == CUDA_SUCCESS && active == 0 && flags == 0)
    (void)calls().set_flags(device_id, CU_CTX_SCHED_BLOCKING_SYNC);
}

Status no_context(int device_id, const char *reason) {
  return {Status::Code::device_failed, "no context could be made on CUDA device " +
                                           std::to_string(device_id) + ": " +
                                           (reason != nullptr ? reason : "unknown error")};
}

}  // namespace

bool is_primary_context(GstCudaContext *context) {
  const int device = device_of(context);
  unsigned flags = 0;
  int active = 0;
  CUcontext primary = nullptr;
  // Calling retain() would create the primary context if it does not exist. It exists only if it is active.
  if (calls().state == nullptr || calls().state(device, &flags, &active) != CUDA_SUCCESS || active == 0)
    return false;
  if (calls().retain(&primary, device) != CUDA_SUCCESS) return false;
  (void)calls().release(device);
  return gst_cuda_context_get_handle(context) == primary;
}

bool is_process_context(GstCudaContext *context) {
  return g_object_get_data(G_OBJECT(context), kRetained) != nullptr;
}

Status share_process_context(int device_id, GstCudaContext **context) {
  Registry &r = registry();
  const std::lock_guard lock(r.mutex);
  const auto [entry, is_new] = r.contexts.try_emplace(device_id);
  if (is_new) g_weak_ref_init(&entry->second, nullptr);
  if (gpointer alive = g_weak_ref_get(&entry->second); alive != nullptr) {
    *context = GST_CUDA_CONTEXT(alive);
    return {};
  }
  if (calls().retain == nullptr) return no_context(device_id, "the driver has no primary contexts");
  let_waits_sleep(device_id);
  CUcontext handle = nullptr;
  if (const CUresult result = calls().retain(&handle, device_id); result != CUDA_SUCCESS) {
    const char *text = nullptr;
    CuGetErrorString(result, &text);
    return no_context(device_id, text);
  }
  *context = wrap(handle, device_id);
  if (*context == nullptr) return no_context(device_id, "GStreamer could not wrap it");
  g_weak_ref_set(&entry->second, *context);
  return {};
}

}  // namespace cudavision
