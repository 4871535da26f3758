// SPDX-License-Identifier: LGPL-2.1-or-later
// Morphology of masks: erosion, dilation, opening and closing with a rectangle or an ellipse. Masks of 0 and 255 become
// those of cv::morphologyEx with its default border.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/image.h"
#include "cuda/common/range.h"

namespace cudavision {

constexpr int kMaxMorphologyRadius = 16, kMaxMorphologies = 2;

// The structuring element, the set of pixels around a pixel that a step looks at: 2 radius + 1 pixels wide and high, as
// cv::getStructuringElement makes it.
enum class MorphologyShape { rectangle, ellipse };

enum class MorphologyKind {
  erode,   // a pixel stays set if all pixels of the shape around it are set
  dilate,  // a pixel becomes set if one pixel of the shape around it is set
  open,    // erodes, then dilates: removes what is smaller than the shape
  close,   // dilates, then erodes: fills gaps that are smaller than the shape
};

struct Morphology {
  MorphologyKind kind = MorphologyKind::open;
  int radius = 1;  // 0: nothing changes
};

struct MorphologyParams {
  MorphologyShape shape = MorphologyShape::ellipse;
  int count = 0;  // the number of steps; steps[0] is done first
  Morphology steps[kMaxMorphologies];
  bool complement = false;  // the result is inverted: the pixels that are not set after the last step
};

struct MorphologyRanges {
  static constexpr Range<int> radius{0, kMaxMorphologyRadius};
};

// Returns an error that names the parameter that is out of its range.
Status validate(const MorphologyParams &params);

// Cleans masks of one size. Not thread-safe: use one instance per stream.
class MaskCleaner {
 public:
  virtual ~MaskCleaner() = default;
  // Sets `cleaned` to 255 where a pixel is set after all steps (with `complement`: is not set), and otherwise to 0. A
  // pixel of `mask` is set if it is 255. Pixels outside the picture neither let a dilation set a pixel nor let an
  // erosion remove one. Both images are height x width, lie in the backend's memory, and must not overlap. CUDA:
  // enqueues one kernel. Errors: invalid parameters, images of another size, and errors of the device.
  virtual Status run(ImageView<const std::uint8_t> mask, const MorphologyParams &params,
                     ImageView<std::uint8_t> cleaned) = 0;
};

// Scratch memory: none on CUDA; CPU: half a byte per pixel.
Status make_mask_cleaner(const Execution &execution, Size size, std::unique_ptr<MaskCleaner> *cleaner);

}  // namespace cudavision
