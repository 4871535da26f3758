// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of the detector. The threads share the rows of all scales in one loop, so that no thread waits at the
// end of a scale for the others. Only the blocks of a few scales are in memory at a time.
#include <algorithm>
#include <atomic>
#include <limits>
#include <vector>

#include "cuda/common/image.h"
#include "cuda/common/memory_budget.h"
#include "cuda/common/per_thread.h"
#include "cuda/hog/blocks_cpu.h"
#include "cuda/hog/hit_groups_cpu.h"
#include "cuda/hog/hog_backends.h"
#include "cuda/hog/hog_detector_plan.h"
#include "cuda/hog/hog_detector_rules.h"
#include "cuda/hog/planes_cpu.h"

namespace cudavision::hog {
namespace {

constexpr int kBlockRowsPerTask = 16, kWindowRowsPerTask = 8;
constexpr std::size_t kScalesInMemory = 3;  // there is memory for this many scales of the largest size

// The union of rectangles, as rectangles that do not overlap: what the threads work on.
class Parts {
 public:
  // Forgets all rectangles, and begins a union of rectangles.
  void begin() { whole_.clear(), edges_.clear(), parts_.clear(); }
  // Adds a rectangle to the union; an empty one is ignored.
  void add(const Region &region);
  // Ends the union: parts() then covers every element of the union once, by rectangles of at most most_rows rows.
  void end(int most_rows);
  const Array<Region> &parts() const { return parts_; }

 private:
  // Sets intervals_ to the intervals of the union in row y, from left to right.
  void find_intervals(int y);

  Array<Region> whole_, parts_;
  Array<int> edges_;  // the rows in which rectangles begin and end
  Array<Interval> intervals_;
};

void Parts::add(const Region &region) {
  if (is_empty(region)) return;
  whole_.push_back(region);
  edges_.push_back(region.y), edges_.push_back(region.y + region.height);
}

void Parts::find_intervals(int y) {
  intervals_.clear();
  for (const Region &r : whole_)
    if (y >= r.y && y < r.y + r.height) intervals_.push_back({r.x, r.x + r.width});
  std::sort(intervals_.begin(), intervals_.end(),
            [](const Interval &a, const Interval &b) { return a.first < b.first; });
  std::size_t last = 0;
  for (std::size_t i = 1; i < intervals_.size(); ++i) {
    if (intervals_[i].first <= intervals_[last].end)
      intervals_[last].end = std::max(intervals_[last].end, intervals_[i].end);
    else
      intervals_[++last] = intervals_[i];
  }
  if (!intervals_.empty()) intervals_.resize(last + 1);
}

// Between two neighbouring edges, all rows have the same intervals.
void Parts::end(int most_rows) {
  std::sort(edges_.begin(), edges_.end());
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  for (std::size_t i = 1; i < edges_.size(); ++i) {
    find_intervals(edges_[i - 1]);
    for (int y = edges_[i - 1]; y < edges_[i]; y += most_rows)
      for (const Interval &x : intervals_)
        parts_.push_back({x.first, y, x.end - x.first, std::min(most_rows, edges_[i] - y)});
  }
}

// Counts the parts of some work that are not finished. A task that needs the whole work sleeps in wait(), for less than
// a millisecond, because other threads have begun all parts before the task waits.
class Countdown {
 public:
  void start(int count) { left_.store(count, std::memory_order_relaxed); }
  void finish_one() {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) left_.notify_all();
  }
  void wait() const {
    for (int left; (left = left_.load(std::memory_order_acquire)) > 0;)
      left_.wait(left, std::memory_order_acquire);
  }

