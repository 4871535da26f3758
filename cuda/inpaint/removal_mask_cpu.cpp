// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of the removal mask: strips of rows in parallel.
#include <algorithm>

#include "cuda/common/memory_budget.h"
#include "cuda/common/per_thread.h"
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
        wide_(mask_.size()),
        covers_([width = size.width] { return Array<int>(static_cast<std::size_t>(width) + 1); }) {}

  Status run(const Frame &frame, const RemovalSources &sources, ImageView<const std::uint8_t> *mask,
             std::uint8_t *into) override {
    CUDAVISION_TRY(check_sources(frame, sources, size_));
    const ImageView<std::uint8_t> made = view(into != nullptr ? into : mask_.data());
    RemovalSources others = sources;
    others.region_count = 0;
    const RemovalPass pass = removal_pass(others, 0);
    covers_.fit(*execution_.workers);
    CUDAVISION_TRY(for_each_strip([&](int y0, int y1, int slot) {
      for (int y = y0; y < y1; ++y) {
        const int *covers = find_covers(sources, y, covers_[slot]);
        int count = 0;  // of the regions that hold the pixel
        for (int x = 0; x < size_.width; ++x) {
          count += covers[x];
          const bool held = count > 0 && is_allowed(sources.limit, x, y);
          made.row(y)[x] = held || is_selected(pass, frame, x, y) ? 255 : 0;
        }
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

  // For each column of row y, the number of regions that begin there less the number of those that end before
  // it. So the time depends on the number of regions and not on their area.
  const int *find_covers(const RemovalSources &sources, int y, Array<int> &covers) const {
    std::fill(covers.begin(), covers.end(), 0);
    for (int i = 0; i < sources.region_count; ++i) {
      const Region &r = sources.regions[i];
      if (y < r.y || y - r.y >= r.height || r.x >= size_.width) continue;
      const long long end = static_cast<long long>(r.x) + r.width;
      if (end <= 0) continue;
      ++covers[static_cast<std::size_t>(std::max(r.x, 0))];
      --covers[static_cast<std::size_t>(std::min<long long>(end, size_.width))];
    }
    return covers.data();
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
  PerThread<Array<int>> covers_;
};

}  // namespace

Status make_removal_mask_cpu(const Execution &execution, Size size, std::unique_ptr<RemovalMask> *mask) {
  return make_as<RemovalMaskCpu>(mask, execution, size);
}

}  // namespace cudavision::inpaint
