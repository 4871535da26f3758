// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of optical flow. Levels are processed one after the other; the threads share the rows
// of a level, or the tiles of its vectors.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "cuda/common/memory_budget.h"
#include "cuda/common/per_thread.h"
#include "cuda/opticalflow/flow_display_rules.h"
#include "cuda/opticalflow/flow_rules.h"
#include "cuda/opticalflow/flow_simd.h"
#include "cuda/opticalflow/opticalflow_backends.h"
#include "cuda/opticalflow/padded_image_cpu.h"

namespace cudavision::opticalflow {
namespace {

constexpr int kRowsPerTask = 16;

// The levels of a frame, with memory for all of them; only the first ones may hold pixels.
using Pyramid = std::vector<PaddedImage<std::uint8_t>>;

// Fills the padding left and right of rows [first, last) by mirroring.
void mirror_columns(PaddedImage<std::uint8_t> &image, int first, int last) {
  const ImageView<std::uint8_t> view = image.view();
  int left[PaddedImage<std::uint8_t>::kColumns + 1], right[PaddedImage<std::uint8_t>::kColumns + 1];
  for (int i = 1; i <= image.kColumns; ++i) {
    left[i] = mirror_index(-i, view.width);
    right[i] = mirror_index(view.width - 1 + i, view.width);
  }
  for (int y = first; y < last; ++y) {
    std::uint8_t *row = view.row(y);
    for (int i = 1; i <= image.kColumns; ++i) row[-i] = row[left[i]], row[view.width - 1 + i] = row[right[i]];
  }
}

// Fills the padding above and below by mirroring whole rows, which are already padded left and right.
void mirror_rows(PaddedImage<std::uint8_t> &image) {
  const ImageView<std::uint8_t> view = image.view();
  const auto copy = [&](int y) {
    std::memcpy(view.row(y) - image.kColumns, view.row(mirror_index(y, view.height)) - image.kColumns,
                static_cast<std::size_t>(view.width + 2 * image.kColumns));
  };
  for (int i = 1; i <= image.kRows; ++i) copy(-i), copy(view.height - 1 + i);
}

// The vectors of one level in host memory.
struct HostField {
  Array<FlowVector> vectors;

  Field of(Size level, int stride) {
    const Size size = flow_size(level, stride);
    return {{vectors.data(), size.width * static_cast<std::ptrdiff_t>(sizeof(FlowVector)), size.width,
             size.height},
            level,
            stride};
  }
};

std::size_t pixel_count(Size size) {
  return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
}

class OpticalFlowCpu final : public OpticalFlow {
 public:
  OpticalFlowCpu(const Execution &execution, Size size)
      : execution_(execution),
        sums_([width = size.width] { return ColumnSums(width); }),
        tiles_([] { return TrackerTile(); }) {
    fit_to_threads();
    for (int level = 0, last = max_level_count(size); level <= last; ++level, size = next_level(size)) {
      for (Pyramid &pyramid : pyramids_) pyramid.emplace_back(size);
      dx_.emplace_back(size), dy_.emplace_back(size);
      fields_.emplace_back();
      if (level > 0) fields_.back().vectors.resize(pixel_count(size));
    }
  }

  Status run(ImageView<const std::uint8_t> luma, const OpticalFlowParams &params, ImageView<FlowVector> flow,
             ImageView<std::uint8_t> valid, const Places &places) override {
    CUDAVISION_TRY(check_run(luma.size(), flow.size(), valid.size(), size(), has_previous(), params, places));
    if (has_previous() && params.forward_backward > 0)
      CUDAVISION_TRY(catch_bad_alloc([&] {
        back_.vectors.resize(pixel_count(size()));
        return Status();
      }));
    fit_to_threads();
    const int levels = level_count(size(), params);
    std::swap(pyramids_[0], pyramids_[1]);
    CUDAVISION_TRY(copy(luma, pyramids_[1][0]));
    CUDAVISION_TRY(build(pyramids_[1], 0, levels));
    if (has_previous()) {
      CUDAVISION_TRY(build(pyramids_[0], built_levels_, levels));
      const Field fine{flow, size(), params.stride};
      CUDAVISION_TRY(estimate(pyramids_[0], pyramids_[1], levels, params, places, fine, valid));
      if (!places.everywhere()) CUDAVISION_TRY(clear_others(places, fine, valid));
      if (params.forward_backward > 0) CUDAVISION_TRY(check(levels, params, fine, valid));
    }
    built_levels_ = levels;
    return {};
  }

  bool has_previous() const override { return built_levels_ >= 0; }
  void drop_previous() override { built_levels_ = -1; }

 private:
  Size size() const { return pyramids_[0][0].size(); }

  void fit_to_threads() {
    sums_.fit(*execution_.workers);
    tiles_.fit(*execution_.workers);
  }

  Status copy(ImageView<const std::uint8_t> luma, PaddedImage<std::uint8_t> &level) const {
    CUDAVISION_TRY(execution_.workers->run_strips(luma.height, kRowsPerTask, [&](int first, int last, int) {
      for (int y = first; y < last; ++y) std::copy_n(luma.row(y), luma.width, level.view().row(y));
      mirror_columns(level, first, last);
    }));
    mirror_rows(level);
    return {};
  }

