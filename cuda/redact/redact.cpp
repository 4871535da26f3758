// SPDX-License-Identifier: LGPL-2.1-or-later
// Redaction (hiding parts of a frame): validation, the division of boxes into cells, and the order of the steps.
#include "cuda/redact/redact.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cuda/common/backends.h"
#include "cuda/common/check_range.h"
#include "cuda/common/owned_memory.h"
#include "cuda/gaussian/gaussian.h"
#include "cuda/redact/redact_backends.h"

namespace cudavision {
namespace redact {
namespace {

int rounded_up(int value, int multiple) { return divide_up(value, multiple) * multiple; }

// The pixels [first, first + length). grown() rounds them outwards to multiples of `grain`, and clips them to [0,
// side).
struct Interval {
  int first, length;
};
Interval grown(int first, int length, int grain, int side) {
  const int from = std::clamp(first, 0, side) / grain * grain,
            to = std::min(side, rounded_up(std::clamp(first + length, 0, side), grain));
  return {from, std::max(0, to - from)};
}

Box box_of(const Region &region, int dilation, const Task &task) {
  const Frame &frame = task.frame;
  const int grain_x = 1 << group_shift_x(task), grain_y = 1 << group_shift_y(task);
  Box box;
  box.shape = {region.x - dilation, region.y - dilation, region.width + 2 * dilation,
               region.height + 2 * dilation};
  const Interval x = grown(box.shape.x, box.shape.width, grain_x, frame.width),
                 y = grown(box.shape.y, box.shape.height, grain_y, frame.height);
  box.area = {x.first, y.first, x.length, y.length};
  return box;
}

void divide(int cells, const Task &task, int *cell_count, Box *box) {
  const int longer = std::max(box->area.width, box->area.height);
  if (box->area.width == 0 || box->area.height == 0) return;
  const int grain = std::max(1 << group_shift_x(task), 1 << group_shift_y(task));
  box->side = rounded_up(std::max(kLeastCellSide, divide_up(longer, cells)), grain);
  box->columns = divide_up(box->area.width, box->side);
  box->rows = divide_up(box->area.height, box->side);
  box->first_cell = *cell_count;
  *cell_count += box->columns * box->rows;
}

// Returns the standard deviation for blur, in samples.
double sigma_of(const RedactTargets &targets, const RedactParams &params, const Task &task) {
  if (params.strength > 0) return params.strength;
  int longest = 0;
  for (int i = 0; i < targets.box_count && !params.inverse; ++i) {
    const Region area = box_of(targets.boxes[i], params.dilation, task).area;
    if (area.width > 0 && area.height > 0) longest = std::max({longest, area.width, area.height});
  }
  if (longest == 0) longest = std::max(task.frame.width, task.frame.height);
  return std::max(1.0, 2.0 * longest / params.cells);
}

Status check(const Frame &frame, const RedactTargets &targets, const RedactParams &params,
             const ImageView<std::uint8_t> &map, Size made_for) {
  CUDAVISION_TRY(validate(params));
  CUDAVISION_TRY(check_size("frame", frame.size(), made_for));
  if (map.data != nullptr) CUDAVISION_TRY(check_size("map", map.size(), made_for));
  if (targets.always.data != nullptr) CUDAVISION_TRY(check_size("always", targets.always.size(), made_for));
  CUDAVISION_TRY(check_range("the number of boxes", targets.box_count, 0, kMostRedactBoxes));
  CUDAVISION_TRY(check_range("the number of masks", targets.mask_count, 0, kMostRedactMasks));
  for (int i = 0; i < targets.box_count; ++i) {
    const Region &box = targets.boxes[i];
    CUDAVISION_TRY(check_range("the left edge of a box", box.x, RedactRanges::edge));
    CUDAVISION_TRY(check_range("the upper edge of a box", box.y, RedactRanges::edge));
    CUDAVISION_TRY(check_range("the width of a box", box.width, 0, RedactRanges::edge.most - box.x));
    CUDAVISION_TRY(check_range("the height of a box", box.height, 0, RedactRanges::edge.most - box.y));
  }
  for (int i = 0; i < targets.mask_count; ++i)
    CUDAVISION_TRY(check_range("the step of a mask", targets.masks[i].step, 1, kMaxSide));
  return {};
}

class RedactSteps final : public Redact {
 public:
  RedactSteps(const Execution &execution, Size size) : execution_(execution), size_(size) {}

