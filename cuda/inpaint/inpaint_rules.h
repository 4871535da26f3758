// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic of inpaint.h that both backends share: pixel words, colour conversion, chroma cells,
// priorities and the state of the fill.
#pragma once

#include <cstdint>

#include "cuda/common/backends.h"
#include "cuda/common/chroma.h"
#include "cuda/common/frame.h"
#include "cuda/common/host_device.h"
#include "cuda/common/normal_math_rules.h"
#include "cuda/inpaint/inpaint.h"
#include "cuda/luma/luma.h"

namespace cudavision::inpaint {

constexpr int kFullConfidence = 65536;
// Confidences are stored in 16 bits. The confidence of a patch with an unfilled pixel is less than 65535, so that this
// code is free for kFullConfidence.
using ConfidenceCode = std::uint16_t;
constexpr int kMaxPatchSize = InpaintRanges::patch_size.most;
constexpr int kMaxPatchPixels = kMaxPatchSize * kMaxPatchSize;
// The bits of a coordinate in keys, and of a whole source_key().
constexpr int kPlaceBits = 14, kSourceKeyBits = 54;
static_assert(kMaxSide <= 1 << kPlaceBits);
static_assert(std::int64_t{3 * kMaxPatchPixels} * 255 * 255 <
              (std::int64_t{1} << (kSourceKeyBits - 2 * kPlaceBits)) - 1);
// The source_key() of a search that has found no candidate: larger than every key.
constexpr std::uint64_t kNoSource = (std::uint64_t{1} << kSourceKeyBits) - 1;

// Published instead of a source_key() to stop the fill. It is less than every source_key(), because no patch around the
// pixel (0, 0) lies inside the picture.
constexpr std::uint64_t kStopped = 0;

// --- pixel words: three components, or three compared bytes, in bytes 0 to 2, and the luma in byte 3 ---

constexpr std::uint32_t kComparedBytes = 0xffffff;

CUDAVISION_HOST_DEVICE constexpr std::uint32_t pack(int c0, int c1, int c2, int luma) {
  return static_cast<std::uint32_t>(c0) | static_cast<std::uint32_t>(c1) << 8 |
         static_cast<std::uint32_t>(c2) << 16 | static_cast<std::uint32_t>(luma) << 24;
}
CUDAVISION_HOST_DEVICE constexpr int byte_of(std::uint32_t word, int i) {
  return static_cast<int>(word >> (8 * i) & 255);
}

CUDAVISION_HOST_DEVICE inline std::uint32_t pixel_word(const Frame &frame, int x, int y) {
  const int c0 = frame.component[0].at(x, y);
  if (frame.model == ColorModel::gray) return pack(c0, 0, 0, c0);
  const int c1 = frame.component[1].at(x, y), c2 = frame.component[2].at(x, y);
  return pack(c0, c1, c2, frame.model == ColorModel::rgb ? luma_of_rgb(c0, c1, c2) : c0);
}

CUDAVISION_HOST_DEVICE constexpr int to_byte(int value) { return value < 0 ? 0 : value > 255 ? 255 : value; }

CUDAVISION_HOST_DEVICE constexpr std::uint32_t rgb_of_yuv(std::uint32_t word, const RgbMatrix &m) {
  const int y = m.luma * (byte_of(word, 0) - m.offset) + (1 << 13);
  const int u = byte_of(word, 1) - 128, v = byte_of(word, 2) - 128;
  return pack(to_byte((y + m.red_v * v) >> 14), to_byte((y + m.green_u * u + m.green_v * v) >> 14),
              to_byte((y + m.blue_u * u) >> 14), byte_of(word, 3));
}

// Tables that convert sRGB to L*a*b* with white point D65 in 8 bits, as cv::cvtColor does except for rare
// roundings: L * 255 / 100, a + 128, b + 128.
struct LabTables {
  // The linear value of an sRGB byte, times 8 * 255.
  std::uint16_t linear[256];
  // f(t / (8 * 255)), times 2^15, where f is the cube root of CIE L*a*b* with its linear part near 0.
  std::uint16_t root[3 * 256 * 4];
};

CUDAVISION_HOST_DEVICE inline std::uint32_t lab_of_rgb(std::uint32_t word, const LabTables &tables) {
  const int r = tables.linear[byte_of(word, 0)], g = tables.linear[byte_of(word, 1)],
            b = tables.linear[byte_of(word, 2)];
  // The rows of the matrix from linear sRGB to XYZ, divided by the white point, times 2^12.
  const int fx = tables.root[(1777 * r + 1541 * g + 778 * b + 2048) >> 12];
  const int fy = tables.root[(871 * r + 2929 * g + 296 * b + 2048) >> 12];
  const int fz = tables.root[(73 * r + 448 * g + 3575 * b + 2048) >> 12];
  constexpr int kOne = 1 << 15, kHalf = 1 << 14;
  // (116 fy - 16) 255 / 100, rounded as in OpenCV.
  const int l = (296 * fy - 1336934 + kHalf) >> 15;
  return pack(to_byte(l), to_byte((500 * (fx - fy) + 128 * kOne + kHalf) >> 15),
              to_byte((200 * (fy - fz) + 128 * kOne + kHalf) >> 15), byte_of(word, 3));
}

// The feature of a pixel: the three bytes by which patches are compared. Its highest byte is 0. If lab is
// null, the feature of a colour pixel is its RGB, otherwise its L*a*b*.
CUDAVISION_HOST_DEVICE inline std::uint32_t feature_of(std::uint32_t pixel, ColorModel model,
                                                       const RgbMatrix &matrix, const LabTables *lab) {
  if (model == ColorModel::gray) return pixel & kComparedBytes;
  const std::uint32_t rgb = model == ColorModel::yuv ? rgb_of_yuv(pixel, matrix) : pixel;
  return (lab != nullptr ? lab_of_rgb(rgb, *lab) : rgb) & kComparedBytes;
}
// Returns the feature with the luma of its pixel word in the highest byte.
CUDAVISION_HOST_DEVICE constexpr std::uint32_t with_luma(std::uint32_t feature, std::uint32_t pixel) {
  return feature | (pixel & ~kComparedBytes);
}

// --- chroma cells ---

// True if the chroma cell of pixel (x, y) contains a masked pixel.
CUDAVISION_HOST_DEVICE inline bool is_removed(const Frame &frame, ImageView<const std::uint8_t> mask, int x,
                                              int y) {
  const int sx = cell_shift_x(frame), sy = cell_shift_y(frame);
  const int x0 = x >> sx << sx, y0 = y >> sy << sy;
  bool removed = false;
  for (int j = y0; j < y0 + (1 << sy) && j < frame.height; ++j)
    for (int i = x0; i < x0 + (1 << sx) && i < frame.width; ++i) removed = removed || mask.row(j)[i] != 0;
  return removed;
}

// Writes the chroma cell whose upper left pixel is (x, y), and which lies in the hole, to the frame: component 0 pixel
// by pixel, chroma as the mean over the cell's pixels, rounded half up. word(x, y) returns a pixel word of components.
template <typename Word>
CUDAVISION_HOST_DEVICE void write_cell(const InpaintFrame &to, int x, int y, const Word &word) {
  const Frame &frame = to.frame;
  const int x1 = x + (1 << cell_shift_x(frame)), y1 = y + (1 << cell_shift_y(frame));
  int sum1 = 0, sum2 = 0, count = 0;
  for (int j = y; j < y1 && j < frame.height; ++j)
    for (int i = x; i < x1 && i < frame.width; ++i) {
      const std::uint32_t w = word(i, j);
      frame.component[0].at(i, j) = static_cast<std::uint8_t>(byte_of(w, 0));
      if (to.alpha.data != nullptr) to.alpha.at(i, j) = 255;
      sum1 += byte_of(w, 1), sum2 += byte_of(w, 2), ++count;
    }
  if (frame.model == ColorModel::gray) return;
  frame.component[1].at(x, y) = static_cast<std::uint8_t>((sum1 + count / 2) / count);
  frame.component[2].at(x, y) = static_cast<std::uint8_t>((sum2 + count / 2) / count);
}

// --- confidence, gradient, normal, priority ---

CUDAVISION_HOST_DEVICE constexpr ConfidenceCode code_of_confidence(int confidence) {
  return static_cast<ConfidenceCode>(confidence < 65535 ? confidence : 65535);
}
CUDAVISION_HOST_DEVICE constexpr int confidence_of_code(ConfidenceCode code) {
  return code + (code == 65535 ? 1 : 0);
}

// The Sobel gradient, at a pixel of the front, of the indicator of unfilled pixels.
struct Normal {
  int x, y;
};

// The terms on which the priority of a pixel of the front depends, besides the gradients around it.
struct FrontPixel {
  float confidence;
  Normal normal;
  // The length of the normal times 510, twice the largest gradient.
  float scale;
};
CUDAVISION_HOST_DEVICE inline FrontPixel front_pixel(int confidence, Normal normal) {
  const int squares = normal.x * normal.x + normal.y * normal.y;
  // If the normal is 0, the data term is 0 for any scale.
  return {static_cast<float>(confidence), normal,
          510.0f * normal_root(static_cast<float>(squares > 0 ? squares : 1))};
}

// The priority, times 65536, of a pixel of the front. gradient_x, gradient_y: the longest gradient of luma in the
// patch, which is perpendicular to the isophote.
CUDAVISION_HOST_DEVICE inline float priority_of(const FrontPixel &pixel, int gradient_x, int gradient_y) {
  const int across = gradient_x * pixel.normal.y - gradient_y * pixel.normal.x;
  const auto length = static_cast<float>(across < 0 ? -across : across);
  return pixel.confidence * (normal_quotient(length, pixel.scale) + 0.001f);
}

// A place in the picture.
struct Place {
  int x, y;
};

// The columns and rows from a target to its source.
struct Shift {
  int x, y;
};

// Packs a place into a number. Larger numbers are later in row-major order.
CUDAVISION_HOST_DEVICE constexpr std::uint32_t place_word(Place place) {
  return static_cast<std::uint32_t>(place.y) << kPlaceBits | static_cast<std::uint32_t>(place.x);
}
CUDAVISION_HOST_DEVICE constexpr Place place_of_word(std::uint32_t word) {
  constexpr std::uint32_t kMask = (1u << kPlaceBits) - 1;
  return {static_cast<int>(word & kMask), static_cast<int>(word >> kPlaceBits & kMask)};
}

// Keys that can be compared as integers. The best target has the largest target_key(), the best source has the smallest
// source_key(); ties go to the first pixel in row-major order. Floats of at least 0 have the same order as their bits.
CUDAVISION_HOST_DEVICE constexpr std::uint64_t target_key(std::uint32_t priority_bits, Place place) {
  return std::uint64_t{priority_bits} << 32 | ~place_word(place);
}
CUDAVISION_HOST_DEVICE constexpr Place place_of_target(std::uint64_t key) {
  return place_of_word(~static_cast<std::uint32_t>(key));
}
CUDAVISION_HOST_DEVICE constexpr std::uint64_t source_key(std::uint32_t sum, Place place) {
  return std::uint64_t{sum} << (2 * kPlaceBits) | place_word(place);
}
CUDAVISION_HOST_DEVICE constexpr Place place_of_source(std::uint64_t key) {
  return place_of_word(static_cast<std::uint32_t>(key));
}
CUDAVISION_HOST_DEVICE constexpr std::uint32_t sum_of_source(std::uint64_t key) {
  return static_cast<std::uint32_t>(key >> (2 * kPlaceBits));
}

// --- the state of the fill: an area around the hole with everything that changes from patch to patch ---

// The pixels [x0, x1) x [y0, y1).
struct Bounds {
  int x0, y0, x1, y1;
};

// A reach with which the search window is the whole picture.
CUDAVISION_HOST_DEVICE constexpr int everywhere(Size size) {
  return size.width > size.height ? size.width : size.height;
}

// The centres of the patches in a picture that are at most `reach` columns and rows away from the target. The bounds
// are empty (x1 <= x0 or y1 <= y0) if there are none.
CUDAVISION_HOST_DEVICE constexpr Bounds search_window(Size size, Place target, int radius, int reach) {
  const int x = target.x, y = target.y;
  // These comparisons do not overflow for any reach.
  const int left = x > reach ? x - reach : 0, top = y > reach ? y - reach : 0;
  const int right = reach < size.width - x ? x + reach + 1 : size.width;
  const int bottom = reach < size.height - y ? y + reach + 1 : size.height;
  return {left > radius ? left : radius, top > radius ? top : radius,
          right < size.width - radius ? right : size.width - radius,
          bottom < size.height - radius ? bottom : size.height - radius};
}

// The area of the state. It contains the patch around every pixel of the hole and the neighbours of the patch's pixels,
// as far as they lie in the picture.
CUDAVISION_HOST_DEVICE constexpr Region area_around(Bounds hole, int radius, int width, int height) {
  const int margin = radius + 1;
  const int x0 = hole.x0 - margin > 0 ? hole.x0 - margin : 0,
            y0 = hole.y0 - margin > 0 ? hole.y0 - margin : 0;
  const int x1 = hole.x1 + margin < width ? hole.x1 + margin : width;
  const int y1 = hole.y1 + margin < height ? hole.y1 + margin : height;
  return {x0, y0, x1 - x0, y1 - y0};
}

// Arrays of area.height rows of `pitch` elements, at least area.width. Coordinates are relative to the area.
struct FillState {
  Region area;
  int pitch;
  // The word of a filled pixel is its feature with luma (with_luma()). The word of an unfilled pixel is its priority,
  // as the bits of a float, or 0 if the pixel is not on the front. A pixel of the front stays on it until it is filled.
  std::uint32_t *words;
  // The code_of_confidence() of a filled pixel, 0 for an unfilled one.
  ConfidenceCode *confidence;

