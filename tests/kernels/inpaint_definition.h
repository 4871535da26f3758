// SPDX-License-Identifier: LGPL-2.1-or-later
// The definition of inpaint.h as plain loops over the whole picture, an instance of the algorithm for tests,
// and test pictures.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "cuda/inpaint/inpaint_backends.h"
#include "tests/support/backends.h"
#include "tests/support/budget.h"
#include "tests/support/pictures.h"
#include "tests/support/test_frame.h"

namespace cudavision::test {

struct Filled {
  HostFrame frame;
  std::vector<FillStep> steps;
  InpaintReport report;
};

inline testing::AssertionResult same(const Filled &actual, const Filled &expected) {
  const std::size_t count = std::min(actual.steps.size(), expected.steps.size());
  const int width = expected.frame.size.width;
  for (std::size_t i = 0; i < count; ++i)
    if (!(actual.steps[i] == expected.steps[i])) {
      const auto place = [width](int pixel) {
        return std::to_string(pixel % width) + "," + std::to_string(pixel / width);
      };
      return testing::AssertionFailure()
             << "step " << i << " fills " << place(actual.steps[i].target) << " from "
             << place(actual.steps[i].source) << " instead of " << place(expected.steps[i].target) << " from "
             << place(expected.steps[i].source);
    }
  if (!(actual.report == expected.report) || actual.steps.size() != expected.steps.size())
    return testing::AssertionFailure()
           << actual.report.patches << " patches (" << actual.steps.size() << " logged), "
           << actual.report.removed << " removed, " << actual.report.remembered << " remembered, "
           << actual.report.diffused << " diffused, refused " << actual.report.refused << " instead of "
           << expected.report.patches << ", " << expected.report.removed << ", " << expected.report.remembered
           << ", " << expected.report.diffused << ", " << expected.report.refused;
  return same(actual.frame, expected.frame);
}

inline const PixelFormat &format_of(const std::string &name) {
  for (const PixelFormat &format : pixel_formats())
    if (name == format.name) return format;
  ADD_FAILURE() << "no format " << name;
  return pixel_formats()[0];
}

inline bool has_alpha(const PixelFormat &format) { return std::string(format.name).ends_with("A"); }

// The size of a chroma cell in pixels.
inline int cell_width(const HostFrame &f) {
  return f.format->layout.model == ColorModel::yuv ? 1 << f.format->layout.place[1].shift_x : 1;
}
inline int cell_height(const HostFrame &f) {
  return f.format->layout.model == ColorModel::yuv ? 1 << f.format->layout.place[1].shift_y : 1;
}

// 1 in the hole: the mask extended to whole chroma cells.
inline Picture hole_of(const HostFrame &frame, const Picture &mask) {
  Picture hole(frame.size);
  const int w = cell_width(frame), h = cell_height(frame);
  for (int y = 0; y < frame.size.height; ++y)
    for (int x = 0; x < frame.size.width; ++x)
      if (mask.at(x, y) != 0)
        for (int j = y / h * h; j < std::min(frame.size.height, y / h * h + h); ++j)
          for (int i = x / w * w; i < std::min(frame.size.width, x / w * w + w); ++i) hole.at(i, j) = 1;
  return hole;
}

// Three components and the luma.
using Samples = std::array<int, 4>;

inline Samples samples_of(const HostFrame &frame, int x, int y) {
  if (frame.component_count() == 1) return {frame.at(0, x, y), 0, 0, frame.at(0, x, y)};
  const int c0 = frame.at(0, x, y), c1 = frame.at(1, x, y), c2 = frame.at(2, x, y);
  const bool rgb = frame.format->layout.model == ColorModel::rgb;
  return {c0, c1, c2, rgb ? (9798 * c0 + 19235 * c1 + 3735 * c2 + 16384) >> 15 : c0};
}

inline int clip(int value) { return std::min(255, std::max(0, value)); }

// The three bytes by which a pixel is compared, and its luma.
inline Samples compared_of(const HostFrame &frame, const Samples &s, const RgbMatrix &m, bool lab) {
  const ColorModel model = frame.format->layout.model;
  if (model == ColorModel::gray) return s;
  Samples rgb = s;
  if (model == ColorModel::yuv) {
    const int y = m.luma * (s[0] - m.offset), u = s[1] - 128, v = s[2] - 128;
    const auto round = [](int value) { return clip(static_cast<int>(std::floor(value / 16384.0 + 0.5))); };
    rgb = {round(y + m.red_v * v), round(y + m.green_u * u + m.green_v * v), round(y + m.blue_u * u), s[3]};
  }
  if (!lab) return rgb;
  // The conversion has a test of its own (InpaintLab).
  const std::uint32_t word =
      inpaint::lab_of_rgb(inpaint::pack(rgb[0], rgb[1], rgb[2], 0), inpaint::lab_tables());
  return {inpaint::byte_of(word, 0), inpaint::byte_of(word, 1), inpaint::byte_of(word, 2), s[3]};
}

// Fills one frame.
class Definition {
 public:
  Definition(const HostFrame &frame, const Picture &mask, const InpaintParams &params,
             const RgbMatrix &matrix)
      : frame_(frame),
        removed_(hole_of(frame, mask)),
        hole_(removed_),
        params_(params),
        matrix_(matrix),
        width_(frame.size.width),
        height_(frame.size.height),
        radius_(params.patch_size / 2),
        pixels_(frame.size),
        compared_(frame.size),
        confidence_(frame.size) {
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) {
        pixels_.at(x, y) = samples_of(frame, x, y);
        compared_.at(x, y) = compared_of(frame, pixels_.at(x, y), matrix_, params.lab);
        confidence_.at(x, y) = hole_.at(x, y) != 0 ? 0 : 65536;
      }
  }

