// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/hog/hit_groups_cpu.h"

#include <algorithm>
#include <numeric>

#include "cuda/hog/hog_detector_rules.h"

namespace cudavision::hog {

std::vector<HogBox> group_hits(const std::vector<HogBox> &hits, int threshold) {
  const int count = static_cast<int>(hits.size());
  // A union-find forest whose roots are the first hits of their groups.
  std::vector<int> parent(hits.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int i) {
    while (parent[static_cast<std::size_t>(i)] != i) i = parent[static_cast<std::size_t>(i)];
    return i;
  };
  for (int i = 1; i < count; ++i)
    for (int j = 0; j < i; ++j)
      if (are_similar(hits[static_cast<std::size_t>(i)], hits[static_cast<std::size_t>(j)])) {
        const int a = root(i), b = root(j);
        parent[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
      }
  std::vector<Group> groups(hits.size());
  for (int i = 0; i < count; ++i) {
    const HogBox &hit = hits[static_cast<std::size_t>(i)];
    Group &g = groups[static_cast<std::size_t>(root(i))];
    g.score = g.count == 0 ? hit.score : std::max(g.score, hit.score);
    ++g.count;
    g.x += hit.x, g.y += hit.y, g.width += hit.width, g.height += hit.height;
  }
  std::erase_if(groups, [threshold](const Group &g) { return g.count <= threshold; });
  std::vector<HogBox> boxes;
  for (const Group &g : groups) {
    const HogBox box = average(g);
    const bool kept = std::none_of(groups.begin(), groups.end(), [&](const Group &other) {
      return &other != &g && gives_way(box, g.count, average(other), other.count);
    });
    if (kept) boxes.push_back(box);
  }
  return boxes;
}

std::vector<HogBox> best_hits(std::vector<HogBox> hits, const HogThresholds &thresholds) {
  std::stable_sort(hits.begin(), hits.end(),
                   [](const HogBox &a, const HogBox &b) { return a.score > b.score; });
  std::vector<HogBox> boxes;
  while (!hits.empty()) {
    const HogBox best = hits.front(), object = part_of(thresholds.object, best);
    const auto overlapping = std::erase_if(
        hits, [&](const HogBox &hit) { return overlap(object, part_of(thresholds.object, hit)); });
    if (static_cast<int>(overlapping) > thresholds.group) boxes.push_back(best);
  }
  return boxes;
}

}  // namespace cudavision::hog