  CUDAVISION_HOST_DEVICE int index(int x, int y) const { return y * pitch + x; }
  CUDAVISION_HOST_DEVICE bool holds(int x, int y) const {
    return x >= 0 && y >= 0 && x < area.width && y < area.height;
  }
  CUDAVISION_HOST_DEVICE int luma(int x, int y) const { return byte_of(words[index(x, y)], 3); }
  CUDAVISION_HOST_DEVICE std::uint32_t priority(int at) const { return confidence[at] == 0 ? words[at] : 0; }
  // Pixels outside of the area count as unfilled. There the picture ends, or the hole is too far away to matter.
  CUDAVISION_HOST_DEVICE bool filled(int x, int y) const {
    return holds(x, y) && confidence[index(x, y)] > 0;
  }
};

// The pixels of the area at most `radius` columns and rows away from (x, y).
CUDAVISION_HOST_DEVICE constexpr Bounds window_around(Region area, int x, int y, int radius) {
  return {x - radius > 0 ? x - radius : 0, y - radius > 0 ? y - radius : 0,
          x + radius + 1 < area.width ? x + radius + 1 : area.width,
          y + radius + 1 < area.height ? y + radius + 1 : area.height};
}

// The gradient of luma at a pixel of the area that is not on its border.
struct LumaGradient {
  int x = 0, y = 0;

