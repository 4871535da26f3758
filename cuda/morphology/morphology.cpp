// SPDX-License-Identifier: LGPL-2.1-or-later
// Morphology: validation, the passes, and choice of a backend.
#include "cuda/morphology/morphology.h"

#include <cmath>

#include "cuda/common/backends.h"
#include "cuda/common/check_range.h"
#include "cuda/morphology/morphology_backends.h"
#include "cuda/morphology/morphology_rules.h"

namespace cudavision {

Status validate(const MorphologyParams &params) {
  CUDAVISION_TRY(check_range("the number of morphological steps", params.count, 0, kMaxMorphologies));
  for (int i = 0; i < params.count; ++i)
    CUDAVISION_TRY(check_range("the radius", params.steps[i].radius, MorphologyRanges::radius));
  return {};
}

namespace morphology {
namespace {

void append(bool erodes, int radius, MorphologyShape shape, Passes *passes) {
  Pass &pass = passes->pass[passes->count++];
  pass.erodes = erodes, pass.radius = radius;
  passes->halo += radius;
  for (int dy = 0; dy <= radius; ++dy) {
    // The expression of cv::getStructuringElement, whose result depends on its rounding.
    const double inverse = 1.0 / (static_cast<double>(radius) * radius);
    const double reach = radius * std::sqrt((radius * radius - dy * dy) * inverse);
    pass.reach[dy] =
        static_cast<std::int8_t>(shape == MorphologyShape::rectangle ? radius : std::lrint(reach));
  }
}

}  // namespace

Passes passes_of(const MorphologyParams &params) {
  Passes passes;
  passes.complement = params.complement;
  for (int i = 0; i < params.count; ++i) {
    const auto [kind, radius] = params.steps[i];
    if (radius == 0) continue;
    using enum MorphologyKind;
    append(kind == erode || kind == open, radius, params.shape, &passes);
    if (kind == open || kind == close) append(kind == close, radius, params.shape, &passes);
  }
  return passes;
}

Status check_run(const MorphologyParams &params, Size mask, Size cleaned, Size made_for) {
  CUDAVISION_TRY(validate(params));
  CUDAVISION_TRY(check_size("the mask", mask, made_for));
  return check_size("the cleaned mask", cleaned, made_for);
}

}  // namespace morphology

Status make_mask_cleaner(const Execution &execution, Size size, std::unique_ptr<MaskCleaner> *cleaner) {
  return make_on_backend(execution, size, cleaner, CUDAVISION_BACKENDS(morphology::make_mask_cleaner));
}

}  // namespace cudavision
