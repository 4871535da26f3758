// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends of repacking.
#pragma once

#include "cuda/repack/repack.h"

namespace cudavision::repack {

Status repack_cpu(const Execution &execution, const RepackedFrame &frame, int components);
Status repack_cuda(const Execution &execution, const RepackedFrame &frame, int components);
Status unpack_cpu(const Execution &execution, const RepackedFrame &frame, Region region,
                  ImageView<const std::uint8_t> replaced);
Status unpack_cuda(const Execution &execution, const RepackedFrame &frame, Region region,
                   ImageView<const std::uint8_t> replaced);

}  // namespace cudavision::repack
