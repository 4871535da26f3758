// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of the sigma^2 detector. Tasks search strips of rows; then min_distance and max_keypoints
// are applied to the list, and the orientations are counted.
#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "cuda/common/memory_budget.h"
#include "cuda/common/per_thread.h"
#include "cuda/gradient/gradient_cpu.h"
#include "cuda/gradient/gradient_rules.h"
#include "cuda/sigma2kp/sigma2kp_backends.h"
#include "cuda/sigma2kp/strip_finder_simd.h"

namespace cudavision::sigma2kp {
namespace {

constexpr int kLeastStripRows = 64;
constexpr int kKeypointsPerTask = 256, kMapRowsPerTask = 16;
// The time to compute one gradient separately, relative to the time per pixel for the map of all gradients.
// The measured ratio is 6 to 9.
constexpr double kCostOfSample = 8;

using Keypoints = Array<Sigma2Keypoint>;

// Finds all keypoints of images with one plan, without orientation, in row-major order.
class Finder {
 public:
  virtual ~Finder() = default;
  virtual Status find(ImageView<const std::uint8_t> luma, const Places &places, Keypoints *keypoints) = 0;
};

// T: the type of a strength.
template <typename T>
class FinderOf final : public Finder {
 public:
  FinderOf(const Workers &workers, const DetectorPlan &plan)
      : workers_(workers),
        window_(plan.window),
        rows_(plan.map.height),
        // The halo rows, which neighbouring strips compute twice, are at most half of the rows of a strip.
        strip_rows_(std::max(kLeastStripRows, 2 * (plan.before + plan.after))),
        strips_(static_cast<std::size_t>(divide_up(rows_, strip_rows_))),
        memory_([plan, rows = std::min(strip_rows_, rows_)] { return StripMemory<T>(plan, rows); }) {}

  Status find(ImageView<const std::uint8_t> luma, const Places &places, Keypoints *keypoints) override {
    memory_.fit(workers_);
    CUDAVISION_TRY(workers_.run(static_cast<int>(strips_.size()), [&](int strip, int slot) {
      Keypoints &found = strips_[static_cast<std::size_t>(strip)];
      found.clear();
      const auto [first, end] =
          searched_rows(places, strip * strip_rows_, std::min(rows_, (strip + 1) * strip_rows_));
      if (first < end) find_in_strip(memory_[slot], luma, first, end, &found);
    }));
    keypoints->clear();
    for (const Keypoints &found : strips_)
      std::copy_if(found.begin(), found.end(), std::back_inserter(*keypoints),
                   [&](const Sigma2Keypoint &k) { return is_searched(places, window_, k.x, k.y); });
    return {};
  }

 private:
  // The rows of windows from the first to the last one in [first, end) whose centre pixels meet a region; an empty
  // range if there is none.
  std::pair<int, int> searched_rows(const Places &places, int first, int end) const {
    if (places.everywhere()) return {first, end};
    int from = end, to = first;
    for (int i = 0; i < places.count; ++i) {
      const int top = std::max(places.region[i].y - window_ / 2, first),
                bottom = std::min(places.region[i].y + places.region[i].height - window_ / 2, end);
      if (top < bottom) from = std::min(from, top), to = std::max(to, bottom);
    }
    return {from, to};
  }

  const Workers &workers_;
  int window_, rows_, strip_rows_;
  std::vector<Keypoints> strips_;
  PerThread<StripMemory<T>> memory_;
};

// Removes the keypoints i with keep[i] == 0.
void compact(const Array<std::uint8_t> &keep, Keypoints *keypoints) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < keypoints->size(); ++i)
    if (keep[i] != 0) (*keypoints)[kept++] = (*keypoints)[i];
  keypoints->resize(kept);
}

class Sigma2KpCpu final : public Sigma2Kp {
 public:
  Sigma2KpCpu(const Execution &execution, Size size)
      : workers_(*execution.workers),
        size_(size),
        gradients_([width = size.width] { return GradientRow(width); }) {}

