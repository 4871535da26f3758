// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of Canny. Threads process strips of rows: gradients, non-maximum suppression and hysteresis
// inside the strip, on bitmaps. One thread then joins the strips.
#include <algorithm>

#include "cuda/canny/bitmap_cpu.h"
#include "cuda/canny/canny_backends.h"
#include "cuda/canny/canny_simd.h"
#include "cuda/canny/hysteresis_cpu.h"
#include "cuda/common/owned_memory.h"
#include "cuda/common/per_thread.h"
#include "cuda/gaussian/gaussian.h"

namespace cudavision::canny {
namespace {

// Several strips per thread balance the load: hysteresis costs more in strips with many edges.
constexpr int kStripsPerThread = 4;
// A minimum bounds the overhead: each strip computes two rows of gradients that its neighbours compute too.
constexpr int kMinStripRows = 16;

class CannyCpu final : public Canny {
 public:
  CannyCpu(const Execution &execution, Size size)
      : execution_(execution),
        most_(size),
        size_(size),
        mask_(size),
        edges_(size),
        rows_([width = size.width] { return RowScratch(width); }),
        lists_([this] { return WorkList(mask_); }) {
    rows_.fit(*execution.workers), lists_.fit(*execution.workers);
  }

  Status run(ImageView<const std::uint8_t> luma, ImageView<std::uint8_t> edges, const CannyParams &params,
             Input) override {
    CUDAVISION_TRY(check_run(luma.size(), edges.size(), most_, params));
    fit_to_size(luma.size());
    if (params.gaussian_sigma > 0) CUDAVISION_TRY(smooth(&luma, params.gaussian_sigma));
    rows_.fit(*execution_.workers), lists_.fit(*execution_.workers);
    const int threads = execution_.workers->thread_count(),
              most_strips = divide_up(size_.height, kMinStripRows),
              strips = threads == 1 ? 1 : std::min(threads * kStripsPerThread, most_strips);
    CUDAVISION_TRY(execution_.workers->run(strips, [&](int strip, int slot) {
      const int first = first_row(size_.height, strip, strips),
                last = first_row(size_.height, strip + 1, strips);
      rows_[slot].fit(luma.width);
      detect_rows(luma, first, last, params, rows_[slot], mask_, edges_);
      if (params.hysteresis) grow_edges(mask_, edges_, first, last, lists_[slot]);
    }));
    if (params.hysteresis) join_strips(mask_, edges_, strips, lists_[0]);
    return execution_.workers->run_rows(size_.height, kMinStripRows, [&](int y, int) {
      expand_bits(edges_.row(y), size_.width, edges.row(y));
    });
  }

 private:
  // Lays out the scratch memory for pictures of that size.
  void fit_to_size(Size size) {
    if (size == size_) return;
    size_ = size;
    mask_.lay_out(size), edges_.lay_out(size);
  }

  Status smooth(ImageView<const std::uint8_t> *luma, double sigma) {
    if (!gaussian_) {
      CUDAVISION_TRY(smoothed_.allocate(execution_, most_));
      CUDAVISION_TRY(make_gaussian(execution_, most_, &gaussian_));
    }
    const ImageView<std::uint8_t> smoothed = smoothed_.view().crop({0, 0, luma->width, luma->height});
    CUDAVISION_TRY(gaussian_->run(*luma, smoothed, sigma));
    *luma = smoothed;
    return {};
  }

  Execution execution_;
  Size most_, size_;     // the size given to make_canny(), and that of the last picture
  Bitmap mask_, edges_;  // weak and strong maxima; pixels found to be edges
  PerThread<RowScratch> rows_;
  PerThread<WorkList> lists_;
  std::unique_ptr<Gaussian> gaussian_;
  OwnedImage smoothed_;
};

}  // namespace

Status make_canny_cpu(const Execution &execution, Size size, std::unique_ptr<Canny> *canny) {
  return make_as<CannyCpu>(canny, execution, size);
}

}  // namespace cudavision::canny
