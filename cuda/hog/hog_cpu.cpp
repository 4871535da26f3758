// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of HOG. Threads compute strips of a few rows of blocks each.
#include <algorithm>

#include "cuda/common/per_thread.h"
#include "cuda/hog/blocks_cpu.h"
#include "cuda/hog/hog_backends.h"
#include "cuda/hog/planes_cpu.h"

namespace cudavision::hog {
namespace {

constexpr int kBlockRowsPerTask = 8;

class HogCpu final : public Hog {
 public:
  HogCpu(const Execution &execution, Size size, int channels, const HogParams &params)
      : workers_(execution.workers),
        size_(size),
        channels_(channels),
        planes_(size, channels),
        rows_(params),
        scratch_(*workers_, [rules = rows_.rules(), size] { return BlockScratch(rules, size); }) {
    (void)hog_shape(size, params, &shape_);  // make_hog() has checked the parameters
  }

  Status run(const HogPicture &picture, float *blocks, Input) override {
    CUDAVISION_TRY(check_run(picture, size_, channels_));
    BytePlanes planes;
    CUDAVISION_TRY(planes_.take(*workers_, picture, &planes));
    const BlockOutput output{.data = blocks,
                             .row_stride = static_cast<std::ptrdiff_t>(shape_.cols) * shape_.length,
                             .col_stride = shape_.length,
                             .number_stride = 1};
    scratch_.fit(*workers_);
    return workers_->run_strips(shape_.rows, kBlockRowsPerTask, [&](int first, int end, int slot) {
      rows_.compute({planes, size_}, {0, first, shape_.cols, end - first}, scratch_[slot], output);
    });
  }

 private:
  const Workers *workers_;
  Size size_;
  int channels_;
  HogShape shape_;
  PlaneSplitter planes_;
  BlockRows rows_;
  PerThread<BlockScratch> scratch_;
};

}  // namespace

Status make_hog_cpu(const Execution &execution, Size size, int channels, const HogParams &params,
                    std::unique_ptr<Hog> *hog) {
  return make_as<HogCpu>(hog, execution, size, channels, params);
}

}  // namespace cudavision::hog
