// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of connected components: the runs of set pixels of each row are united with the runs of the row above
// that they touch (L. He, Y. Chao and K. Suzuki, "A run-based two-scan labeling algorithm", IEEE Transactions on Image
// Processing 17(5), 2008).
#include <algorithm>
#include <bit>
#include <limits>

#include "cuda/common/memory_budget.h"
#include "cuda/common/pixel_bits_rules.h"
#include "cuda/components/components_backends.h"
#include "cuda/components/components_rules.h"

namespace cudavision::components {
namespace {

// Set pixels [begin, end) of a row.
struct Run {
  int begin, end;
};

// Calls visit(begin, end) for each run of a row, from the left.
template <typename Visit>
void for_each_run(const std::uint8_t *row, int width, const Visit &visit) {
  int begin = -1;  // where the run of the last pixels begins; negative if these are not set
  for (int x = 0; x < width; x += 8) {
    const unsigned bits = set_pixels_of_row(row, x, width);
    if (begin >= 0 ? bits == 255 : bits == 0) continue;
    for (int i = 0; i < 8;) {
      const unsigned left = begin >= 0 ? ~bits >> i & (255u >> i) : bits >> i;
      if (left == 0) break;
      i += std::countr_zero(left);
      if (begin >= 0) visit(begin, x + i);
      begin = begin >= 0 ? -1 : x + i;
    }
  }
  if (begin >= 0) visit(begin, width);
}

class ComponentsCpu final : public Components {
 public:
  ComponentsCpu(const Execution &execution, Size size) : execution_(execution), size_(size) {}

  Status run(ImageView<const std::uint8_t> mask, const ComponentParams &params,
             const ComponentList &list) override {
    CUDAVISION_TRY(check_run(mask.size(), size_, params, list));
    const int reach = params.connectivity == Connectivity::eight ? 1 : 0;
    *list.count = {};
    parents_.clear(), found_.clear(), above_.clear();
    for (int y = 0; y < size_.height; ++y) {
      if (execution_.workers->stopped()) return Status(Status::Code::stopped);
      label_row(mask.row(y), y, reach);
    }
    for (std::size_t i = 0; i < found_.size(); ++i) list.count->pixels += found_[i].area;
    merge();
    take_largest(params.min_area, list);
    return {};
  }

 private:
  // A run of the row above, with the index of its component.
  struct Labelled {
    Run run;
    std::uint32_t label;
  };

  // Returns the root of the set of component i. It is the component with the least index, which was found first.
  std::uint32_t root_of(std::uint32_t i) {
    while (parents_[i] != i) i = parents_[i] = parents_[parents_[i]];
    return i;
  }
  std::uint32_t unite(std::uint32_t a, std::uint32_t b) {
    a = root_of(a), b = root_of(b);
    return a < b ? parents_[b] = a : parents_[a] = b;
  }

  // Gives each run of a row the component of the runs that it touches in the row above, or else a new one.
  void label_row(const std::uint8_t *row, int y, int reach) {
    here_.clear();
    std::size_t i = 0;
    for_each_run(row, size_.width, [&](int begin, int end) {
      while (i < above_.size() && above_[i].run.end + reach <= begin) ++i;
      constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
      std::uint32_t label = kNone;
      // The last run above that touches this one may touch the next one, too, so i does not move past it.
      for (std::size_t k = i; k < above_.size() && above_[k].run.begin < end + reach; ++k)
        label = label == kNone ? root_of(above_[k].label) : unite(label, above_[k].label);
      if (label == kNone) {
        label = static_cast<std::uint32_t>(parents_.size());
        parents_.push_back(label);
        found_.push_back({begin, y, 0, {begin, y, 0, 0}, 0, 0});
      }
      add({begin, end}, y, found_[label]);
      here_.push_back({{begin, end}, label});
    });
    here_.swap(above_);
  }

  static void add(Run run, int y, ConnectedComponent &c) {
    const int length = run.end - run.begin, right = std::max(c.box.x + c.box.width, run.end);
    c.area += length;
    c.box.x = std::min(c.box.x, run.begin);
    c.box.width = right - c.box.x;
    c.box.height = y - c.box.y + 1;
    c.sum_x += static_cast<std::int64_t>(run.begin + run.end - 1) * length / 2;
    c.sum_y += static_cast<std::int64_t>(y) * length;
  }

  // Adds the area, the box and the sums of each component to the root of its set.
  void merge() {
    for (std::uint32_t i = 0; i < found_.size(); ++i) {
      const std::uint32_t root = root_of(i);
      if (root == i) continue;
      ConnectedComponent &to = found_[root], &from = found_[i];
      const int right = std::max(to.box.x + to.box.width, from.box.x + from.box.width);
      const int bottom = std::max(to.box.y + to.box.height, from.box.y + from.box.height);
      to.area += from.area, to.sum_x += from.sum_x, to.sum_y += from.sum_y;
      to.box.x = std::min(to.box.x, from.box.x);
      to.box.width = right - to.box.x, to.box.height = bottom - to.box.y;
      from.area = 0;
    }
  }

  void take_largest(int min_area, const ComponentList &list) {
    const auto end = std::remove_if(found_.begin(), found_.end(),
                                    [&](const ConnectedComponent &c) { return c.area < min_area; });
    list.count->found = static_cast<int>(end - found_.begin());
    list.count->listed = std::min(list.count->found, list.capacity);
    const auto order = [&](const ConnectedComponent &c) {
      return order_of(static_cast<std::uint32_t>(c.area),
                      static_cast<std::uint32_t>(c.first_y * size_.width + c.first_x));
    };
    std::partial_sort_copy(
        found_.begin(), end, list.components, list.components + list.count->listed,
        [&](const ConnectedComponent &a, const ConnectedComponent &b) { return order(a) < order(b); });
  }

  Execution execution_;
  Size size_;
  Array<std::uint32_t> parents_;     // the union-find links of the components
  Array<ConnectedComponent> found_;  // the components so far; merge() adds up those of one set
  Array<Labelled> above_, here_;     // the runs of the row before, and of this row
};

}  // namespace

Status make_components_cpu(const Execution &execution, Size size, std::unique_ptr<Components> *components) {
  return make_as<ComponentsCpu>(components, execution, size);
}

}  // namespace cudavision::components
