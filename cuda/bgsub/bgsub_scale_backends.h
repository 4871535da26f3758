// SPDX-License-Identifier: LGPL-2.1-or-later
// The two backends of reducing and enlarging pictures.
#pragma once

#include "cuda/bgsub/bgsub_scale.h"

namespace cudavision::bgsub {

Status reduce_cpu(const Execution &execution, const BgsubPicture &picture, int scale,
                  const BgsubPixels<std::uint8_t> &reduced, Input input);
Status reduce_cuda(const Execution &execution, const BgsubPicture &picture, int scale,
                   const BgsubPixels<std::uint8_t> &reduced, Input input);
Status enlarge_cpu(const Execution &execution, const BgsubPicture &reduced, int scale,
                   const BgsubPixels<std::uint8_t> &picture);
Status enlarge_cuda(const Execution &execution, const BgsubPicture &reduced, int scale,
                    const BgsubPixels<std::uint8_t> &picture);

}  // namespace cudavision::bgsub
