// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames in CUDA memory as arrays of other programs.
#pragma once

#include <cstdint>

struct CUstream_st;

namespace cudavision {

// Tells the library of metas how frames in CUDA memory are handed over (gst/meta/device_memory.h). Does nothing in a build
// without CUDA.
void offer_frames();

// A stream as the Python array API counts, in the runtime's terms, where the legacy default stream, 1, is null.
inline CUstream_st *stream_of_consumer(std::uintptr_t stream) {
  return stream == 1 ? nullptr : reinterpret_cast<CUstream_st *>(stream);
}

}  // namespace cudavision
