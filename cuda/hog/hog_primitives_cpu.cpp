// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of boxes and stars as primitives.
#include <algorithm>

#include "cuda/common/workers.h"
#include "cuda/hog/hog_backends.h"

namespace cudavision::hog {
namespace {

// Writes the lines of star (x, y), one per bin, the weakest first.
void make_star(const StarTask &task, int x, int y, Primitive *lines) {
  const int bins = task.rules.bins;
  const ContrastGrid grid = contrast_grid(task, x, y);
  const float contrast = contrast_weight(grid, contrast_sum(task, grid, 0, 1));
  float means[kMaxHogBins];
  std::uint8_t strengths[kMaxHogBins];
  take_means_of_star(task, x, y, 0, bins, means);
  for (int bin = 0; bin < bins; ++bin) strengths[bin] = strength_of(task, means[bin], contrast);
  for (int bin = 0; bin < bins; ++bin)
    lines[rank_of(strengths, bins, bin)] = line_of(task, x, y, bin, strengths[bin]);
}

}  // namespace

Status make_box_primitives_cpu(const Execution &, HogBoxList list, int capacity, BoxDrawing drawing) {
  const int boxes = std::min(list.count->listed, capacity);
  for (int i = 0; i < boxes; ++i) drawing.primitives[i] = primitive_of(list.boxes[i], drawing.style);
  const HogLabels &labels = drawing.labels;
  LabelPlacer placer;
  for (int i = 0; i < boxes && labels.shown; ++i) {
    const HogBox &box = list.boxes[i];
    make_label_of_box(box, i, boxes,
                      placer.place(place_of(box, drawing.style), label_pixels(box, labels), labels.style),
                      drawing);
  }
  *drawing.count = boxes * primitives_per_box(drawing.labels);
  return {};
}

Status make_star_primitives_cpu(const Execution &execution, StarTask task, Primitive *primitives) {
  primitives[static_cast<std::ptrdiff_t>(task.stars.width) * task.stars.height * task.rules.bins] =
      shade_of(task);
  return execution.workers->run(task.stars.height, [&](int y, int) {
    for (int x = 0; x < task.stars.width; ++x)
      make_star(task, x, y,
                primitives + (static_cast<std::ptrdiff_t>(y) * task.stars.width + x) * task.rules.bins);
  });
}

}  // namespace cudavision::hog