  Filled run() {
    Filled result{frame_, {}, {}};
    result.report.removed = count_of(hole_, std::uint8_t{1});
    if (result.report.removed == 0) return result;
    const Picture source = sources();
    if (count_of(source, std::uint8_t{1}) == 0) {
      result.report.refused = true;
      return result;
    }
    for (int target; (target = best_target()) >= 0 &&
                     (params_.max_patches == 0 || result.report.patches < params_.max_patches);
         ++result.report.patches) {
      int from = best_source(source, target, params_.search_radius);
      if (from < 0) from = best_source(source, target, 0);
      result.steps.push_back({target, from});
      copy(target, from);
    }
    result.report.diffused = count_of(hole_, std::uint8_t{1});
    diffuse();
    write(&result.frame);
    return result;
  }

 private:
  bool inside(int x, int y) const { return x >= 0 && y >= 0 && x < width_ && y < height_; }
  bool filled(int x, int y) const { return inside(x, y) && hole_.at(x, y) == 0; }

  Picture sources() const {
    Picture source(frame_.size);
    for (int y = radius_; y < height_ - radius_; ++y)
      for (int x = radius_; x < width_ - radius_; ++x) {
        bool clear = true;
        for (int j = -radius_; j <= radius_; ++j)
          for (int i = -radius_; i <= radius_; ++i) clear = clear && hole_.at(x + i, y + j) == 0;
        source.at(x, y) = clear;
      }
    return source;
  }

  int confidence_at(int x, int y) const {
    int sum = 0, pixels = 0;
    for (int j = y - radius_; j <= y + radius_; ++j)
      for (int i = x - radius_; i <= x + radius_; ++i)
        if (inside(i, j)) sum += confidence_.at(i, j), ++pixels;
    return std::max(1, sum / pixels);
  }

  float data_at(int x, int y) const {
    int longest = 0, gx = 0, gy = 0;
    for (int j = y - radius_; j <= y + radius_; ++j)
      for (int i = x - radius_; i <= x + radius_; ++i) {
        bool known = true;
        for (int v = -1; v <= 1; ++v)
          for (int u = -1; u <= 1; ++u) known = known && filled(i + u, j + v);
        if (!known) continue;
        const int dx = pixels_.at(i + 1, j)[3] - pixels_.at(i - 1, j)[3];
        const int dy = pixels_.at(i, j + 1)[3] - pixels_.at(i, j - 1)[3];
        if (dx * dx + dy * dy > longest) longest = dx * dx + dy * dy, gx = dx, gy = dy;
      }
    static constexpr int kSobel[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
    int nx = 0, ny = 0;
    for (int v = -1; v <= 1; ++v)
      for (int u = -1; u <= 1; ++u) {
        const int unfilled = hole_.at(clamp_index(x + u, width_), clamp_index(y + v, height_));
        nx += kSobel[v + 1][u + 1] * unfilled;
        ny += kSobel[u + 1][v + 1] * unfilled;
      }
    const int across = std::abs(gx * ny - gy * nx);
    if (across == 0) return 0;
    return static_cast<float>(across) / (510.0f * std::sqrt(static_cast<float>(nx * nx + ny * ny)));
  }

  int best_target() const {
    int best = -1;
    float most = 0;
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) {
        if (hole_.at(x, y) == 0) continue;
        if (!filled(x - 1, y) && !filled(x + 1, y) && !filled(x, y - 1) && !filled(x, y + 1)) continue;
        const float priority = static_cast<float>(confidence_at(x, y)) * (data_at(x, y) + 0.001f);
        if (priority > most) most = priority, best = y * width_ + x;
      }
    return best;
  }