 private:
  std::atomic<int> left_ = 0;
};

// A scale, and where its results are stored. The layout of the blocks is [row][number][col]: within a row of blocks,
// number k of all blocks is one plane.
struct Scale {
  const Level *level;
  std::vector<std::int32_t> taps_x{}, taps_y{};  // empty if the scale has the picture's size
  BlockOutput output{};
  float *scores = nullptr;
  std::size_t before = 0;     // its blocks overwrite blocks of scales below this index
  Parts windows{}, blocks{};  // the windows to search, and the blocks that they need
};

// A task of a thread: some blocks of a scale or, if `scores`, the scores of some windows. part: the rectangle of blocks
// or windows.
struct Task {
  std::size_t scale;
  bool scores;
  Region part;
};

struct Progress {
  Countdown blocks, scores;
};

class HogDetectorCpu final : public HogDetector {
 public:
  HogDetectorCpu(const Execution &execution, Size size, int channels, const HogModel &model,
                 const HogSearch &search)
      : workers_(execution.workers),
        size_(size),
        channels_(channels),
        plan_(make_detection_plan(size, model, search)),
        planes_(size, channels),
        rows_(plan_.params),
        weights_(model.weights),
        bias_(model.bias),
        progress_(plan_.levels.size()),
        scratch_([this] { return make_scratch(); }) {
    for (const Level &level : plan_.levels) {
      scales_.push_back({.level = &level});
      if (level.size == size) continue;
      scales_.back().taps_x = resize_taps(size.width, level.size.width);
      scales_.back().taps_x.resize(scales_.back().taps_x.size() + kRowPadding);
      scales_.back().taps_y = resize_taps(size.height, level.size.height);
    }
    place_blocks();
    place_scores();
    scratch_.fit(*workers_);
    list_tasks(Places());
  }

  Status run(const HogPicture &picture, const HogThresholds &thresholds, const HogBoxList &list,
             const Places &places) override {
    CUDAVISION_TRY(check_run(picture, size_, channels_));
    CUDAVISION_TRY(check_places(places, size_));
    *list.count = {};
    if (places.count == 0) return {};
    scratch_.fit(*workers_);
    list_tasks(places);
    BytePlanes planes;
    CUDAVISION_TRY(planes_.take(*workers_, picture, &planes));
    for (std::size_t i = 0; i < scales_.size(); ++i) {
      progress_[i].blocks.start(static_cast<int>(scales_[i].blocks.parts().size()));
      progress_[i].scores.start(static_cast<int>(scales_[i].windows.parts().size()));
    }
    CUDAVISION_TRY(workers_->run(static_cast<int>(tasks_.size()), [&](int task, int slot) {
      do_task(tasks_[static_cast<std::size_t>(task)], planes, scratch_[slot]);
    }));
    const int hit_count = collect(thresholds.hit);
    std::vector<HogBox> boxes = thresholds.list_all_hits() ? hits_
                                : thresholds.grouping == HogGrouping::mean
                                    ? group_hits(hits_, thresholds.group)
                                    : best_hits(hits_, thresholds);
    std::transform(boxes.begin(), boxes.end(), list.boxes,
                   [&](const HogBox &box) { return cut_box(thresholds.part_of_box(), size_, box); });
    *list.count = {static_cast<int>(boxes.size()), hit_count};
    return {};
  }

 private:
  struct Scratch {
    BlockScratch blocks;
    Array<float> scores;
  };

  Scratch make_scratch() const {
    return {BlockScratch(rows_.rules(), largest_size()), Array<float>(longest_ + 2 * kRowPadding)};
  }

  // The size of the largest picture: the first scale's, if that is enlarged.
  Size largest_size() const {
    if (plan_.levels.empty()) return size_;
    const Size first = plan_.levels[0].size;
    return {std::max(size_.width, first.width), std::max(size_.height, first.height)};
  }

  static std::ptrdiff_t plane_stride_of(const Level &level) {
    return divide_up(level.blocks.cols, kRowPadding) * kRowPadding;
  }
  static std::ptrdiff_t window_count(const Level &level) {
    return static_cast<std::ptrdiff_t>(level.windows.width) * level.windows.height;
  }
  static std::size_t block_numbers(const Level &level) {
    return static_cast<std::size_t>(plane_stride_of(level)) * static_cast<std::size_t>(level.blocks.length) *
           static_cast<std::size_t>(level.blocks.rows);
  }

