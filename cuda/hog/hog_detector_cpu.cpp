// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of the detector. The threads share the rows of all scales in one loop, so that none waits at the end of
// a scale for the others. The blocks of a few scales are in memory at a time.
#include <algorithm>
#include <atomic>
#include <vector>

#include "cuda/common/memory_budget.h"
#include "cuda/common/per_thread.h"
#include "cuda/hog/blocks_cpu.h"
#include "cuda/hog/hit_groups_cpu.h"
#include "cuda/hog/hog_backends.h"
#include "cuda/hog/hog_detector_backends.h"
#include "cuda/hog/hog_detector_plan.h"
#include "cuda/hog/hog_detector_rules.h"
#include "cuda/hog/planes_cpu.h"

namespace cudavision::hog {
namespace {

constexpr int kBlockRowsPerTask = 16, kWindowRowsPerTask = 8;
constexpr std::size_t kScalesInMemory = 3;  // of the largest ones

// What is left to do of something that other tasks wait for. They sleep: it has begun, and takes less than a
// millisecond.
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

// A scale, and where its results lie. Its blocks are planar, [row][number][col]: within a row of blocks, number k of all
// blocks is one plane.
struct Scale {
  const Level *level;
  std::vector<std::int32_t> taps_x{}, taps_y{};  // empty for the size of the picture
  BlockOutput output{};
  float *scores = nullptr;
  int *row_hits = nullptr;  // hits in each row of windows
  int before = 0;           // its blocks overwrite those of scales before this one
};

// Some rows of a scale: their blocks, or the scores of their windows.
struct Task {
  int scale;
  bool scores;
  int first;
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
    fit_to_threads();
  }

  Status run(const HogPicture &picture, const HogThresholds &thresholds, const HogBoxList &list) override {
    CUDAVISION_TRY(check_run(picture, size_, channels_));
    fit_to_threads();
    BytePlanes planes;
    CUDAVISION_TRY(planes_.take(*workers_, picture, &planes));
    for (std::size_t i = 0; i < scales_.size(); ++i) {
      progress_[i].blocks.start(divide_up(scales_[i].level->blocks.rows, kBlockRowsPerTask));
      progress_[i].scores.start(divide_up(scales_[i].level->windows.height, kWindowRowsPerTask));
    }
    CUDAVISION_TRY(workers_->run(static_cast<int>(tasks_.size()), [&](int task, int slot) {
      do_task(tasks_[static_cast<std::size_t>(task)], planes, thresholds.hit, scratch_[slot]);
    }));
    const int hit_count = collect(thresholds.hit);
    std::vector<HogBox> boxes = thresholds.group > 0 ? group_hits(hits_, thresholds.group) : hits_;
    std::erase_if(boxes, [this](HogBox &box) { return !clip_box(size_, &box); });
    std::copy(boxes.begin(), boxes.end(), list.boxes);
    *list.count = {static_cast<int>(boxes.size()), hit_count};
    return {};
  }

 private:
  struct Scratch {
    BlockScratch blocks;
    Array<float> scores;
  };

  Scratch make_scratch() const {
    return {BlockScratch(rows_.rules(), size_), Array<float>(longest_ + 2 * kRowPadding)};
  }

  static std::ptrdiff_t plane_stride_of(const Level &level) {
    return divide_up(level.blocks.cols, kRowPadding) * kRowPadding;
  }
  static std::size_t block_numbers(const Level &level) {
    return static_cast<std::size_t>(plane_stride_of(level)) * static_cast<std::size_t>(level.blocks.length) *
           static_cast<std::size_t>(level.blocks.rows);
  }

