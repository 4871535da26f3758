// SPDX-License-Identifier: LGPL-2.1-or-later
// What a camera usually shows, as a small picture whose pixels are means of cells (CameraStats), and the comparison of
// a frame with it. A place with a strong gradient is an edge. Edges stay when the light changes, and few of them are
// hidden when somebody passes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "cuda/camerastats/camerastats.h"
#include "gst/base/geometry/projective.h"

namespace cudavision {

// There must be a value.
template <typename T>
T median(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The cells of a frame.
struct CellPicture {
  std::span<const std::uint8_t> cells;
  Size size;
};

// How a frame agrees with a look. The shares are of those edges of the look whose place lies in the frame.
struct CameraFit {
  double kept = 0;        // the frame has an edge of this direction there, whichever side is brighter
  double flat = 0;        // the frame has no gradient there
  bool is_known = false;  // there are enough edges to tell
  double gain = 1;        // the contrast of the kept edges relative to the look
  double shift_x = 0, shift_y = 0;  // how far the frame has moved, in pixels
};

// A unit of its means is 1/64 of a level of brightness.
class CameraLook {
 public:
  // Makes the look of the median of each cell. There must be a sample; all have this size.
  void learn(const std::vector<std::vector<std::uint8_t>> &samples, Size size);
  // Moves each cell of the look towards the frame, by at most `step` units.
  void approach(const CellPicture &frame, int step);

  // Whether it has enough edges to compare frames with it.
  bool is_learnt() const;
  // Compares the frame with the look where the frame last fitted, and a cell to each side. everywhere: compares within
  // eight cells to each side.
  CameraFit compare(const CellPicture &frame, bool everywhere);

  // For files: the means of all cells in units, row by row. Too bright ones are refused.
  const std::vector<std::uint16_t> &means() const { return means_; }
  bool restore(std::vector<std::uint16_t> means, Size size);

  // Of a sharpness, a share of changed pixels and a noise, the usual values (CameraJudge).
  double sharpness = 0, changed = 0, noise = 0;

 private:
  struct Edge {
    std::int32_t x, y, gradient_x, gradient_y;  // the gradients in units, over two cells
    Vector factors;                             // of refine()
  };
  // What an edge has become in a frame.
  enum class Found { unknown, kept, flat, other };
  struct Shift {
    int x = 0, y = 0;
  };
  struct Counts {
    int kept = 0, flat = 0, all = 0;
  };

  void find_edges();
  // ratio: of the brightness, in 1/256.
  Found look_at(const CellPicture &frame, const Edge &edge, int x, int y, int ratio) const;
  bool is_inside(int x, int y, int margin) const {
    return x >= margin && y >= margin && x + margin < size_.width && y + margin < size_.height;
  }
  Counts count(const CellPicture &frame, Shift shift, int ratio) const;
  // Sets the gain and the shift of the fit, by least squares over the kept edges.
  void refine(const CellPicture &frame, Shift shift, int ratio, CameraFit *fit) const;
  // The brightness of the frame relative to the look, in 1/256.
  int ratio_of(const CellPicture &frame) const;

  Size size_;
  std::vector<std::uint16_t> means_;
  std::vector<Edge> edges_;
  std::int64_t sum_ = 0;  // of means_
  Shift last_;            // where the frame before fitted best
};

}  // namespace cudavision
