// SPDX-License-Identifier: LGPL-2.1-or-later
// Hands frames in CUDA memory over to other programs as arrays.
#pragma once

#include <cstdint>

struct CUstream_st;

namespace cudavision {

// Tells the library of metas how to hand over frames in CUDA memory (gst/meta/device_memory.h). Does nothing in a build
// without CUDA.
void offer_frames();

// Converts a stream number of the Python array API to the CUDA runtime's handle: the legacy default stream, 1, is null.
inline CUstream_st *stream_of_consumer(std::uintptr_t stream) {
  return stream == 1 ? nullptr : reinterpret_cast<CUstream_st *>(stream);
}

}  // namespace cudavision
