// SPDX-License-Identifier: LGPL-2.1-or-later
// The steps of redaction (hiding parts of a frame), on both backends.
#pragma once

#include "cuda/redact/redact_rules.h"

namespace cudavision::redact {

// Sets each pixel of dst to 255 if a mask selects it, otherwise to 0.
Status place_masks_cpu(const Execution &execution, const MaskSet &masks, ImageView<std::uint8_t> dst);
Status place_masks_cuda(const Execution &execution, const MaskSet &masks, ImageView<std::uint8_t> dst);
// Writes the mean of each square to dst.
Status take_means_cpu(const Execution &execution, const Samples &samples, ImageView<std::uint8_t> dst);
Status take_means_cuda(const Execution &execution, const Samples &samples, ImageView<std::uint8_t> dst);
// Computes the mean of each component in every cell. most_cells: the largest number of cells of a box.
Status find_means_cpu(const Execution &execution, const Task &task, int most_cells, std::uint8_t *means);
Status find_means_cuda(const Execution &execution, const Task &task, int most_cells, std::uint8_t *means);
Status hide_cpu(const Execution &execution, const Task &task);
Status hide_cuda(const Execution &execution, const Task &task);

}  // namespace cudavision::redact
