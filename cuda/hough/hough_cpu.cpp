// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of the Hough transform. One task per strip of rows lists the edge points; then one task per
// group of angles counts the votes of all points in its own rows of the accumulator and finds their peaks;
// finally the peaks are sorted.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "cuda/common/image.h"
#include "cuda/common/memory_budget.h"
#include "cuda/common/owned_memory.h"
#include "cuda/hough/hough_backends.h"
#include "cuda/hough/hough_rules.h"
#include "cuda/hough/line_primitives_rules.h"
#include "cuda/hough/segments_cpu.h"

namespace cudavision::hough {
namespace {

constexpr int kStripRows = 64;
constexpr int kAnglesPerTask = 8;  // their rows of about 2000 cells each at 1080p stay in the L2 cache

// The edge pixels of a strip of rows in row-major order, as a structure of arrays.
struct EdgePoints {
  Array<float> x, y;
  Array<std::uint16_t> direction;  // of the gradient; empty without gradient voting

  std::size_t count() const { return x.size(); }
};

// The number of points per block. Their coordinates and cells stay in the L1 cache.
constexpr int kBlock = 512;

// Consecutive points often lie on the same edge and vote for the same cell, so that each increment would
// depend on the one before. Four distant parts of the block are therefore interleaved.
void add_votes(const std::int32_t *cells, int count, std::uint32_t *row) {
  const int part = count / 4;
  for (int i = 0; i < part; ++i)
    for (int k = 0; k < 4; ++k) ++row[cells[k * part + i]];
  for (int i = 4 * part; i < count; ++i) ++row[cells[i]];
}

// Replaces *points by the edge pixels of rows [first, last). Gradient directions are listed unless luma is
// empty.
void list_points(ImageView<const std::uint8_t> edges, ImageView<const std::uint8_t> luma, int first, int last,
                 EdgePoints *points) {
  points->x.clear(), points->y.clear(), points->direction.clear();
  for (int y = first; y < last; ++y)
    for (int x = 0; x < edges.width; ++x) {
      if (edges.row(y)[x] == 0) continue;
      points->x.push_back(static_cast<float>(x));
      points->y.push_back(static_cast<float>(y));
      if (luma.data != nullptr)
        points->direction.push_back(static_cast<std::uint16_t>(gradient_direction(luma, x, y)));
    }
}

// Each point votes for all angles in [first, last).
void vote(const Accumulator &accumulator, int first, int last, const EdgePoints &points) {
  std::int32_t cells[kBlock];
  for (std::size_t begin = 0; begin < points.count(); begin += kBlock)
    for (int n = first; n < last; ++n) {
      const Angle &angle = accumulator.angles[n];
      const float *x = points.x.data() + begin, *y = points.y.data() + begin;
      const int count = static_cast<int>(std::min<std::size_t>(kBlock, points.count() - begin));
      for (int i = 0; i < count; ++i)
        cells[i] =
            distance_bits(x[i], y[i], angle.scaled_cos, angle.scaled_sin) - kRoundingBits - angle.first;
      add_votes(cells, count, accumulator.votes + accumulator.row(n));
    }
}

// Each point votes for the angles in [first, last) that are also in the intervals of its gradient direction.
// intervals: gradient_intervals_of().
void vote_near_gradient(const Accumulator &accumulator, int first, int last, const EdgePoints &points,
                        const std::vector<AngleIntervals> &intervals) {
  for (std::size_t i = 0; i < points.count(); ++i) {
    const AngleIntervals &near = intervals[points.direction[i]];
    for (int part = 0; part < 2; ++part)
      for (int n = std::max(first, near.begin[part]); n < std::min(last, near.end[part]); ++n) {
        const Angle &angle = accumulator.angles[n];
        ++accumulator.votes[accumulator.row(n) +
                            (distance_bits(points.x[i], points.y[i], angle.scaled_cos, angle.scaled_sin) -
                             kRoundingBits - angle.first)];
      }
  }
}

class HoughCpu final : public Hough {
 public:
  HoughCpu(const Execution &execution, Size size)
      : execution_(execution),
        size_(size),
        points_(static_cast<std::size_t>(divide_up(size.height, kStripRows))) {}

  Status run(ImageView<const std::uint8_t> edges, ImageView<const std::uint8_t> luma,
             const HoughParams &params, const HoughList &list) override {
    CUDAVISION_TRY(check_run(edges, luma, size_, params));
    CUDAVISION_TRY(prepare(params));
    if (params.gradient_voting && gradient_intervals_.empty())
      gradient_intervals_ = gradient_intervals_of(*plan_);
    CUDAVISION_TRY(list_all_points(edges, params.gradient_voting ? luma : ImageView<const std::uint8_t>{}));
    CUDAVISION_TRY(count_votes(params));
    CUDAVISION_TRY(find_peaks(params));
    if (params.mode == HoughMode::segments) return write_segments(edges, params, list);
    write_lines(params, list);
    return {};
  }

  Status copy_votes(ImageView<std::uint32_t> votes) override {
    CUDAVISION_TRY(check_votes(votes, plan_ ? &*plan_ : nullptr));
    const Accumulator accumulator = this->accumulator();
    const auto load = [&](std::ptrdiff_t offset) { return accumulator.votes[offset]; };
    for (int n = 0; n < accumulator.angle_count; ++n)
      for (int r = 0; r < accumulator.rho_count; ++r)
        votes.row(n)[r] = votes_at(accumulator, n, r - accumulator.index_of(0), load);
    return {};
  }