  // Computes levels from + 1 to `levels` of a pyramid.
  Status build(Pyramid &pyramid, int from, int levels) const {
    for (int level = from; level < levels; ++level) {
      const auto index = static_cast<std::size_t>(level);
      PaddedImage<std::uint8_t> &next = pyramid[index + 1];
      CUDAVISION_TRY(
          execution_.workers->run_strips(next.size().height, kRowsPerTask, [&](int first, int last, int) {
            shrink_rows(std::as_const(pyramid[index]).view(), first, last, next.view());
            mirror_columns(next, first, last);
          }));
      mirror_rows(next);
    }
    return {};
  }

  // Computes the flow from one pyramid to the other into `fine`. `valid` may be empty. Vectors outside of the places
  // are not specified.
  Status estimate(const Pyramid &from, const Pyramid &to, int levels, const OpticalFlowParams &params,
                  const Places &places, const Field &fine, ImageView<std::uint8_t> valid) {
    Field coarse{};
    for (int level = levels; level >= 0; --level) {
      const auto index = static_cast<std::size_t>(level);
      const Size size = from[index].size();
      const ImageView<const std::uint8_t> picture = from[index].view();
      CUDAVISION_TRY(execution_.workers->run_strips(size.height, kRowsPerTask, [&](int first, int last, int) {
        derive_rows(picture, first, last, dx_[index].view(), dy_[index].view());
      }));
      const Field field = level == 0 ? fine : fields_[index].of(size, stride_of_level(fine.stride, level));
      const LevelWork work{.from = picture,
                           .to = to[index].view(),
                           .dx = std::as_const(dx_[index]).view(),
                           .dy = std::as_const(dy_[index]).view(),
                           .rules = rules_of(params),
                           .coarse = coarse,
                           .fine = field,
                           .valid = level == 0 ? valid : ImageView<std::uint8_t>{},
                           .places = places_on_level(places, fine.size, fine.stride, level)};
      CUDAVISION_TRY(track(work));
      coarse = field;
    }
    return {};
  }

  Status track(const LevelWork &work) {
    const Size size = work.fine.vectors.size();
    const int columns = divide_up(size.width, TrackerTile::kWidth);
    return execution_.workers->run(
        columns * divide_up(size.height, TrackerTile::kHeight), [&](int task, int slot) {
          const Region tile{task % columns * TrackerTile::kWidth, task / columns * TrackerTile::kHeight,
                            TrackerTile::kWidth, TrackerTile::kHeight};
          if (work.places.meet(pixels_of(tile, work.fine.stride)))
            track_tile(work, tile.x, tile.y, sums_[slot], tiles_[slot]);
        });
  }

  Status clear_others(const Places &places, const Field &fine, ImageView<std::uint8_t> valid) const {
    return execution_.workers->run_strips(valid.height, kRowsPerTask, [&](int first, int last, int) {
      for (int y = first; y < last; ++y)
        for (int x = 0; x < valid.width; ++x)
          if (!places.contain(x * fine.stride, y * fine.stride))
            fine.vectors.row(y)[x] = {}, valid.row(y)[x] = 0;
    });
  }

  Status check(int levels, const OpticalFlowParams &params, const Field &fine,
               ImageView<std::uint8_t> valid) {
    const Field back = back_.of(size(), 1);
    CUDAVISION_TRY(estimate(pyramids_[1], pyramids_[0], levels, params, {}, back, {}));
    const auto distance = static_cast<float>(params.forward_backward);
    return execution_.workers->run_strips(valid.height, kRowsPerTask, [&](int first, int last, int) {
      for (int y = first; y < last; ++y)
        for (int x = 0; x < valid.width; ++x)
          if (!comes_back(x * fine.stride, y * fine.stride, fine.vectors.row(y)[x], back.vectors, distance))
            valid.row(y)[x] = 0;
    });
  }

  Execution execution_;
  Pyramid pyramids_[2];  // [0] of the previous frame, [1] of the current frame
  // Between calls of run(): the levels above the frame that pyramids_[1] has; -1 if there is no previous frame.
  int built_levels_ = -1;
  std::vector<PaddedImage<std::int16_t>> dx_, dy_;  // derivatives of each level; the padding stays zero
  std::vector<HostField> fields_;  // the flow of each level; that of level 0 is not stored here
  HostField back_;                 // the backward flow, for the forward-backward check
  PerThread<ColumnSums> sums_;
  PerThread<TrackerTile> tiles_;
};

}  // namespace

Status make_opticalflow_cpu(const Execution &execution, Size size, std::unique_ptr<OpticalFlow> *flow) {
  return make_as<OpticalFlowCpu>(flow, execution, size);
}

namespace {

constexpr int kCellRowsPerTask = 16;

}  // namespace

Status draw_flow_wheel_cpu(const Execution &execution, const Frame &frame, const FlowOnFrame &flow,
                           const FlowWheel &wheel) {
  const Size cells = wheel_cells(frame, flow.region);
  return execution.workers->run_rows(cells.height, kCellRowsPerTask, [&](int y, int) {
    for (int x = 0; x < cells.width; ++x) paint_cell(frame, flow, wheel, x, y);
  });
}

Status make_flow_arrows_cpu(const Execution &, const FlowOnFrame &flow, const FlowArrows &arrows,
                            Primitive *primitives) {
  const int count = arrow_line_count({flow.region.width, flow.region.height});
  for (int i = 0; i < count; ++i) primitives[i] = arrow_primitive(flow, arrows, i);
  return {};
}

}  // namespace cudavision::opticalflow