  Status run(const Frame &frame, const RedactTargets &targets, const RedactParams &params,
             ImageView<std::uint8_t> map) override {
    CUDAVISION_TRY(check(frame, targets, params, map, size_));
    const bool has_others = targets.mask_count > 0 || targets.always.data != nullptr || params.inverse;
    const bool hides = targets.box_count > 0 || has_others;
    if (!hides && map.data == nullptr) return {};
    Task task;
    task.frame = frame;
    task.limit = targets.limit.width > 0 ? targets.limit : Region{0, 0, size_.width, size_.height};
    task.ellipse = params.shape == RedactShape::ellipse;
    task.inverse = params.inverse;
    task.fields = targets.fields;
    task.always = targets.always;
    task.mode = params.mode;
    task.color = params.color;
    task.map = map;
    if (map.data == nullptr && params.inverse && execution_.backend == Backend::cpu)
      CUDAVISION_TRY(fit_pixels(&map_, &task.map));
    int cell_count = 0, most_cells = 0;
    CUDAVISION_TRY(send_boxes(targets, params, has_others, &task, &cell_count, &most_cells));
    if (targets.mask_count > 0) CUDAVISION_TRY(place_masks(targets, params.dilation, &task));
    if (hides && params.mode == RedactMode::pixelate && cell_count > 0)
      CUDAVISION_TRY(find_means(cell_count, most_cells, &task));
    if (hides && params.mode == RedactMode::blur)
      CUDAVISION_TRY(smooth(sigma_of(targets, params, task), &task));
    return run_on_backend<const Task &>(execution_, hide_cpu, CUDAVISION_IF_CUDA(hide_cuda), task);
  }

 private:
  // If `memory` is smaller than `bytes`, replaces it by at least twice its size, so that it rarely grows again.
  Status fit(std::size_t bytes, OwnedBytes *memory) const {
    return bytes <= memory->size() ? Status()
                                   : memory->allocate(execution_, std::max(bytes, 2 * memory->size()));
  }

  // Makes room for a byte per pixel, and sets *view to an image in this memory.
  Status fit_pixels(OwnedBytes *memory, ImageView<std::uint8_t> *view) const {
    CUDAVISION_TRY(
        fit(static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(size_.height), memory));
    *view = {static_cast<std::uint8_t *>(memory->data()), size_.width, size_.width, size_.height};
    return {};
  }

  // has_others: pixels may also be hidden by the cells of the whole frame.
  Status send_boxes(const RedactTargets &targets, const RedactParams &params, bool has_others, Task *task,
                    int *cell_count, int *most_cells) {
    const std::size_t count = static_cast<std::size_t>(targets.box_count) + 1, bytes = count * sizeof(Box);
    if (boxes_.size() < bytes) {
      CUDAVISION_TRY(fit(std::max(bytes, 16 * sizeof(Box)), &boxes_));
      CUDAVISION_TRY(host_boxes_.allocate(execution_, boxes_));
    }
    auto *boxes = static_cast<Box *>(host_boxes_.written());
    boxes[0] = box_of({0, 0, size_.width, size_.height}, 0, *task);
    for (std::size_t i = 1; i < count; ++i) boxes[i] = box_of(targets.boxes[i - 1], params.dilation, *task);
    if (params.mode == RedactMode::pixelate)
      for (std::size_t i = has_others ? 0 : 1; i < count; ++i) {
        divide(params.cells, *task, cell_count, &boxes[i]);
        *most_cells = std::max(*most_cells, boxes[i].columns * boxes[i].rows);
      }
    task->boxes = static_cast<const Box *>(boxes_.data());
    task->box_count = static_cast<int>(count);
    return host_boxes_.send(execution_, boxes_, bytes);
  }

