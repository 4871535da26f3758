// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends of repacking.
#pragma once

#include "cuda/repack/repack.h"

namespace cudavision::repack {

decltype(repack_frame) repack_cpu, repack_cuda;
decltype(unpack_frame) unpack_cpu, unpack_cuda;

}  // namespace cudavision::repack
