// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of the detector. It processes one scale after the other, so that the blocks of a scale stay
// in the caches, and the rows of a scale in parallel.
#include <algorithm>
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

constexpr int kResizeRowsPerTask = 32, kBlockRowsPerTask = 8, kWindowRowsPerTask = 4;

// The scale that is being processed. Its blocks are planar, [row][number][col]: within a row of blocks,
// number k of all blocks is one plane.
struct LevelWork {
  const Level *level;
  BytePlanes picture;
  std::ptrdiff_t plane_stride;  // elements from one plane to the next
  BlockOutput output;
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
        downscaled_(size, channels),
        rows_(plan_.params),
        weights_(model.weights),
        bias_(model.bias),
        scratch_([this] { return make_scratch(); }) {
    std::size_t blocks = 0, windows = 0;
    int longest = 0;
    for (const Level &level : plan_.levels) {
      blocks = std::max(blocks, static_cast<std::size_t>(plane_stride_of(level)) *
                                    static_cast<std::size_t>(level.blocks.length) *
                                    static_cast<std::size_t>(level.blocks.rows));
      windows = std::max(windows, static_cast<std::size_t>(level.windows.width) *
                                      static_cast<std::size_t>(level.windows.height));
      longest = std::max(longest, level.blocks.cols);
      taps_x_.push_back(resize_taps(size.width, level.size.width));
      taps_y_.push_back(resize_taps(size.height, level.size.height));
      taps_x_.back().resize(taps_x_.back().size() + kRowPadding);
    }
    blocks_.resize(blocks + kRowPadding);
    scores_.resize(windows);
    longest_ = static_cast<std::size_t>(longest);
    scratch_.fit(*workers_);
  }

  Status run(const HogPicture &picture, const HogThresholds &thresholds, const HogBoxList &list) override {
    CUDAVISION_TRY(check_run(picture, size_, channels_));
    scratch_.fit(*workers_);
    hits_.clear();
    int hit_count = 0;
    BytePlanes planes;
    CUDAVISION_TRY(planes_.take(*workers_, picture, &planes));
    for (std::size_t i = 0; i < plan_.levels.size(); ++i) {
      LevelWork work{&plan_.levels[i], planes, plane_stride_of(plan_.levels[i]), {}};
      work.output = {.data = blocks_.data(),
                     .row_stride = work.plane_stride * work.level->blocks.length,
                     .col_stride = 1,
                     .number_stride = work.plane_stride};
      if (work.level->size != size_) CUDAVISION_TRY(downscale(planes, i, &work));
      CUDAVISION_TRY(compute_blocks(work));
      CUDAVISION_TRY(compute_scores(work));
      hit_count += collect(*work.level, thresholds.hit);
    }
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
    Array<std::uint16_t> columns;
  };

  Scratch make_scratch() const {
    const std::size_t padding = 2 * kRowPadding;
    return {BlockScratch(rows_.rules(), size_), Array<float>(longest_ + padding),
            Array<std::uint16_t>(static_cast<std::size_t>(size_.width) + padding)};
  }

  static std::ptrdiff_t plane_stride_of(const Level &level) {
    return divide_up(level.blocks.cols, kRowPadding) * kRowPadding;
  }

  // Downscales the planes to level i.
  Status downscale(const BytePlanes &planes, std::size_t i, LevelWork *work) {
    const Size size = work->level->size;
    work->picture = downscaled_.view(size);
    return workers_->run(divide_up(size.height, kResizeRowsPerTask), [&](int task, int slot) {
      const int first = task * kResizeRowsPerTask, end = std::min(first + kResizeRowsPerTask, size.height);
      std::uint16_t *columns = scratch_[slot].columns.data();
      for (int c = 0; c < planes.count; ++c)
        for (int y = first; y < end; ++y) {
          const std::int32_t tap = taps_y_[i][static_cast<std::size_t>(y)];
          const int above = first_of_tap(tap), below = std::min(above + 1, size_.height - 1);
          resize_row(planes.plane[c].row(above), planes.plane[c].row(below), weight_of_tap(tap), size_.width,
                     taps_x_[i].data(), size.width, columns, downscaled_.row(c, y));
        }
    });
  }

  Status compute_blocks(const LevelWork &work) {
    const HogShape &shape = work.level->blocks;
    return workers_->run(divide_up(shape.rows, kBlockRowsPerTask), [&](int task, int slot) {
      const int first = task * kBlockRowsPerTask;
      rows_.compute(work.picture, shape, first, std::min(first + kBlockRowsPerTask, shape.rows),
                    scratch_[slot].blocks, work.output);
    });
  }

  Status compute_scores(const LevelWork &work) {
    const Size windows = work.level->windows;
    return workers_->run(divide_up(windows.height, kWindowRowsPerTask), [&](int task, int slot) {
      const int first = task * kWindowRowsPerTask;
      Array<float> &scores = scratch_[slot].scores;
      for (int row = first; row < std::min(first + kWindowRowsPerTask, windows.height); ++row)
        score_row(work, row, scores.data());
    });
  }

  // Computes the scores of a row of windows: first at every position of the grid, then it keeps those where a
  // window begins.
  void score_row(const LevelWork &work, int row, float *scores) {
    const int positions = (work.level->windows.width - 1) * plan_.window_step.width + 1;
    const int length = work.level->blocks.length;
    std::fill_n(scores, positions, bias_);
    for (int j = 0; j < plan_.blocks_per_window.height; ++j) {
      const int block_row = row * plan_.window_step.height + j * plan_.block_step.height;
      add_products({.planes = blocks_.data() + block_row * work.output.row_stride,
                    .plane_stride = work.plane_stride,
                    .col_step = plan_.block_step.width,
                    .weights = weights_.data() + static_cast<std::ptrdiff_t>(j) * length,
                    .weight_stride = static_cast<std::ptrdiff_t>(plan_.blocks_per_window.height) * length,
                    .cols = plan_.blocks_per_window.width,
                    .length = length},
                   positions, scores);
    }
    float *out = scores_.data() + static_cast<std::ptrdiff_t>(row) * work.level->windows.width;
    for (int x = 0; x < work.level->windows.width; ++x) out[x] = scores[x * plan_.window_step.width];
  }

  // Appends the hits of the level to hits_, up to kMaxHogHits in total. Returns the number of hits of the
  // level.
  int collect(const Level &level, double threshold) {
    int count = 0;
    const float *score = scores_.data();
    for (int row = 0; row < level.windows.height; ++row)
      for (int col = 0; col < level.windows.width; ++col, ++score)
        if (*score >= threshold) {
          ++count;
          if (hits_.size() < kMaxHogHits)
            hits_.push_back(box_of_window(level.scale, plan_.window, plan_.win_stride, col, row, *score));
        }
    return count;
  }

  const Workers *workers_;
  Size size_;
  int channels_;
  DetectionPlan plan_;
  PlaneSplitter planes_;
  OwnedPlanes downscaled_;
  std::vector<std::vector<std::int32_t>> taps_x_, taps_y_;  // for each scale
  BlockRows rows_;
  std::vector<float> weights_;
  float bias_;
  Array<float> blocks_, scores_;  // of the scale that is being processed
  std::size_t longest_ = 0;       // columns of blocks of a scale
  PerThread<Scratch> scratch_;
  std::vector<HogBox> hits_;
};

}  // namespace

Status make_hog_detector_cpu(const Execution &execution, Size size, int channels, const HogModel &model,
                             const HogSearch &search, std::unique_ptr<HogDetector> *detector) {
  return make_as<HogDetectorCpu>(detector, execution, size, channels, model, search);
}

}  // namespace cudavision::hog