  int best_source(const Picture &source, int target, int search_radius) const {
    const int tx = target % width_, ty = target / width_;
    long long least = -1;
    int best = -1;
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) {
        if (source.at(x, y) == 0) continue;
        if (search_radius > 0 && (std::abs(x - tx) > search_radius || std::abs(y - ty) > search_radius))
          continue;
        long long sum = 0;
        for (int j = -radius_; j <= radius_; ++j)
          for (int i = -radius_; i <= radius_; ++i)
            if (filled(tx + i, ty + j))
              for (std::size_t c = 0; c < 3; ++c) {
                const int d = compared_.at(tx + i, ty + j)[c] - compared_.at(x + i, y + j)[c];
                sum += d * d;
              }
        if (least < 0 || sum < least) least = sum, best = y * width_ + x;
      }
    return best;
  }

  void copy(int target, int from) {
    const int tx = target % width_, ty = target / width_, x = from % width_, y = from / width_;
    const int confidence = confidence_at(tx, ty);
    for (int j = -radius_; j <= radius_; ++j)
      for (int i = -radius_; i <= radius_; ++i) {
        if (!inside(tx + i, ty + j) || hole_.at(tx + i, ty + j) == 0) continue;
        pixels_.at(tx + i, ty + j) = pixels_.at(x + i, y + j);
        compared_.at(tx + i, ty + j) = compared_.at(x + i, y + j);
        confidence_.at(tx + i, ty + j) = confidence;
        hole_.at(tx + i, ty + j) = 0;
      }
  }

  // Computes the mean of those of the four neighbours that lie in the picture and, with filled_alone, outside of
  // `hole`. Returns false if there is none.
  bool mean_at(const HostImage<Samples> &from, const Picture &hole, int x, int y, bool filled_alone,
               Samples *mean) const {
    Samples sum{};
    int count = 0;
    for (const auto &[i, j] : {std::pair{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}}) {
      if (!inside(i, j) || (filled_alone && hole.at(i, j) != 0)) continue;
      for (std::size_t c = 0; c < 4; ++c) sum[c] += from.at(i, j)[c];
      ++count;
    }
    if (count == 0) return false;
    for (std::size_t c = 0; c < 4; ++c)
      (*mean)[c] = static_cast<int>(std::floor(double(sum[c]) / count + 0.5));
    return true;
  }

  void diffuse() {
    const Picture left = hole_;
    while (count_of(hole_, std::uint8_t{1}) > 0) {
      const HostImage<Samples> before = pixels_;
      const Picture hole = hole_;
      for (int y = 0; y < height_; ++y)
        for (int x = 0; x < width_; ++x)
          if (hole.at(x, y) != 0 && mean_at(before, hole, x, y, true, &pixels_.at(x, y))) hole_.at(x, y) = 0;
    }
    for (int round = 0; round < 32; ++round) {
      const HostImage<Samples> before = pixels_;
      for (int y = 0; y < height_; ++y)
        for (int x = 0; x < width_; ++x)
          if (left.at(x, y) != 0) mean_at(before, left, x, y, false, &pixels_.at(x, y));
    }
  }

  void write(HostFrame *frame) const {
    const int w = cell_width(frame_), h = cell_height(frame_);
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x) {
        if (removed_.at(x, y) == 0) continue;
        frame->sample(0, x, y) = static_cast<std::uint8_t>(pixels_.at(x, y)[0]);
        for (int c = 1; c < frame_.component_count(); ++c) {
          int sum = 0, count = 0;
          for (int j = y / h * h; j < std::min(height_, y / h * h + h); ++j)
            for (int i = x / w * w; i < std::min(width_, x / w * w + w); ++i)
              sum += pixels_.at(i, j)[static_cast<std::size_t>(c)], ++count;
          frame->sample(c, x, y) = static_cast<std::uint8_t>((2 * sum + count) / (2 * count));
        }
      }
  }

  HostFrame frame_;
  Picture removed_, hole_;
  InpaintParams params_;
  RgbMatrix matrix_;
  int width_, height_, radius_;
  HostImage<Samples> pixels_, compared_;
  HostImage<int> confidence_;
};

