// SPDX-License-Identifier: LGPL-2.1-or-later
// Inpainting and the removal mask: validation, the tables of L*a*b*, the division into passes, and the choice of a
// backend.
#include "cuda/inpaint/inpaint.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "cuda/common/check_range.h"
#include "cuda/inpaint/inpaint_backends.h"
#include "cuda/inpaint/removal_mask.h"

namespace cudavision {

Status validate(const InpaintParams &params) {
  CUDAVISION_TRY(check_range("patch-size", params.patch_size, InpaintRanges::patch_size));
  if (params.patch_size % 2 == 0)
    return invalid_argument("patch-size must be odd, not " + std::to_string(params.patch_size));
  CUDAVISION_TRY(check_range("search-radius", params.search_radius, InpaintRanges::search_radius));
  CUDAVISION_TRY(check_range("max-patches", params.max_patches, InpaintRanges::max_patches));
  CUDAVISION_TRY(check_range("history", params.history, InpaintRanges::history));
  return check_range("learn-frames", params.learn_frames, InpaintRanges::learn_frames);
}

namespace inpaint {

Status check_run(const InpaintFrame &frame, const InpaintParams &params, Size made_for) {
  CUDAVISION_TRY(validate(params));
  CUDAVISION_TRY(check_size("frame", frame.frame.size(), made_for));
  return check_size("mask", frame.mask.size(), made_for);
}

const LabTables &lab_tables() {
  static const LabTables tables = [] {
    LabTables t;
    for (int i = 0; i < 256; ++i) {
      const double x = i / 255.0;
      const double linear = x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
      t.linear[i] = static_cast<std::uint16_t>(std::lround(linear * 8 * 255));
    }
    for (int i = 0; i < static_cast<int>(std::size(t.root)); ++i) {
      const double x = i / (8.0 * 255);
      const double f = x < 0.008856 ? x * 7.787 + 16.0 / 116 : std::cbrt(x);
      t.root[i] = static_cast<std::uint16_t>(std::lround(f * (1 << 15)));
    }
    return t;
  }();
  return tables;
}

}  // namespace inpaint

Status make_inpaint(const Execution &execution, Size size, std::unique_ptr<Inpaint> *made) {
  return make_on_backend(execution, size, made, CUDAVISION_BACKENDS(inpaint::make_inpaint));
}

namespace inpaint {

Status check_sources(const Frame &frame, const RemovalSources &sources, Size made_for) {
  CUDAVISION_TRY(check_size("frame", frame.size(), made_for));
  return check_range("dilate", sources.dilation, RemovalRanges::dilation);
}

RemovalPass removal_pass(const RemovalSources &sources, int first_region) {
  RemovalPass pass;
  pass.adds = first_region > 0;
  if (!pass.adds) pass.sources = sources;
  pass.sources.limit = sources.limit;
  pass.region_count = std::min(kRegionsPerPass, sources.region_count - first_region);
  std::copy_n(sources.regions + first_region, pass.region_count, pass.regions);
  return pass;
}

}  // namespace inpaint

Status make_removal_mask(const Execution &execution, Size size, std::unique_ptr<RemovalMask> *mask) {
  return make_on_backend(execution, size, mask, CUDAVISION_BACKENDS(inpaint::make_removal_mask));
}

}  // namespace cudavision
