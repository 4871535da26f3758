// SPDX-License-Identifier: LGPL-2.1-or-later
// The rules of removal_mask.h for both backends.
#pragma once

#include <algorithm>

#include "cuda/common/host_device.h"
#include "cuda/inpaint/removal_mask.h"

namespace cudavision::inpaint {

constexpr int kRegionsAtOnce = 32;

// RemovalSources as a kernel's argument, with some of the regions.
struct RemovalRules {
  const std::uint8_t *picture;
  Region regions[kRegionsAtOnce];
  int region_count;
  bool by_color;
  Color color;
  int tolerance;
  Component alpha;
  Region limit;
  bool adds;  // to the mask, which other regions have begun
};

// For regions [first, first + kRegionsAtOnce) of the sources.
inline RemovalRules rules_of(const RemovalSources &s, int first) {
  const bool begins = first == 0;
  RemovalRules rules{begins ? s.picture : nullptr,   {},      0,
                     begins && s.by_color,           s.color, s.tolerance,
                     begins ? s.alpha : Component{}, s.limit, !begins};
  rules.region_count = std::min(kRegionsAtOnce, s.region_count - first);
  std::copy_n(s.regions + first, rules.region_count, rules.regions);
  return rules;
}

// Differences: the sums may be larger than an int.
CUDAVISION_HOST_DEVICE constexpr bool holds(Region r, int x, int y) {
  return x >= r.x && y >= r.y && x - r.x < r.width && y - r.y < r.height;
}
CUDAVISION_HOST_DEVICE constexpr bool is_allowed(Region limit, int x, int y) {
  return limit.width == 0 || holds(limit, x, y);
}

CUDAVISION_HOST_DEVICE inline bool is_removed_by(const RemovalRules &rules, const Frame &frame, int x,
                                                 int y) {
  if (!is_allowed(rules.limit, x, y)) return false;
  for (int i = 0; i < rules.region_count; ++i)
    if (holds(rules.regions[i], x, y)) return true;
  if (rules.picture != nullptr && rules.picture[static_cast<std::ptrdiff_t>(y) * frame.width + x] != 0)
    return true;
  if (rules.alpha.data != nullptr && rules.alpha.at(x, y) < 128) return true;
  if (!rules.by_color) return false;
  for (int c = 0; c < frame.component_count(); ++c) {
    const int difference = frame.component[c].at(x, y) - rules.color.component[c];
    if ((difference < 0 ? -difference : difference) > rules.tolerance) return false;
  }
  return true;
}

Status check_sources(const Frame &frame, const RemovalSources &sources, Size made_for);

Status make_removal_mask_cpu(const Execution &execution, Size size, std::unique_ptr<RemovalMask> *mask);
Status make_removal_mask_cuda(const Execution &execution, Size size, std::unique_ptr<RemovalMask> *mask);

}  // namespace cudavision::inpaint
