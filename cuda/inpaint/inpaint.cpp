// SPDX-License-Identifier: LGPL-2.1-or-later
// What both backends of inpainting share: checks, tables and the choice of a backend.
#include "cuda/inpaint/inpaint.h"

#include <cmath>
#include <string>

#include "cuda/common/backends.h"
#include "cuda/inpaint/inpaint_backends.h"

namespace cudavision {

Status validate(const InpaintParams &params) {
  if (params.patch_size < kMinPatchSize || params.patch_size > kMaxPatchSize || params.patch_size % 2 == 0)
    return invalid_argument("patch-size must be odd, " + std::to_string(kMinPatchSize) + " to " +
                            std::to_string(kMaxPatchSize) + ", not " + std::to_string(params.patch_size));
  const struct {
    const char *name;
    int value;
  } counts[] = {{"search-radius", params.search_radius},
                {"max-patches", params.max_patches},
                {"history", params.history}};
  for (const auto &count : counts)
    if (count.value < 0)
      return invalid_argument(std::string(count.name) + " must be at least 0, not " +
                              std::to_string(count.value));
  return {};
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
  return make_on_backend(execution, size, made, inpaint::make_inpaint_cpu,
                         CUDAVISION_IF_CUDA(inpaint::make_inpaint_cuda));
}

}  // namespace cudavision
