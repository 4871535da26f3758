// SPDX-License-Identifier: LGPL-2.1-or-later
// The calls of the CUDA runtime that kernel tests make themselves. Test files are compiled once; device.cpp
// is compiled for each kind of program: with the real CUDA, with the emulated one, and without CUDA.
#pragma once

#include <cstddef>
#include <string>

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace cudavision::test {

// The reason why no kernel runs here; empty if kernels run.
std::string why_no_device();
// The name of the last error, which is then forgotten; empty if there is none.
std::string take_last_error();

// Each returns false if CUDA reports an error.
bool make_stream(CUstream_st **stream);
bool destroy_stream(CUstream_st *stream);
bool wait_for(CUstream_st *stream);
bool allocate_on_device(std::size_t bytes, void **memory);
bool free_on_device(void *memory);
// These wait until the bytes are copied.
bool copy_to_device(void *memory, const void *bytes, std::size_t count, CUstream_st *stream);
bool copy_from_device(void *bytes, const void *memory, std::size_t count, CUstream_st *stream);

}  // namespace cudavision::test