  // Assigns memory to the blocks of each scale: the scales use blocks_ in turn, and begin again when it is full.
  void place_blocks() {
    std::size_t most = 0, all = 0;
    for (const Level &level : plan_.levels) {
      most = std::max(most, block_numbers(level)), all += block_numbers(level);
      longest_ = std::max(longest_, static_cast<std::size_t>(level.blocks.cols));
    }
    const std::size_t memory = std::min(all, kScalesInMemory * most);
    blocks_.resize(memory + kRowPadding);
    std::vector<std::size_t> begins, ends;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < scales_.size(); ++i) {
      const Level &level = *scales_[i].level;
      if (begin + block_numbers(level) > memory) begin = 0;
      const std::size_t end = begin + block_numbers(level);
      for (std::size_t j = 0; j < i; ++j)
        if (begins[j] < end && begin < ends[j]) scales_[i].before = j + 1;
      scales_[i].output = {.data = blocks_.data() + begin,
                           .row_stride = plane_stride_of(level) * level.blocks.length,
                           .col_stride = 1,
                           .number_stride = plane_stride_of(level)};
      begins.push_back(begin), ends.push_back(end);
      begin = end;
    }
  }

  void place_scores() {
    std::ptrdiff_t windows = 0;
    for (const Level &level : plan_.levels) windows += window_count(level);
    scores_.resize(static_cast<std::size_t>(windows));
    float *scores = scores_.data();
    for (Scale &scale : scales_) {
      scale.scores = scores;
      scores += window_count(*scale.level);
    }
  }

  // Lists the tasks that search these places. The list for a search everywhere is kept: each picture has the same one.
  void list_tasks(const Places &places) {
    if (places.everywhere() && listed_everywhere_ && listed_for_ == workers_->thread_count()) return;
    listed_everywhere_ = false;  // until the list is complete: an allocation may throw
    listed_for_ = workers_->thread_count();
    for (Scale &scale : scales_) choose_parts(places, &scale);
    list_tasks(static_cast<std::size_t>(listed_for_ - 1));
    listed_everywhere_ = places.everywhere();
  }

  // Chooses the windows of a scale that are searched, and the blocks that they need. Sets all scores to NaN, which
  // reaches no threshold: windows that are not searched keep it.
  void choose_parts(const Places &places, Scale *scale) {
    const Level &level = *scale->level;
    scale->windows.begin(), scale->blocks.begin();
    const auto add = [&](const Region &windows) {
      if (is_empty(windows)) return;
      scale->windows.add(windows), scale->blocks.add(blocks_of_windows(plan_.grid, windows));
    };
    if (places.everywhere()) add({0, 0, level.windows.width, level.windows.height});
    for (int i = 0; i < places.count; ++i)
      add(windows_of_region(level.scale, plan_.window, plan_.win_stride, level.windows, places.region[i]));
    scale->windows.end(kWindowRowsPerTask), scale->blocks.end(kBlockRowsPerTask);
    std::fill_n(scale->scores, window_count(level), std::numeric_limits<float>::quiet_NaN());
  }

  // Lists all tasks: if possible, the scores of a scale at least `distance` tasks after its blocks, so that no other
  // thread still computes these blocks when the scores are begun. A task waits only for earlier tasks of the list.
  void list_tasks(std::size_t distance) {
    tasks_.clear(), blocks_end_.clear();
    std::size_t scored = 0;
    const auto score_next = [&] {
      for (const Region &part : scales_[scored].windows.parts()) tasks_.push_back({scored, true, part});
      ++scored;
    };
    for (std::size_t i = 0; i < scales_.size(); ++i) {
      while (scored < i && (scored < scales_[i].before || tasks_.size() >= blocks_end_[scored] + distance))
        score_next();
      for (const Region &part : scales_[i].blocks.parts()) tasks_.push_back({i, false, part});
      blocks_end_.push_back(tasks_.size());
    }
    while (scored < scales_.size()) score_next();
  }

