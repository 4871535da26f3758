// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of inpainting: the steps before and after the fill, which work on rows in parallel.
#include <algorithm>

#include "cuda/common/memory_budget.h"
#include "cuda/common/per_thread.h"
#include "cuda/inpaint/background_rules.h"
#include "cuda/inpaint/diffusion_rules.h"
#include "cuda/inpaint/exemplar_cpu.h"
#include "cuda/inpaint/inpaint_backends.h"

namespace cudavision::inpaint {
namespace {

// The diffusion: layers, then smoothing rounds, over lists of pixels.
class Diffusion {
 public:
  // Fills the pixels whose mark in `hole` is kUnfilled and returns their number. They must lie within bounds,
  // and the picture must have at least one filled pixel.
  int run(ImageView<std::uint32_t> pixels, ImageView<std::uint8_t> hole, Bounds bounds);

 private:
  struct Pixel {
    int x, y;
  };

  Array<Pixel> all_, left_, layer_;
  Array<std::uint32_t> next_;
};

int Diffusion::run(ImageView<std::uint32_t> pixels, ImageView<std::uint8_t> hole, Bounds bounds) {
  const int width = pixels.width, height = pixels.height;
  all_.clear();
  for (int y = bounds.y0; y < bounds.y1; ++y)
    for (int x = bounds.x0; x < bounds.x1; ++x)
      if (hole.row(y)[x] == kUnfilled) all_.push_back({x, y});
  left_ = all_;
  for (int layer = 0; !left_.empty(); ++layer) {
    const std::uint8_t before = mark_of_layer(layer - 1);
    layer_.clear();
    std::erase_if(left_, [&](Pixel p) {
      MeanOfWords mean;
      for_each_neighbour(p.x, p.y, width, height, [&](int x, int y) {
        if (hole.row(y)[x] == before) mean.add(pixels.row(y)[x]);
      });
      if (mean.count == 0) return false;
      pixels.row(p.y)[p.x] = mean.value();
      layer_.push_back(p);
      return true;
    });
    for (const Pixel p : layer_) hole.row(p.y)[p.x] = mark_of_layer(layer);
  }
  next_.resize(all_.size());
  for (int round = 0; round < kSmoothingRounds; ++round) {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      MeanOfWords mean;
      for_each_neighbour(all_[i].x, all_[i].y, width, height,
                         [&](int x, int y) { mean.add(pixels.row(y)[x]); });
      next_[i] = mean.value();
    }
    for (std::size_t i = 0; i < all_.size(); ++i) pixels.row(all_[i].y)[all_[i].x] = next_[i];
  }
  return static_cast<int>(all_.size());
}

constexpr int kRowsPerTask = 16;

class InpaintCpu final : public Inpaint {
 public:
  InpaintCpu(const Execution &execution, Size size)
      : execution_(execution),
        size_(size),
        exemplars_(execution, size),
        plane_pitch_(divide_up(size.width, 64) * 64 + ComparedPlanes::kRowPadding),
        removed_(count()),
        hole_(count()),
        pixels_(count()),
        features_(count()),
        sources_(plane_bytes()) {
    for (auto &plane : planes_) plane.resize(plane_bytes());
    rows_.resize(static_cast<std::size_t>(size.height));
  }

  Status run(const InpaintFrame &frame, const InpaintParams &params, InpaintReport *report,
             const FillLog &log, const Progress &progress) override {
    CUDAVISION_TRY(check_run(frame, params, size_));
    return catch_bad_alloc([&] { return work(frame, params, report, log, progress); });
  }

  void drop_history() override { frame_number_ = 0; }

 private:
  // Counts of one row. removed: the pixels in the hole. remembered: those of them that the background has restored.
  // differing: the pixels outside of the hole that differ from their background.
  struct HoleRow {
    int removed = 0, remembered = 0;
    std::uint32_t differing = 0;
  };

  Status work(const InpaintFrame &frame, const InpaintParams &params, InpaintReport *report,
              const FillLog &log, const Progress &progress) {
    *report = {};
    CUDAVISION_TRY(find_hole(frame));
    for (const HoleRow &row : rows_) report->removed += row.removed;
    if (report->removed == 0 && !params.temporal) return {};
    CUDAVISION_TRY(load(frame));
    if (params.temporal) {
      allocate_background();
      CUDAVISION_TRY(update_background(frame.frame.model, params));
      for (const HoleRow &row : rows_) report->remembered += row.remembered;
      if (report->removed == 0) return {};
    }
    if (report->remembered < report->removed) {
      CUDAVISION_TRY(make_features(frame, params));
      if (!find_sources(params.patch_size / 2)) {
        report->refused = true, report->remembered = 0;
        return {};
      }
      CUDAVISION_TRY(fill(params, log, progress, report));
    }
    return report->stopped ? Status() : store(frame);
  }