inline Filled definition(const HostFrame &frame, const Picture &mask, const InpaintParams &params,
                         const RgbMatrix &matrix = {}) {
  return Definition(frame, mask, params, matrix).run();
}

// An instance of the algorithm for frames of one size, with its log.
class TestedInpaint {
 public:
  static constexpr int kLogged = 4096;

  TestedInpaint(const Execution &execution, Size size)
      : execution_(execution), log_(execution, kLogged * sizeof(FillStep)) {
    const Status status = make_inpaint(execution, size, &inpaint_);
    EXPECT_TRUE(succeeds(status));
  }
  ~TestedInpaint() {
    inpaint_.reset();
    finish(execution_);
  }

  // Sets how the frames and masks of later runs lie in memory.
  void place(const Placement &frame, const Placement &mask) { frame_ = frame, mask_ = mask; }
  Inpaint &algorithm() { return *inpaint_; }

  // opaque: passes the frame's alpha channel as InpaintFrame::alpha, so that the hole becomes opaque.
  Filled run(const HostFrame &pixels, const Picture &mask, const InpaintParams &params,
             const RgbMatrix &matrix = {}, bool opaque = false) {
    const TestFrame frame(execution_, pixels, frame_);
    const TestImage<std::uint8_t> masked(execution_, mask, mask_);
    InpaintFrame job{frame.frame(), {}, masked.view(), matrix};
    if (opaque) {
      job.alpha = job.frame.component[0];
      job.alpha.data += 3 - pixels.format->layout.place[0].offset_bytes;
    }
    InpaintReport report;
    const Status status =
        inpaint_->run(job, params, &report, {reinterpret_cast<FillStep *>(log_.data()), kLogged}, {});
    EXPECT_TRUE(succeeds(status));
    finish(execution_);
    Filled filled{frame.download(), {}, report};
    const int count = std::min(report.patches, kLogged);
    const std::vector<std::uint8_t> bytes = log_.read(static_cast<std::size_t>(count) * sizeof(FillStep));
    const auto *steps = reinterpret_cast<const FillStep *>(bytes.data());
    filled.steps.assign(steps, steps + count);
    return filled;
  }

 private:
  Execution execution_;
  Memory log_;
  Placement frame_ = kAligned, mask_ = kAligned;
  std::unique_ptr<Inpaint> inpaint_;
};

// --- pictures and masks ---

inline Picture no_mask(Size size) { return Picture(size, 0); }
inline void remove(Picture *mask, Region region, std::uint8_t value = 255) {
  for (int y = std::max(0, region.y); y < std::min(mask->height(), region.y + region.height); ++y)
    for (int x = std::max(0, region.x); x < std::min(mask->width(), region.x + region.width); ++x)
      mask->at(x, y) = value;
}
inline Picture mask_of(Size size, Region region) {
  Picture mask = no_mask(size);
  remove(&mask, region);
  return mask;
}

// A frame with smooth noise in every component, similar to a photograph.
inline HostFrame textured(const std::string &format, Size size, unsigned seed, int radius_px = 1) {
  HostFrame frame(format_of(format), size, seed);
  for (int c = 0; c < frame.component_count(); ++c) {
    const Picture texture = smooth_noise(size, radius_px, seed + static_cast<unsigned>(c) * 7);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) frame.sample(c, x, y) = texture.at(x, y);
  }
  return frame;
}

// A frame with the same picture in every component.
inline HostFrame drawn(const std::string &format, const Picture &picture) {
  HostFrame frame(format_of(format), picture.size(), 1);
  for (int c = 0; c < frame.component_count(); ++c)
    for (int y = 0; y < picture.height(); ++y)
      for (int x = 0; x < picture.width(); ++x) frame.sample(c, x, y) = picture.at(x, y);
  return frame;
}

}  // namespace cudavision::test
