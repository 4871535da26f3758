// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of the removal mask: strips of rows in parallel.
#include <algorithm>

#include "cuda/common/memory_budget.h"
#include "cuda/inpaint/inpaint_backends.h"

namespace cudavision::inpaint {
namespace {

constexpr int kRowsPerTask = 16;

class RemovalMaskCpu final : public RemovalMask {
 public:
  RemovalMaskCpu(const Execution &execution, Size size)
      : execution_(execution),
        size_(size),
        mask_(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height)),
        wide_(mask_.size()) {}

  Status run(const Frame &frame, const RemovalSources &sources, ImageView<const std::uint8_t> *mask,
             std::uint8_t *into) override {
    CUDAVISION_TRY(check_sources(frame, sources, size_));
    const ImageView<std::uint8_t> made = view(into != nullptr ? into : mask_.data());
    RemovalSources others = sources;
    others.region_count = 0;
    const RemovalPass pass = removal_pass(others, 0);
    CUDAVISION_TRY(for_each_strip([&](int y0, int y1, int) {
      for (int y = y0; y < y1; ++y) {
        std::uint8_t *row = made.row(y);
        for (int x = 0; x < size_.width; ++x) row[x] = is_selected(pass, frame, x, y) ? 255 : 0;
        for (int i = 0; i < sources.region_count; ++i) select(sources.regions[i], sources.limit, y, row);
      }
    }));
    if (sources.dilation > 0) CUDAVISION_TRY(dilate(made, sources.dilation, sources.limit));
    *mask = made;
    return {};
  }

 private:
  ImageView<std::uint8_t> view(std::uint8_t *bytes) const {
    return {bytes, size_.width, size_.width, size_.height};
  }
  template <typename Body>
  Status for_each_strip(const Body &body) const {
    return execution_.workers->run_strips(size_.height, kRowsPerTask, body);
  }

  // Selects the pixels of row y that lie in the region and in the limit.
  void select(const Region &region, Region limit, int y, std::uint8_t *row) const {
    if (limit.width == 0) limit = {0, 0, size_.width, size_.height};
    if (y < region.y || y - region.y >= region.height || y < limit.y || y - limit.y >= limit.height) return;
    const int first = std::max({region.x, limit.x, 0});
    const long long end =
        std::min<long long>({1ll * region.x + region.width, 1ll * limit.x + limit.width, size_.width});
    for (int x = first; x < end; ++x) row[x] = 255;
  }

  // Dilates along the rows from the mask to wide_, then along the columns back to the mask.
  Status dilate(ImageView<std::uint8_t> mask, int distance, Region limit) {
    const ImageView<std::uint8_t> wide = view(wide_.data());
    CUDAVISION_TRY(for_each_strip([&](int y0, int y1, int) {
      for (int y = y0; y < y1; ++y) {
        const std::uint8_t *from = mask.row(y);
        std::uint8_t *to = wide.row(y);
        // The number of removed pixels at most `distance` away from x.
        int count = 0;
        for (int x = 0; x < std::min(distance, size_.width); ++x) count += from[x] != 0;
        for (int x = 0; x < size_.width; ++x) {
          if (x + distance < size_.width) count += from[x + distance] != 0;
          if (x - distance > 0) count -= from[x - distance - 1] != 0;
          to[x] = count > 0 ? 255 : 0;
        }
      }
    }));
    return for_each_strip([&](int y0, int y1, int) {
      for (int y = y0; y < y1; ++y) {
        std::uint8_t *to = mask.row(y);
        std::fill_n(to, size_.width, std::uint8_t{0});
        for (int j = std::max(0, y - distance); j <= std::min(size_.height - 1, y + distance); ++j) {
          const std::uint8_t *from = wide.row(j);
          for (int x = 0; x < size_.width; ++x) to[x] |= from[x];
        }
        for (int x = 0; x < size_.width; ++x)
          if (!is_allowed(limit, x, y)) to[x] = 0;
      }
    });
  }

  Execution execution_;
  Size size_;
  Array<std::uint8_t> mask_, wide_;
};

}  // namespace

Status make_removal_mask_cpu(const Execution &execution, Size size, std::unique_ptr<RemovalMask> *mask) {
  return make_as<RemovalMaskCpu>(mask, execution, size);
}

}  // namespace cudavision::inpaint
