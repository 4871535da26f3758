// SPDX-License-Identifier: LGPL-2.1-or-later
// Reduces pictures, each square of pixels to one, so that background subtraction has fewer pixels, and enlarges
// results.
#pragma once

#include "cuda/bgsub/bgsub.h"

namespace cudavision {

// The size of a picture after reduce_picture(): each square of scale x scale pixels, or fewer at the border, is one
// pixel.
constexpr Size reduced_size(Size size, int scale) {
  return {divide_up(size.width, scale), divide_up(size.height, scale)};
}

// Sets each channel of a pixel of `reduced` to the mean of its square of scale x scale pixels in `picture`, rounded
// half up. Squares at the right and lower border may have fewer pixels. Both pictures lie in the backend's memory and
// must not overlap. input: when `picture` is complete. CUDA: enqueues one kernel. Errors: a scale that is not in 1 to
// 16, pictures whose sizes do not fit together or whose numbers of channels differ, and errors of the device.
Status reduce_picture(const Execution &execution, const BgsubPicture &picture, int scale,
                      const BgsubPixels<std::uint8_t> &reduced, Input input = Input::in_stream_order);

// Sets all pixels of each square of `picture` to the pixel of `reduced` that stands for it. The memory, the kernels and
// the errors are as for reduce_picture(); `reduced` must be complete in stream order.
Status enlarge_picture(const Execution &execution, const BgsubPicture &reduced, int scale,
                       const BgsubPixels<std::uint8_t> &picture);

}  // namespace cudavision
