// SPDX-License-Identifier: LGPL-2.1-or-later
// Reducing and enlarging pictures: validation, and choice of a backend.
#include "cuda/bgsub/bgsub_scale.h"

#include "cuda/bgsub/bgsub_scale_backends.h"
#include "cuda/common/backends.h"
#include "cuda/common/check_range.h"

namespace cudavision {
namespace {

constexpr int kMostScale = 16;

Status check(const BgsubPicture &picture, int scale, const BgsubPicture &reduced) {
  CUDAVISION_TRY(check_range("the scale", scale, 1, kMostScale));
  CUDAVISION_TRY(check_size("the reduced picture", reduced.size(), reduced_size(picture.size(), scale)));
  if (picture.channels == reduced.channels) return {};
  return invalid_argument("one picture has " + std::to_string(picture.channels) +
                          " channels, and the other " + std::to_string(reduced.channels));
}

}  // namespace

Status reduce_picture(const Execution &execution, const BgsubPicture &picture, int scale,
                      const BgsubPixels<std::uint8_t> &reduced, Input input) {
  CUDAVISION_TRY(check(picture, scale, reduced));
  return run_on_backend<const BgsubPicture &, int, const BgsubPixels<std::uint8_t> &, Input>(
      execution, bgsub::reduce_cpu, CUDAVISION_IF_CUDA(bgsub::reduce_cuda), picture, scale, reduced, input);
}

Status enlarge_picture(const Execution &execution, const BgsubPicture &reduced, int scale,
                       const BgsubPixels<std::uint8_t> &picture) {
  CUDAVISION_TRY(check(picture, scale, reduced));
  return run_on_backend<const BgsubPicture &, int, const BgsubPixels<std::uint8_t> &>(
      execution, bgsub::enlarge_cpu, CUDAVISION_IF_CUDA(bgsub::enlarge_cuda), reduced, scale, picture);
}

}  // namespace cudavision
