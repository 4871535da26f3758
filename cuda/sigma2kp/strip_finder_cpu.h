// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend's search for the keypoints of a strip of rows.
#pragma once

#include <vector>

#include "cuda/common/memory_budget.h"
#include "cuda/sigma2kp/sigma2kp_rules.h"
#include "cuda/sigma2kp/sigma2kp_simd.h"

namespace cudavision::sigma2kp {

// Use one instance per thread. T: the type of a strength, std::uint32_t or std::uint64_t
// (DetectorPlan::is_wide()).
template <typename T>
class StripFinder {
 public:
  // max_rows: the maximum number of rows of a strip.
  StripFinder(const DetectorPlan &plan, int max_rows);

  // Appends the keypoints whose windows begin in rows [first, end), in row-major order, without orientation.
  void find(ImageView<const std::uint8_t> luma, int first, int end, Array<Sigma2Keypoint> *keypoints);

 private:
  T *row(int y) { return strengths_.data() + static_cast<std::ptrdiff_t>(y - from_) * stride_; }
  std::uint8_t *marks(int y) { return marks_.data() + static_cast<std::ptrdiff_t>(y - first_) * stride_; }

  void respond_rows(ImageView<const std::uint8_t> luma);
  void mark_cells(Offset grid);
  // Marks the keypoint of the cell that begins at (x, y), if it has one. peak: the greatest strength of the
  // cell.
  void mark_cell(int x, int y, T peak);
  void mark_dense();
  void list_marks(Array<Sigma2Keypoint> *keypoints);

  DetectorPlan plan_;
  std::vector<Offset> near_;  // all offsets that DetectorPlan::is_near() accepts
  std::ptrdiff_t stride_;     // elements per row
  int first_ = 0, end_ = 0;   // the rows of the strip
  int from_ = 0, to_ = 0;     // the rows of the strip and its halo, whose strengths are computed
  Array<T> strengths_, most_, least_;
  Array<std::uint32_t> sum_, squares_;
  Array<std::uint8_t> marks_;  // 1 at a keypoint
};

}  // namespace cudavision::sigma2kp
