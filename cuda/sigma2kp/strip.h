// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds the keypoints of a strip of rows on the CPU.
#pragma once

#include <vector>

#include "cuda/sigma2kp/sigma2kp_simd.h"
#include "cuda/sigma2kp/sigma2kp_rules.h"

namespace cudavision::sigma2kp {

// One thread's. T: what holds S.
template <typename T>
class StripFinder {
 public:
  // For strips of at most so many rows.
  StripFinder(const Plan &plan, int rows);

  // Appends the keypoints whose windows begin in rows [first, end), in raster order, without orientation.
  void find(ImageView<const std::uint8_t> luma, int first, int end, std::vector<Sigma2Keypoint> *keypoints);

 private:
  T *row(int y) { return strengths_.data() + static_cast<std::ptrdiff_t>(y - from_) * stride_; }
  std::uint8_t *marks(int y) { return marks_.data() + static_cast<std::ptrdiff_t>(y - first_) * stride_; }

  void respond_rows(ImageView<const std::uint8_t> luma);
  void mark_squares(Offset grid);
  void mark_square(int x, int y, T peak);
  void mark_dense();
  void list_marks(std::vector<Sigma2Keypoint> *keypoints);

  Plan plan_;
  std::vector<Offset> near_;  // the offsets within a square, or from q, that are near
  std::ptrdiff_t stride_;     // elements from row to row
  int first_ = 0, end_ = 0;   // the strip's rows
  int from_ = 0, to_ = 0;     // those whose S it needs
  std::vector<T> strengths_, most_, least_;
  std::vector<std::uint32_t> sum_, squares_;
  std::vector<std::uint8_t> marks_;  // 1 at a keypoint
};

}  // namespace cudavision::sigma2kp