  LumaGradient() = default;
  CUDAVISION_HOST_DEVICE LumaGradient(const FillState &s, int px, int py)
      : x(s.luma(px + 1, py) - s.luma(px - 1, py)), y(s.luma(px, py + 1) - s.luma(px, py - 1)) {}
  CUDAVISION_HOST_DEVICE int squared_length() const { return x * x + y * y; }
};

CUDAVISION_HOST_DEVICE inline bool on_front(const FillState &s, int x, int y) {
  const int at = s.index(x, y);
  const bool left = x > 0 && s.confidence[at - 1] > 0,
             right = x + 1 < s.area.width && s.confidence[at + 1] > 0;
  const bool above = y > 0 && s.confidence[at - s.pitch] > 0,
             below = y + 1 < s.area.height && s.confidence[at + s.pitch] > 0;
  return (s.confidence[at] == 0) & (left | right | above | below);
}

CUDAVISION_HOST_DEVICE inline Normal normal_at(const FillState &s, int x, int y) {
  const auto unfilled = [&](int i, int j) {
    const int cx = clamp_index(x + i, s.area.width), cy = clamp_index(y + j, s.area.height);
    return s.confidence[s.index(cx, cy)] == 0 ? 1 : 0;
  };
  const int a = unfilled(-1, -1), b = unfilled(0, -1), c = unfilled(1, -1), d = unfilled(-1, 0),
            e = unfilled(1, 0), f = unfilled(-1, 1), g = unfilled(0, 1), h = unfilled(1, 1);
  return {c + 2 * e + h - a - 2 * d - f, f + 2 * g + h - a - 2 * b - c};
}

// The confidence term of a patch whose pixels have this sum of confidences.
CUDAVISION_HOST_DEVICE constexpr int confidence_of(int sum, int pixels) {
  return sum / pixels > 1 ? sum / pixels : 1;
}

}  // namespace cudavision::inpaint