 private:
  Status prepare(const HoughParams &params) {
    if (plan_ && same_plan(params, planned_for_)) return {};
    plan_.reset();
    gradient_intervals_.clear();
    AccumulatorPlan plan;
    CUDAVISION_TRY(make_accumulator_plan(size_, params, &plan));
    CUDAVISION_TRY(
        votes_.allocate(execution_, std::max<std::size_t>(plan.cells(), 1) * sizeof(std::uint32_t)));
    peaks_.resize(static_cast<std::size_t>(divide_up(static_cast<int>(plan.angles.size()), kAnglesPerTask)));
    plan_ = std::move(plan);
    planned_for_ = params;
    return {};
  }

  Accumulator accumulator() const {
    return accumulator_of(*plan_, size_, plan_->angles.data(), static_cast<std::uint32_t *>(votes_.data()));
  }
  int tasks() const { return static_cast<int>(peaks_.size()); }
  // The angles [first, last) of a task.
  std::pair<int, int> angles_of(int task) const {
    return {task * kAnglesPerTask,
            std::min(static_cast<int>(plan_->angles.size()), (task + 1) * kAnglesPerTask)};
  }

  Status list_all_points(ImageView<const std::uint8_t> edges, ImageView<const std::uint8_t> luma) {
    return execution_.workers->run(static_cast<int>(points_.size()), [&](int strip, int) {
      list_points(edges, luma, strip * kStripRows, std::min(size_.height, (strip + 1) * kStripRows),
                  &points_[static_cast<std::size_t>(strip)]);
    });
  }

  Status count_votes(const HoughParams &params) {
    const Accumulator accumulator = this->accumulator();
    return execution_.workers->run(tasks(), [&](int task, int) {
      const auto [first, last] = angles_of(task);
      std::fill(accumulator.votes + accumulator.row(first), accumulator.votes + accumulator.row(last), 0u);
      for (const EdgePoints &points : points_)
        if (params.gradient_voting)
          vote_near_gradient(accumulator, first, last, points, gradient_intervals_);
        else
          vote(accumulator, first, last, points);
    });
  }

  // Writes the sorted keys of all peaks to keys_.
  Status find_peaks(const HoughParams &params) {
    const Accumulator accumulator = this->accumulator();
    const auto threshold = static_cast<std::uint32_t>(params.threshold);
    const auto load = [votes = accumulator.votes](std::ptrdiff_t offset) { return votes[offset]; };
    CUDAVISION_TRY(execution_.workers->run(tasks(), [&](int task, int) {
      Array<Key> &peaks = peaks_[static_cast<std::size_t>(task)];
      peaks.clear();
      const auto [first, last] = angles_of(task);
      for (int n = first; n < last; ++n) {
        const Angle &angle = accumulator.angles[n];
        const std::uint32_t *row = accumulator.votes + accumulator.row(n);
        // Few rows have a peak, and the maximum of a row is found faster than its peaks.
        std::uint32_t most = 0;
        for (int i = 0; i < angle.count; ++i) most = std::max(most, row[i]);
        if (most <= threshold) continue;
        for (int i = 0; i < angle.count; ++i)
          if (row[i] > threshold && is_peak(accumulator, n, angle.first + i, row[i], params.nms_radius, load))
            peaks.push_back(key_of(accumulator, n, angle.first + i, row[i]));
      }
    }));
    keys_.clear();
    for (const Array<Key> &peaks : peaks_) keys_.insert(keys_.end(), peaks.begin(), peaks.end());
    std::sort(keys_.begin(), keys_.end());
    return {};
  }

  void write_lines(const HoughParams &params, const HoughList &list) {
    const int found = static_cast<int>(keys_.size()), listed = std::min(found, params.max_lines);
    for (int i = 0; i < listed; ++i)
      list.lines[i] = line_of(accumulator(), keys_[static_cast<std::size_t>(i)]);
    *list.count = {listed, found, found};
  }

  Status write_segments(ImageView<const std::uint8_t> edges, const HoughParams &params,
                        const HoughList &list) {
    const int peaks = static_cast<int>(keys_.size());
    CUDAVISION_TRY(segments_.find(*execution_.workers, accumulator(), keys_,
                                  std::min(peaks, params.max_lines), edges, params));
    const Array<Key> &segments = segments_.found();
    const int found = static_cast<int>(segments.size()), listed = std::min(found, params.max_lines);
    for (int i = 0; i < listed; ++i)
      list.lines[i] = segment_of(accumulator(), keys_.data(), segments[static_cast<std::size_t>(i)], edges);
    *list.count = {listed, found, peaks};
    return {};
  }

  Execution execution_;
  Size size_;
  std::vector<EdgePoints> points_;  // the points of each strip
  std::optional<AccumulatorPlan> plan_;
  HoughParams planned_for_;
  OwnedBytes votes_;
  std::vector<AngleIntervals> gradient_intervals_;  // made when gradient voting is first requested
  std::vector<Array<Key>> peaks_;                   // the peaks that each task has found
  Array<Key> keys_;                                 // the keys of all peaks, sorted
  SegmentFinder segments_;
};

}  // namespace

Status make_hough_cpu(const Execution &execution, Size size, std::unique_ptr<Hough> *hough) {
  return make_as<HoughCpu>(hough, execution, size);
}

Status make_line_primitives_cpu(const Execution &, const HoughList &list, int capacity,
                                const LineStyle &style, Primitive *primitives) {
  for (int i = 0; i < std::min(list.count->listed, capacity); ++i)
    primitives[i] = primitive_of(list.lines[i], style);
  return {};
}

}  // namespace cudavision::hough