  Status place_masks(const RedactTargets &targets, int dilation, Task *task) {
    MaskSet set;
    set.count = targets.mask_count;
    std::copy_n(targets.masks, set.count, set.mask);
    ImageView<std::uint8_t> placed;
    CUDAVISION_TRY(fit_pixels(&mask_, &placed));
    CUDAVISION_TRY((run_on_backend<const MaskSet &, ImageView<std::uint8_t>>(
        execution_, place_masks_cpu, CUDAVISION_IF_CUDA(place_masks_cuda), set, placed)));
    task->mask = placed;
    if (dilation == 0) return {};
    if (growth_ == nullptr) CUDAVISION_TRY(make_removal_mask(execution_, size_, &growth_));
    RemovalSources sources;
    sources.picture = placed.data;
    sources.dilation = dilation;
    return growth_->run(task->frame, sources, &task->mask);
  }

  Status find_means(int cell_count, int most_cells, Task *task) {
    CUDAVISION_TRY(fit(3 * static_cast<std::size_t>(cell_count), &means_));
    auto *means = static_cast<std::uint8_t *>(means_.data());
    task->means = means;
    return run_on_backend<const Task &, int, std::uint8_t *>(
        execution_, find_means_cpu, CUDAVISION_IF_CUDA(find_means_cuda), *task, most_cells, means);
  }

  Status smooth(double sigma, Task *task) {
    const int step = task->smooth_step = static_cast<int>(std::ceil(sigma / GaussianRanges::sigma.most));
    for (int i = 0; i < task->frame.component_count(); ++i) {
      const Component &c = task->frame.component[i];
      const Size size{((size_.width - 1) >> c.shift_x) + 1, ((size_.height - 1) >> c.shift_y) + 1};
      Smoothed &own = smoothed_[i];
      for (OwnedImage &image : own.image)
        if (image.view().data == nullptr || image.view().size() != size)
          CUDAVISION_TRY(image.allocate(execution_, size));
      if (own.gaussian == nullptr || own.size != size)
        CUDAVISION_TRY(make_gaussian(execution_, size, &own.gaussian));
      own.size = size;
      const Region part{0, 0, divide_up(size.width, step), divide_up(size.height, step)};
      const ImageView<std::uint8_t> means = own.image[0].view().crop(part),
                                    to = own.image[1].view().crop(part);
      ImageView<const std::uint8_t> from{c.data, c.pitch_bytes, size.width, size.height};
      if (c.step_bytes != 1 || step > 1) {
        CUDAVISION_TRY((run_on_backend<const Samples &, ImageView<std::uint8_t>>(
            execution_, take_means_cpu, CUDAVISION_IF_CUDA(take_means_cuda), {c, size, step}, means)));
        from = means;
      }
      CUDAVISION_TRY(own.gaussian->run(from, to, sigma / step));
      task->smooth[i] = to;
    }
    return {};
  }

  struct Smoothed {  // what smoothing a component needs
    Size size;
    std::unique_ptr<Gaussian> gaussian;
    OwnedImage image[2];
  };

  Execution execution_;
  Size size_;
  OwnedBytes boxes_, mask_, means_, map_;
  HostCopy host_boxes_;
  std::unique_ptr<RemovalMask> growth_;
  Smoothed smoothed_[3];
};

}  // namespace
}  // namespace redact

Status validate(const RedactParams &params) {
  CUDAVISION_TRY(check_range("cells", params.cells, RedactRanges::cells));
  if (params.strength != 0) CUDAVISION_TRY(check_range("strength", params.strength, RedactRanges::strength));
  return check_range("dilate", params.dilation, RedactRanges::dilation);
}

Status make_redact(const Execution &execution, Size size, std::unique_ptr<Redact> *made) {
  CUDAVISION_TRY(check_sides(size));
  return catch_bad_alloc([&] {
    *made = std::make_unique<redact::RedactSteps>(execution, size);
    return Status();
  });
}

}  // namespace cudavision
