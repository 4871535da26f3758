// SPDX-License-Identifier: LGPL-2.1-or-later
// HOG: validation, and the choice of a backend.
#include "cuda/hog/hog.h"

#include <numbers>

#include "cuda/common/check_range.h"
#include "cuda/common/number_text.h"
#include "cuda/hog/hog_backends.h"

namespace cudavision {
namespace {

struct AxisNames {
  const char *axis, *cell, *block, *stride;
};
constexpr AxisNames kWidth{"width", "cell width", "block width", "block stride in width"},
    kHeight{"height", "cell height", "block height", "block stride in height"};

Status check_axis(const AxisNames &names, int cell, int block, int stride) {
  CUDAVISION_TRY(check_range(names.cell, cell, HogRanges::cell_side));
  CUDAVISION_TRY(check_range(names.block, block, HogRanges::block_side));
  CUDAVISION_TRY(check_range(names.stride, stride, HogRanges::stride));
  if (block % cell != 0 || block / cell > HogRanges::block_cells.most)
    return invalid_argument(std::string("the block's ") + names.axis + " of " + std::to_string(block) +
                            " pixels is not 1 to " + std::to_string(HogRanges::block_cells.most) +
                            " cells of " + std::to_string(cell));
  return {};
}

}  // namespace

Status validate(const HogParams &p) {
  CUDAVISION_TRY(check_axis(kWidth, p.cell.width, p.block.width, p.stride.width));
  CUDAVISION_TRY(check_axis(kHeight, p.cell.height, p.block.height, p.stride.height));
  CUDAVISION_TRY(check_range("bins", p.bins, HogRanges::bins));
  // A Gaussian of less than a hundredth of a pixel is 0 everywhere but at its centre, where the weight would
  // be 0 / 0 if the square of sigma underflowed to 0.
  if (constexpr Range<double> range = HogRanges::sigma;
      !(p.sigma == 0 || (p.sigma >= range.least && p.sigma <= range.most)))
    return invalid_argument("the block window's sigma must be 0, or between " + text_of(range.least) +
                            " and " + text_of(range.most) + " pixels, not " + text_of(p.sigma));
  if (!(p.clip > 0 && p.clip <= 1))
    return invalid_argument("the L2-Hys threshold must be more than 0 and at most 1, not " + text_of(p.clip));
  return {};
}

Status hog_shape(Size picture, const HogParams &params, HogShape *shape) {
  CUDAVISION_TRY(validate(params));
  if (picture.width < params.block.width || picture.height < params.block.height)
    return too_small("a picture of " + to_string(picture) + " pixels holds no block of " +
                     to_string(params.block));
  shape->rows = (picture.height - params.block.height) / params.stride.height + 1;
  shape->cols = (picture.width - params.block.width) / params.stride.width + 1;
  shape->length = hog::rules_of(params).length;
  return {};
}

HogPicture hog_picture(ImageView<const std::uint8_t> luma) {
  HogPicture picture{1, luma.width, luma.height, {}};
  // Hog only reads its input.
  picture.component[0] = {.data = const_cast<std::uint8_t *>(luma.data), .pitch_bytes = luma.pitch_bytes};
  return picture;
}

HogPicture hog_picture(const Frame &frame, Region region) {
  HogPicture picture{frame.model == ColorModel::rgb ? 3 : 1, region.width, region.height, {}};
  for (int c = 0; c < picture.channels; ++c) {
    picture.component[c] = frame.component[c];
    picture.component[c].data = &frame.component[c].at(region.x, region.y);
  }
  return picture;
}

hog::Rules hog::rules_of(const HogParams &p) {
  Rules r{};
  const bool opencv = p.variant == HogVariant::opencv;
  r.variant = p.variant;
  r.norm = p.norm != HogNorm::variant ? p.norm : opencv ? HogNorm::l2_hys : HogNorm::l1_sqrt;
  r.cell = p.cell, r.block = p.block, r.stride = p.stride;
  r.cells_x = p.block.width / p.cell.width, r.cells_y = p.block.height / p.cell.height;
  r.bins = p.bins, r.length = r.cells_x * r.cells_y * p.bins;
  r.gamma = p.gamma;
  r.unit = opencv ? 1.0f : p.gamma ? 1.0f / 16 : 1.0f / 256;
  r.signed_gradient = p.signed_gradient;
  r.angle_scale =
      static_cast<float>(p.bins / ((p.signed_gradient ? 2 : 1) * (opencv ? 180 : std::numbers::pi)));
  r.epsilon = opencv ? 0.1f * static_cast<float>(r.length) : 1e-5f;
  r.second_epsilon = opencv ? 1e-3f : 1e-5f;
  r.clip = static_cast<float>(p.clip);
  return r;
}

Status hog::check_run(const HogPicture &picture, Size made_for, int channels) {
  if (picture.channels != channels)
    return invalid_argument("a picture of " + std::to_string(picture.channels) + " channels instead of " +
                            std::to_string(channels));
  const Component &first = picture.component[0];
  // The CUDA backend computes offsets in 32 bits.
  if (first.pitch_bytes > std::numeric_limits<int>::max() / kMaxSide)
    return invalid_argument("the rows of the picture are " + std::to_string(first.pitch_bytes) +
                            " bytes apart, more than " +
                            std::to_string(std::numeric_limits<int>::max() / kMaxSide));
  for (int c = 0; c < channels; ++c) {
    const Component &other = picture.component[c];
    if (other.shift_x != 0 || other.shift_y != 0)
      return invalid_argument("channel " + std::to_string(c) + " of the picture is subsampled");
    if (other.pitch_bytes != first.pitch_bytes || other.step_bytes != first.step_bytes)
      return invalid_argument("channel " + std::to_string(c) +
                              " of the picture has another pitch or step than channel 0");
  }
  return check_size("the picture", picture.size(), made_for);
}

Status make_hog(const Execution &execution, Size size, int channels, const HogParams &params,
                std::unique_ptr<Hog> *hog) {
  HogShape shape;
  CUDAVISION_TRY(hog_shape(size, params, &shape));
  if (size.width > kMaxSide || size.height > kMaxSide)
    return invalid_argument(to_string(size) + " pixels: each side must be at most " +
                            std::to_string(kMaxSide));
  if (channels != 1 && channels != 3)
    return invalid_argument("pictures have 1 or 3 channels, not " + std::to_string(channels));
  return run_on_backend(execution, CUDAVISION_BACKENDS(hog::make_hog), size, channels, params, hog);
}

}  // namespace cudavision