  Status run(ImageView<const std::uint8_t> luma, const Sigma2KpParams &params, const Sigma2KpList &list,
             Input, const Places &places) override {
    CUDAVISION_TRY(check_run(luma.size(), size_, params));
    CUDAVISION_TRY(check_places(places, size_));
    *list.count = {};
    if (places.count == 0) return {};
    return catch_bad_alloc([&]() -> Status {
      CUDAVISION_TRY(find(luma, params, places));
      if (params.min_distance > 0) CUDAVISION_TRY(keep_apart(params.min_distance));
      const int found = static_cast<int>(keypoints_.size());
      if (found > params.max_keypoints) keep_strongest(params.max_keypoints);
      std::copy(keypoints_.begin(), keypoints_.end(), list.keypoints);
      *list.count = {static_cast<int>(keypoints_.size()), found};
      return params.orientation ? orient(luma, params, list) : Status();
    });
  }

 private:
  Status find(ImageView<const std::uint8_t> luma, const Sigma2KpParams &params, const Places &places) {
    if (!finder_ || !same_plan(params, made_for_)) {
      const DetectorPlan plan = make_detector_plan(size_, params);
      finder_.reset();
      if (plan.is_wide())
        finder_ = std::make_unique<FinderOf<std::uint64_t>>(workers_, plan);
      else
        finder_ = std::make_unique<FinderOf<std::uint32_t>>(workers_, plan);
      made_for_ = params;
    }
    return finder_->find(luma, places, &keypoints_);
  }

  // Calls body(i, slot) for each i in [0, count), in parallel. slot: the index of the thread (Workers::run()).
  template <typename Body>
  Status for_each_keypoint(int count, const Body &body) const {
    return workers_.run(divide_up(count, kKeypointsPerTask), [&](int task, int slot) {
      for (int i = task * kKeypointsPerTask; i < std::min(count, (task + 1) * kKeypointsPerTask); ++i)
        body(i, slot);
    });
  }

  // Applies min_distance.
  Status keep_apart(int distance) {
    const int count = static_cast<int>(keypoints_.size());
    const Sigma2Keypoint *all = keypoints_.data();
    // The index of the first keypoint of each row of the image.
    row_begin_.assign(static_cast<std::size_t>(size_.height) + 1, 0);
    for (const Sigma2Keypoint &point : keypoints_) ++row_begin_[point.y + std::size_t{1}];
    std::partial_sum(row_begin_.begin(), row_begin_.end(), row_begin_.begin());
    keep_.assign(keypoints_.size(), 1);
    CUDAVISION_TRY(for_each_keypoint(count, [&](int i, int) {
      const Sigma2Keypoint &point = all[i];
      const int top = std::max(0, point.y - distance),
                bottom = std::min(size_.height - 1, point.y + distance);
      for (int y = top; y <= bottom; ++y) {
        const Sigma2Keypoint *end = all + row_begin_[static_cast<std::size_t>(y) + 1];
        const Sigma2Keypoint *other =
            std::lower_bound(all + row_begin_[static_cast<std::size_t>(y)], end, point.x - distance,
                             [](const Sigma2Keypoint &p, int x) { return p.x < x; });
        for (; other < end && other->x <= point.x + distance; ++other) {
          const int dx = other->x - point.x, dy = y - point.y;
          if (dx * dx + dy * dy < distance * distance &&
              is_stronger(other->strength, static_cast<int>(other - all), point.strength, i)) {
            keep_[static_cast<std::size_t>(i)] = 0;
            return;
          }
        }
      }
    }));
    compact(keep_, &keypoints_);
    return {};
  }