  std::size_t count() const {
    return static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(size_.height);
  }
  std::size_t plane_bytes() const {
    return static_cast<std::size_t>(plane_pitch_) * static_cast<std::size_t>(size_.height);
  }
  template <typename T>
  ImageView<T> view(Array<T> &elements) const {
    return {elements.data(), size_.width * static_cast<std::ptrdiff_t>(sizeof(T)), size_.width, size_.height};
  }
  ImageView<std::uint8_t> sources() { return {sources_.data(), plane_pitch_, size_.width, size_.height}; }

  template <typename Body>
  Status for_each_row(const Body &body) const {
    return execution_.workers->run_rows(size_.height, kRowsPerTask, body);
  }

  Status find_hole(const InpaintFrame &frame) {
    const bool cells = cell_shift_x(frame.frame) + cell_shift_y(frame.frame) > 0;
    return for_each_row([&](int y, int) {
      std::uint8_t *removed = view(removed_).row(y);
      const std::uint8_t *mask = frame.mask.row(y);
      int pixels = 0;
      for (int x = 0; x < size_.width; ++x) {
        const bool is = cells ? is_removed(frame.frame, frame.mask, x, y) : mask[x] != 0;
        removed[x] = is ? kUnfilled : 0;
        pixels += is;
      }
      rows_[static_cast<std::size_t>(y)] = {.removed = pixels};
      std::copy_n(removed, size_.width, view(hole_).row(y));
    });
  }

  Status load(const InpaintFrame &frame) {
    return for_each_row([&](int y, int) {
      for (int x = 0; x < size_.width; ++x) view(pixels_).row(y)[x] = pixel_word(frame.frame, x, y);
    });
  }

  // --- the background of earlier frames ---

  void allocate_background() {
    if (!seen_.empty()) return;
    for (auto &component : background_) component.resize(count());
    seen_.resize(count());
    candidate_.resize(count());
    shown_.resize(count());
    candidate_shown_.resize(count());
  }

  Status update_background(ColorModel model, const InpaintParams &params) {
    if (frame_number_ == 0) {
      std::fill(seen_.begin(), seen_.end(), 0u);
      light_ = {};
      differing_ = 0;
    }
    const HistoryWindow window{++frame_number_, params.history, params.learn_frames};
    CUDAVISION_TRY(find_change_of_light(window));
    const Background background{{background_[0].data(), background_[1].data(), background_[2].data()},
                                seen_.data(),
                                candidate_.data(),
                                shown_.data(),
                                candidate_shown_.data()};
    CUDAVISION_TRY(for_each_row([&](int y, int) {
      HoleRow &row = rows_[static_cast<std::size_t>(y)];
      for (int x = 0; x < size_.width; ++x) {
        const Followed followed =
            follow_background(background, static_cast<std::ptrdiff_t>(y) * size_.width + x, light_, window,
                              view(removed_).row(y)[x] != 0, model, &view(pixels_).row(y)[x]);
        row.differing += followed == Followed::differs;
        if (followed != Followed::restored) continue;
        view(hole_).row(y)[x] = 0;
        ++row.remembered;
      }
    }));
    differing_ = 0;
    for (const HoleRow &row : rows_) differing_ += row.differing;
    return {};
  }

  Status find_change_of_light(HistoryWindow window) {
    light_counts_.fit(*execution_.workers);
    for (LightCounts &counts : light_counts_.each()) counts = {};
    CUDAVISION_TRY(for_each_row([&](int y, int slot) {
      LightCounts &counts = light_counts_[slot];
      for (int x = 0; x < size_.width; ++x) {
        const std::size_t i =
            static_cast<std::size_t>(y) * static_cast<std::size_t>(size_.width) + static_cast<std::size_t>(x);
        if (removed_[i] != 0 || !window.remembers(seen_[i])) continue;
        for (int c = 0; c < 3; ++c) {
          const int before = round_to_byte(background_[c][i]), now = byte_of(pixels_[i], c);
          const int bin = light_bin(c, before, now);
          ++counts.changes[bin * kChanges + change_index(before, now)];
          counts.brightness[bin] += static_cast<unsigned>(before + now) / 2;
        }
      }
    }));
    LightCounts &all = light_counts_[0];
    for (const LightCounts &counts : light_counts_.each()) {
      if (&counts == &all) continue;
      for (int i = 0; i < kChangeCounters; ++i) all.changes[i] += counts.changes[i];
      for (int i = 0; i < kLightBins; ++i) all.brightness[i] += counts.brightness[i];
    }
    for (int c = 0; c < 3; ++c) {
      BinChange bins[kBrightnessBins];
      for (int i = 0; i < kBrightnessBins; ++i) {
        const int bin = c * kBrightnessBins + i;
        bins[i] = bin_change(&all.changes[bin * kChanges], all.brightness[bin]);
      }
      light_.line[c] = line_through(bins);
      if (c == 0) light_.compare(bins, differing_);
    }
    return {};
  }

