// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of morphology: runs one pass after the other over the whole picture, with one bit per pixel.
#include <algorithm>
#include <utility>

#include "cuda/common/memory_budget.h"
#include "cuda/common/per_thread.h"
#include "cuda/common/pixel_bits_rules.h"
#include "cuda/morphology/morphology_backends.h"
#include "cuda/morphology/morphology_rules.h"

namespace cudavision::morphology {
namespace {

constexpr int kRowsPerTask = 32;

// The windows (window_of()) of a picture, with kMaxMorphologyRadius rows of zeros above and below for passes to read.
class Windows {
 public:
  explicit Windows(Size size)
      : words_(divide_up(size.width, kWordPixels)),
        data_(static_cast<std::size_t>(words_) *
              static_cast<std::size_t>(size.height + 2 * kMaxMorphologyRadius)) {}
  std::uint64_t *row(int y) {
    return data_.data() + static_cast<std::ptrdiff_t>(words_) * (y + kMaxMorphologyRadius);
  }

 private:
  int words_;
  Array<std::uint64_t> data_;
};

// A thread's scratch memory for one row: its words, with a zero word before and behind them, and its windows.
struct RowScratch {
  explicit RowScratch(int count)
      : words(static_cast<std::size_t>(count) + 2), windows(static_cast<std::size_t>(count)) {}
  Array<std::uint32_t> words;
  Array<std::uint64_t> windows;
};

class MaskCleanerCpu final : public MaskCleaner {
 public:
  MaskCleanerCpu(const Execution &execution, Size size)
      : execution_(execution),
        size_(size),
        words_(divide_up(size.width, kWordPixels)),
        windows_(size),
        next_(size),
        scratch_(*execution.workers, [this] { return RowScratch(words_); }) {}

  Status run(ImageView<const std::uint8_t> mask, const MorphologyParams &params,
             ImageView<std::uint8_t> cleaned) override {
    CUDAVISION_TRY(check_run(params, mask.size(), cleaned.size(), size_));
    const Passes passes = passes_of(params);
    scratch_.fit(*execution_.workers);
    CUDAVISION_TRY(for_each_row([&](int y, RowScratch &scratch) {
      std::uint32_t *words = scratch.words.data() + 1;
      read_row(mask.row(y), words);
      store_row(words, passes.inverts(0), windows_.row(y));
    }));
    for (int i = 0; i < passes.count; ++i) {
      const bool turns = passes.inverts(i) != passes.inverts(i + 1);
      CUDAVISION_TRY(for_each_row([&](int y, RowScratch &scratch) {
        dilate_row(passes.pass[i], y, scratch.windows.data());
        std::uint32_t *words = scratch.words.data() + 1;
        for (int k = 0; k < words_; ++k) words[k] = word_of(scratch.windows[static_cast<std::size_t>(k)]);
        store_row(words, turns, next_.row(y));
      }));
      std::swap(windows_, next_);
    }
    return for_each_row([&](int y, RowScratch &) {
      for (int x = 0; x < size_.width; x += 8)
        write_pixels(word_of(windows_.row(y)[x / kWordPixels]) >> x % kWordPixels, x, size_.width,
                     cleaned.row(y));
    });
  }

 private:
  template <typename Body>
  Status for_each_row(const Body &body) {
    return execution_.workers->run_rows(size_.height, kRowsPerTask,
                                        [&](int y, int slot) { body(y, scratch_[slot]); });
  }

  void read_row(const std::uint8_t *mask, std::uint32_t *words) const {
    for (int i = 0; i < words_; ++i) {
      words[i] = 0;
      for (int k = 0; k < kWordPixels; k += 8)
        words[i] |= set_pixels_of_row(mask, i * kWordPixels + k, size_.width) << k;
    }
  }

  // Stores the windows of a row, or those of its complement.
  void store_row(std::uint32_t *words, bool complement, std::uint64_t *windows) const {
    if (complement)
      for (int i = 0; i < words_; ++i) words[i] = ~words[i];
    words[words_ - 1] &= pixels_inside(words_ - 1, size_.width);
    for (int i = 0; i < words_; ++i) windows[i] = window_of(words + i);
  }

  // Dilates row y; the result is word_of() of each element of `bits`. Rows are added from the centre outward. Before
  // each one, the bits so far are widened by the difference between two reaches, so that in the end the rows dy away
  // have been widened by reach[dy]. Every loop is over the whole row, so that the compiler vectorises it.
  void dilate_row(const Pass &pass, int y, std::uint64_t *bits) {
    const auto shift = [&](int n) {
      for (int i = 0; i < words_; ++i) bits[i] |= bits[i] << n | bits[i] >> n;
    };
    std::copy_n(windows_.row(y), words_, bits);
    for (int dy = 1; dy <= pass.radius; ++dy) {
      widen(pass.reach[dy - 1] - pass.reach[dy], shift);
      const std::uint64_t *above = windows_.row(y - dy), *below = windows_.row(y + dy);
      for (int i = 0; i < words_; ++i) bits[i] |= above[i] | below[i];
    }
    widen(pass.reach[pass.radius], shift);
  }

  Execution execution_;
  Size size_;
  int words_;  // per row
  Windows windows_, next_;
  PerThread<RowScratch> scratch_;
};

}  // namespace

Status make_mask_cleaner_cpu(const Execution &execution, Size size, std::unique_ptr<MaskCleaner> *cleaner) {
  return make_as<MaskCleanerCpu>(cleaner, execution, size);
}

}  // namespace cudavision::morphology