  // The scales use the memory of the blocks in turn, from its beginning again when the end is reached.
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
        if (begins[j] < end && begin < ends[j]) scales_[i].before = static_cast<int>(j) + 1;
      scales_[i].output = {.data = blocks_.data() + begin,
                           .row_stride = plane_stride_of(level) * level.blocks.length,
                           .col_stride = 1,
                           .number_stride = plane_stride_of(level)};
      begins.push_back(begin), ends.push_back(end);
      begin = end;
    }
  }

  void place_scores() {
    std::size_t windows = 0, rows = 0;
    for (const Level &level : plan_.levels) {
      windows +=
          static_cast<std::size_t>(level.windows.width) * static_cast<std::size_t>(level.windows.height);
      rows += static_cast<std::size_t>(level.windows.height);
    }
    scores_.resize(windows);
    row_hits_.resize(rows);
    float *scores = scores_.data();
    int *row_hits = row_hits_.data();
    for (Scale &scale : scales_) {
      scale.scores = scores, scale.row_hits = row_hits;
      scores += static_cast<std::ptrdiff_t>(scale.level->windows.width) * scale.level->windows.height;
      row_hits += scale.level->windows.height;
    }
  }

  void fit_to_threads() {
    scratch_.fit(*workers_);
    if (listed_for_ == workers_->thread_count()) return;
    listed_for_ = workers_->thread_count();
    list_tasks(static_cast<std::size_t>(listed_for_ - 1));
  }

  // Lists the scores of a scale at least `distance` tasks after its blocks: when their turn comes, no other thread still
  // computes these blocks. Whatever a task waits for is listed before it.
  void list_tasks(std::size_t distance) {
    tasks_.clear();
    const int count = static_cast<int>(scales_.size());
    std::vector<std::size_t> blocks_end;
    int scored = 0;
    const auto score_next = [&] {
      const int rows = plan_.levels[static_cast<std::size_t>(scored)].windows.height;
      for (int row = 0; row < rows; row += kWindowRowsPerTask) tasks_.push_back({scored, true, row});
      ++scored;
    };
    for (int i = 0; i < count; ++i) {
      const auto index = static_cast<std::size_t>(i);
      while (scored < i && (scored < scales_[index].before ||
                            tasks_.size() >= blocks_end[static_cast<std::size_t>(scored)] + distance))
        score_next();
      for (int row = 0; row < plan_.levels[index].blocks.rows; row += kBlockRowsPerTask)
        tasks_.push_back({i, false, row});
      blocks_end.push_back(tasks_.size());
    }
    while (scored < count) score_next();
  }

  void do_task(const Task &task, const BytePlanes &planes, double threshold, Scratch &scratch) {
    const Scale &scale = scales_[static_cast<std::size_t>(task.scale)];
    Progress &progress = progress_[static_cast<std::size_t>(task.scale)];
    if (task.scores) {
      progress.blocks.wait();
      const int end = std::min(task.first + kWindowRowsPerTask, scale.level->windows.height);
      for (int row = task.first; row < end; ++row) score_row(scale, row, threshold, scratch.scores.data());
      progress.scores.finish_one();
      return;
    }
    for (int i = 0; i < scale.before; ++i) progress_[static_cast<std::size_t>(i)].scores.wait();
    const bool downscaled = !scale.taps_x.empty();
    const ScaledPicture picture{planes, scale.level->size, downscaled ? scale.taps_x.data() : nullptr,
                                downscaled ? scale.taps_y.data() : nullptr};
    const HogShape &shape = scale.level->blocks;
    rows_.compute(picture, shape, task.first, std::min(task.first + kBlockRowsPerTask, shape.rows),
                  scratch.blocks, scale.output);
    progress.blocks.finish_one();
  }

  // Computes the scores of a row of windows: first at every position of the grid, then it keeps those where a
  // window begins.
  void score_row(const Scale &scale, int row, double threshold, float *scores) {
    const int windows = scale.level->windows.width, length = scale.level->blocks.length;
    const int positions = (windows - 1) * plan_.window_step.width + 1;
    std::fill_n(scores, positions, bias_);
    for (int j = 0; j < plan_.blocks_per_window.height; ++j) {
      const int block_row = row * plan_.window_step.height + j * plan_.block_step.height;
      add_products({.planes = scale.output.data + block_row * scale.output.row_stride,
                    .plane_stride = scale.output.number_stride,
                    .col_step = plan_.block_step.width,
                    .weights = weights_.data() + static_cast<std::ptrdiff_t>(j) * length,
                    .weight_stride = static_cast<std::ptrdiff_t>(plan_.blocks_per_window.height) * length,
                    .cols = plan_.blocks_per_window.width,
                    .length = length},
                   positions, scores);
    }
    float *out = scale.scores + static_cast<std::ptrdiff_t>(row) * windows;
    for (int x = 0; x < windows; ++x) out[x] = scores[x * plan_.window_step.width];
    scale.row_hits[row] = static_cast<int>(
        std::count_if(out, out + windows, [threshold](float score) { return score >= threshold; }));
  }

  // Puts the hits into hits_, up to kMaxHogHits. Returns the number of all hits.
  int collect(double threshold) {
    int count = 0;
    hits_.clear();
    for (const Scale &scale : scales_) {
      const Size windows = scale.level->windows;
      for (int row = 0; row < windows.height; ++row) {
        count += scale.row_hits[row];
        if (scale.row_hits[row] == 0) continue;
        const float *scores = scale.scores + static_cast<std::ptrdiff_t>(row) * windows.width;
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
  int listed_for_ = 0;              // threads
  std::vector<Progress> progress_;  // of each scale
  Array<float> blocks_, scores_;
  Array<int> row_hits_;
  std::size_t longest_ = 0;  // columns of blocks of a scale
  PerThread<Scratch> scratch_;
  std::vector<HogBox> hits_;
};

}  // namespace

Status make_hog_detector_cpu(const Execution &execution, Size size, int channels, const HogModel &model,
                             const HogSearch &search, std::unique_ptr<HogDetector> *detector) {
  return make_as<HogDetectorCpu>(detector, execution, size, channels, model, search);
}

}  // namespace cudavision::hog
