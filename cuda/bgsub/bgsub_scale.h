// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures for background subtraction on fewer pixels: a square of pixels becomes one, and the other way round.
#pragma once

#include "cuda/bgsub/bgsub.h"

namespace cudavision {

// The size of a picture of which each scale x scale pixels become one; at the right and lower border also fewer.
constexpr Size reduced_size(Size size, int scale) {
  return {divide_up(size.width, scale), divide_up(size.height, scale)};
}

// Sets each channel of a pixel of `reduced` to the mean of its square in `picture`, rounded half up. A square that leaves the
// picture has fewer pixels. Both pictures lie in the backend's memory and must not overlap. input: when `picture` is
// complete. CUDA: enqueues one kernel. Errors: a scale that is not in 1 to 16, pictures whose sizes do not fit together or
// whose numbers of channels differ, and errors of the device.
Status reduce_picture(const Execution &execution, const BgsubPicture &picture, int scale,
                      const BgsubPixels<std::uint8_t> &reduced, Input input = Input::in_stream_order);

// Sets all pixels of a square of `picture` to their pixel in `reduced`. The rest as for reduce_picture().
Status enlarge_picture(const Execution &execution, const BgsubPicture &reduced, int scale,
                       const BgsubPixels<std::uint8_t> &picture);

}  // namespace cudavision