  void do_task(const Task &task, const BytePlanes &planes, Scratch &scratch) {
    const Scale &scale = scales_[task.scale];
    Progress &progress = progress_[task.scale];
    const Region &part = task.part;
    if (task.scores) {
      progress.blocks.wait();
      for (int row = part.y; row < part.y + part.height; ++row)
        score_row(scale, row, part.x, part.width, scratch.scores.data());
      progress.scores.finish_one();
      return;
    }
    for (std::size_t i = 0; i < scale.before; ++i) progress_[i].scores.wait();
    const bool is_scaled = !scale.taps_x.empty();
    const ScaledPicture picture{planes, scale.level->size, is_scaled ? scale.taps_x.data() : nullptr,
                                is_scaled ? scale.taps_y.data() : nullptr};
    rows_.compute(picture, part, scratch.blocks, scale.output);
    progress.blocks.finish_one();
  }

  // Computes the scores of `count` windows of a row, from column `first` on: first a score at every position of the
  // grid, of which then those are kept where a window begins. scores: scratch memory.
  void score_row(const Scale &scale, int row, int first, int count, float *scores) {
    const GridSteps &grid = plan_.grid;
    const int positions = (count - 1) * grid.window_step.width + 1, length = scale.level->blocks.length;
    std::fill_n(scores, positions, bias_);
    for (int j = 0; j < grid.blocks_per_window.height; ++j) {
      const int block_row = row * grid.window_step.height + j * grid.block_step.height;
      add_products(
          {.planes = scale.output.data + block_row * scale.output.row_stride + first * grid.window_step.width,
           .plane_stride = scale.output.number_stride,
           .col_step = grid.block_step.width,
           .weights = weights_.data() + static_cast<std::ptrdiff_t>(j) * length,
           .weight_stride = static_cast<std::ptrdiff_t>(grid.blocks_per_window.height) * length,
           .cols = grid.blocks_per_window.width,
           .length = length},
          positions, scores);
    }
    float *out = scale.scores + static_cast<std::ptrdiff_t>(row) * scale.level->windows.width + first;
    for (int x = 0; x < count; ++x) out[x] = scores[x * grid.window_step.width];
  }

  // Puts the hits into hits_, up to kMaxHogHits. Returns the number of all hits.
  int collect(double threshold) {
    int count = 0;
    hits_.clear();
    for (const Scale &scale : scales_) {
      const Size windows = scale.level->windows;
      for (int row = 0; row < windows.height; ++row) {
        const float *scores = scale.scores + static_cast<std::ptrdiff_t>(row) * windows.width;
        const auto hits = std::count_if(scores, scores + windows.width,
                                        [threshold](float score) { return score >= threshold; });
        count += static_cast<int>(hits);
        if (hits == 0) continue;
        for (int col = 0; col < windows.width && hits_.size() < kMaxHogHits; ++col)
          if (scores[col] >= threshold)
            hits_.push_back(
                box_of_window(scale.level->scale, plan_.window, plan_.win_stride, col, row, scores[col]));
      }
    }
    return count;
  }

  const Workers *workers_;
  Size size_;
  int channels_;
  DetectionPlan plan_;
  PlaneSplitter planes_;
  BlockRows rows_;
  std::vector<float> weights_;
  float bias_;
  std::vector<Scale> scales_;
  std::vector<Task> tasks_;
  std::vector<std::size_t> blocks_end_;  // for each scale, the end of its blocks in tasks_
  int listed_for_ = 0;                   // the number of threads that tasks_ is made for
  bool listed_everywhere_ = false;
  std::vector<Progress> progress_;  // of each scale
  Array<float> blocks_, scores_;
  std::size_t longest_ = 0;  // the largest number of columns of blocks of a scale
  PerThread<Scratch> scratch_;
  std::vector<HogBox> hits_;
};

}  // namespace

Status make_hog_detector_cpu(const Execution &execution, Size size, int channels, const HogModel &model,
                             const HogSearch &search, std::unique_ptr<HogDetector> *detector) {
  return make_as<HogDetectorCpu>(detector, execution, size, channels, model, search);
}

}  // namespace cudavision::hog