  // Applies max_keypoints.
  void keep_strongest(int most) {
    order_.resize(keypoints_.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::nth_element(order_.begin(), order_.begin() + most, order_.end(), [&](int i, int j) {
      return is_stronger(keypoints_[static_cast<std::size_t>(i)].strength, i,
                         keypoints_[static_cast<std::size_t>(j)].strength, j);
    });
    keep_.assign(keypoints_.size(), 0);
    for (int i = 0; i < most; ++i) keep_[static_cast<std::size_t>(order_[static_cast<std::size_t>(i)])] = 1;
    compact(keep_, &keypoints_);
  }

  // Computes orientations from a map of all gradients, or from gradients around the keypoints alone if that is faster.
  Status orient(ImageView<const std::uint8_t> luma, const Sigma2KpParams &params, const Sigma2KpList &list) {
    const OrientationTable table = make_orientation_table(params.orientation_bins);
    const double sampled = 1.0 * list.count->listed * params.orientation_window * params.orientation_window;
    if (sampled * kCostOfSample < 1.0 * size_.width * size_.height)
      return orient_few(luma, params, table, list);
    samples_.resize(static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(size_.height));
    gradients_.fit(workers_);
    const ImageView<WeightMap> map{samples_.data(),
                                   static_cast<std::ptrdiff_t>(sizeof(WeightMap)) * size_.width, size_.width,
                                   size_.height};
    CUDAVISION_TRY(workers_.run_rows(size_.height, kMapRowsPerTask, [&](int y, int slot) {
      gradients_[slot].map(luma, y, params.op, params.weight, table, map.row(y));
    }));
    return count_samples(params, list, [map](int x, int y) { return unpack(map.row(y)[x]); });
  }

  // Computes only the gradients around the keypoints, without a map.
  Status orient_few(ImageView<const std::uint8_t> luma, const Sigma2KpParams &params,
                    const OrientationTable &table, const Sigma2KpList &list) const {
    return count_samples(params, list, [&](int x, int y) {
      const Gradient g = gradient_of(params.op, [&luma, x, y](int dx, int dy) {
        return int{luma.row(std::clamp(y + dy, 0, luma.height - 1))[std::clamp(x + dx, 0, luma.width - 1)]};
      });
      return sample_of(g, params.weight, table);
    });
  }

  // sample(x, y) returns the GradientSample of a pixel.
  template <typename Sample>
  Status count_samples(const Sigma2KpParams &params, const Sigma2KpList &list, const Sample &sample) const {
    return for_each_keypoint(list.count->listed, [&](int i, int) {
      Sigma2Keypoint &point = list.keypoints[i];
      const Region region =
          orientation_region(point.x, point.y, params.window, params.orientation_window, size_);
      point.orientation = dominant_bin(region, params.orientation_bins, sample);
    });
  }

  template <typename Sample>
  static int dominant_bin(Region region, int bins, const Sample &sample_at) {
    std::array<std::uint32_t, kNoBin + 1> histogram;  // bin kNoBin receives uncounted samples
    std::fill_n(histogram.begin(), bins, 0u);
    histogram[kNoBin] = 0;
    for (int y = region.y; y < region.y + region.height; ++y)
      for (int x = region.x; x < region.x + region.width; ++x) {
        const GradientSample sample = sample_at(x, y);
        histogram[static_cast<std::size_t>(sample.bin)] += sample.weight;
      }
    const auto most = std::max_element(histogram.begin(), histogram.begin() + bins);
    return *most > 0 ? static_cast<int>(most - histogram.begin()) : kNoOrientation;
  }

  const Workers &workers_;
  Size size_;
  std::unique_ptr<Finder> finder_;
  Sigma2KpParams made_for_;
  Keypoints keypoints_;
  Array<int> row_begin_, order_;
  Array<std::uint8_t> keep_;
  PerThread<GradientRow> gradients_;
  Array<WeightMap> samples_;  // of all pixels
};

}  // namespace

Status make_sigma2kp_cpu(const Execution &execution, Size size, std::unique_ptr<Sigma2Kp> *sigma2kp) {
  return make_as<Sigma2KpCpu>(sigma2kp, execution, size);
}

Status make_point_primitives_cpu(const Execution &, Sigma2KpList list, int capacity, PointStyle style,
                                 LineEnds ends, Primitive *primitives, int *drawn) {
  const int count = std::min(list.count->listed, capacity);
  for (int i = 0; i < count; ++i) make_primitives(list.keypoints[i], style, ends, primitives + 2 * i);
  *drawn = 2 * count;
  return {};
}

}  // namespace cudavision::sigma2kp