  // --- the fill ---

  Bounds bounds_of_hole() {
    Bounds b{kMaxSide, kMaxSide, 0, 0};
    for (int y = 0; y < size_.height; ++y)
      for (int x = 0; x < size_.width; ++x)
        if (view(hole_).row(y)[x] != 0)
          b = {std::min(b.x0, x), std::min(b.y0, y), std::max(b.x1, x + 1), y + 1};
    return b;
  }

  Status make_features(const InpaintFrame &frame, const InpaintParams &params) {
    const LabTables *lab = params.lab ? &lab_tables() : nullptr;
    plane_count_ = frame.frame.model == ColorModel::gray ? 1 : 3;
    return for_each_row([&](int y, int) {
      for (int x = 0; x < size_.width; ++x) {
        const std::uint32_t word = feature_of(view(pixels_).row(y)[x], frame.frame.model, frame.matrix, lab);
        view(features_).row(y)[x] = word;
        for (int p = 0; p < 3; ++p)
          planes_[p][static_cast<std::size_t>(y * plane_pitch_ + x)] =
              static_cast<std::uint8_t>(byte_of(word, p));
      }
    });
  }

  // Marks the centres of the patches that lie completely in the picture and outside of the hole. Returns false if there
  // is none.
  bool find_sources(int radius) {
    clear_rows_.assign(static_cast<std::size_t>(size_.width), 0);
    std::fill(sources_.begin(), sources_.end(), std::uint8_t{0});
    bool any = false;
    for (int y = 0; y < size_.height; ++y) {
      const std::uint8_t *hole = view(hole_).row(y);
      for (int x = radius, clear = 0, next = 0; x < size_.width - radius; ++x) {
        for (; next <= x + radius; ++next) clear = hole[next] != 0 ? 0 : clear + 1;
        int &rows = clear_rows_[static_cast<std::size_t>(x)];
        rows = clear > 2 * radius ? rows + 1 : 0;
        if (rows <= 2 * radius) continue;
        sources().row(y - radius)[x] = 1;
        any = true;
      }
    }
    return any;
  }

  Status fill(const InpaintParams &params, const FillLog &log, const Progress &progress,
              InpaintReport *report) {
    const ComparedPlanes planes{
        {planes_[0].data(), planes_[1].data(), planes_[2].data()}, plane_pitch_, plane_count_};
    const Exemplars picture{.pixels = view(pixels_),
                            .features = view(features_),
                            .hole = view(hole_),
                            .planes = planes,
                            .sources = sources()};
    const Bounds bounds = bounds_of_hole();
    const int known = report->remembered, removed = report->removed;
    const auto report_progress = [&](int filled) { return !progress || progress(known + filled, removed); };
    CUDAVISION_TRY(
        exemplars_.run(picture, bounds, params, log, report_progress, &report->patches, &report->stopped));
    if (!report->stopped && params.max_patches > 0)
      report->diffused = diffusion_.run(view(pixels_), view(hole_), bounds);
    return {};
  }

  Status store(const InpaintFrame &frame) {
    const int height = 1 << cell_shift_y(frame.frame), width = 1 << cell_shift_x(frame.frame);
    const auto word = [this](int x, int y) { return view(pixels_).row(y)[x]; };
    return execution_.workers->run_strips(size_.height, kRowsPerTask, [&](int first, int end, int) {
      for (int y = first; y < end; y += height)
        for (int x = 0; x < size_.width; x += width)
          if (view(removed_).row(y)[x] != 0) write_cell(frame, x, y, word);
    });
  }

  Execution execution_;
  Size size_;
  ExemplarFill exemplars_;
  Diffusion diffusion_;
  std::ptrdiff_t plane_pitch_;
  int plane_count_ = 3;
  // removed_: not 0 where the pixel is in the hole. hole_: not 0 where it is still unfilled.
  Array<std::uint8_t> removed_, hole_;
  Array<std::uint32_t> pixels_, features_;
  Array<std::uint8_t> planes_[3], sources_;
  Array<HoleRow> rows_;
  // find_sources(): for each column, the number of consecutive rows up to the current one in which the patch's width
  // around the column is outside of the hole.
  Array<int> clear_rows_;

  // The arrays of Background.
  Array<std::uint16_t> background_[3], shown_, candidate_shown_;
  Array<std::uint32_t> seen_, candidate_;
  // The number of the last temporal frame; 0 if the background is unknown.
  std::uint32_t frame_number_ = 0;
  LightChange light_{};
  // The sum of HoleRow::differing of the last temporal frame.
  std::uint32_t differing_ = 0;
  PerThread<LightCounts> light_counts_{[] { return LightCounts(); }};
};

}  // namespace

Status make_inpaint_cpu(const Execution &execution, Size size, std::unique_ptr<Inpaint> *inpaint) {
  return make_as<InpaintCpu>(inpaint, execution, size);
}

}  // namespace cudavision::inpaint
