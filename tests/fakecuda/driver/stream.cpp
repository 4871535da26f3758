// SPDX-License-Identifier: LGPL-2.1-or-later
// Streams and events: those of the runtime, usable from any context.
#include "tests/fakecuda/driver/driver.h"

using fakecuda::api;
using fakecuda::Needs;

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  return api("cuStreamCreate", Needs::context, [=] { return cudaStreamCreateWithFlags(stream, flags); });
}

CUresult cuStreamDestroy(CUstream stream) {
  return api("cuStreamDestroy", Needs::no_destroyed_context, [=] { return cudaStreamDestroy(stream); });
}

CUresult cuStreamSynchronize(CUstream stream) {
  return api("cuStreamSynchronize", stream == nullptr ? Needs::context : Needs::no_destroyed_context, [=] {
    if (stream == nullptr) simt::join_blocking_streams();
    return cudaStreamSynchronize(stream);
  });
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  return api("cuEventCreate", Needs::context, [=] { return cudaEventCreateWithFlags(event, flags); });
}

CUresult cuEventDestroy(CUevent event) {
  return api("cuEventDestroy", Needs::no_destroyed_context, [=] { return cudaEventDestroy(event); });
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  return api("cuEventRecord", stream == nullptr ? Needs::context : Needs::no_destroyed_context, [=] {
    if (stream == nullptr) simt::join_blocking_streams();
    return cudaEventRecord(event, stream);
  });
}

CUresult cuEventSynchronize(CUevent event) {
  return api("cuEventSynchronize", Needs::no_destroyed_context, [=] { return cudaEventSynchronize(event); });
}

// GStreamer 1.22 looks up the symbol of CUDA before 4.0, which drivers still export.
#undef cuStreamDestroy
extern "C" [[gnu::visibility("default")]] CUresult cuStreamDestroy(CUstream stream) {
  return cuStreamDestroy_v2(stream);
}
