// SPDX-License-Identifier: LGPL-2.1-or-later
// The iteration of one pixel by a warp, for pixels whose windows share little with those of others. Tensor cores
// compute the sums of (Ix, Iy) J for several cells at once, as a product of matrices of bytes (byte_matrix.cuh).
//
// The columns of the right factor are derivatives: the high and the low bytes of Ix and Iy in a row of the window,
// and the same in the row below it. The rows of the left factor are pixels of J: those of four rows of J, each of
// them displaced by 0 to 3 columns. A column of derivatives from row w of the window (0 or 1) and a row of pixels
// from row r of J (0 to 3) give a part of the sum for the displacement (0 to 3, r - w). The next product has the next
// two rows of the window, and at the end the sums are complete for the displacements by 0 to 2 rows. These are the
// corners of 3 x 2 cells. All sums are integers, so that the result is that of the other kernels.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "cuda/common/byte_matrix.cuh"
#include "cuda/common/resident_blocks.cuh"
#include "cuda/common/warp.cuh"
#include "cuda/opticalflow/flow_work.cuh"

namespace cudavision::opticalflow {

// How a window is divided: a step takes two rows with up to 32 columns. A window with up to 16 columns is folded: a
// step takes two rows, and beside them the two rows that lie kFold rows below. kSteps: the number of steps.
constexpr int kFold = 8;
template <int kSteps>
constexpr bool kIsFolded = kSteps == kFold / 2;
CUDAVISION_HOST_DEVICE constexpr bool is_folded(int window) { return window <= 2 * kFold; }
// The steps of windows with sides of at most 16, 22 and 32 pixels.
constexpr int kStepsOfSmall = kFold / 2, kStepsOfMiddle = 11, kStepsOfLarge = 16;
static_assert(2 * kMaxRadius + 1 <= 2 * kStepsOfLarge);
template <int kSteps>
constexpr int kLeastWindow = kIsFolded<kSteps>          ? OpticalFlowRanges::window_size.least
                             : kSteps == kStepsOfMiddle ? 2 * kFold + 1
                                                        : 2 * kStepsOfMiddle + 1;
// Calls function(step, turn) for all steps; turn is a constant after unrolling. The compiler loads the rows of
// kStepsAtOnce steps at once: in the largest windows, those of all steps would take too many registers.
template <int kSteps, typename Function>
__device__ void for_each_step(const Function &function) {
  constexpr int kStepsAtOnce = kSteps == kStepsOfLarge ? kSteps / 2 : kSteps;
#pragma unroll 1
  for (int first = 0; first < kSteps; first += kStepsAtOnce) {
#pragma unroll
    for (int i = 0; i < kStepsAtOnce; ++i) function(first + i, i);
  }
}
// These windows have kernels of their own: the default, and that of the presets `fast` and `medium`.
constexpr int kDefaultWindow = OpticalFlowParams{}.window_size, kPresetWindow = 15;
// Calls function(kSteps, kWindow) with the constants for a window. kWindow: the window's size, or 0 if it has no
// kernels of its own.
template <typename Function>
auto with_window(int window, const Function &function) {
  constexpr std::integral_constant<int, kStepsOfSmall> kSmall;
  constexpr std::integral_constant<int, kStepsOfMiddle> kMiddle;
  constexpr std::integral_constant<int, 0> kAny;
  static_assert(is_folded(kPresetWindow) && !is_folded(kDefaultWindow) &&
                kDefaultWindow <= 2 * kStepsOfMiddle);
  if (window == kPresetWindow) return function(kSmall, std::integral_constant<int, kPresetWindow>());
  if (window == kDefaultWindow) return function(kMiddle, std::integral_constant<int, kDefaultWindow>());
  if (is_folded(window)) return function(kSmall, kAny);
  if (window <= 2 * kStepsOfMiddle) return function(kMiddle, kAny);
  return function(std::integral_constant<int, kStepsOfLarge>(), kAny);
}
// The rules with the window as a constant, unless kWindow is 0.
template <int kWindow>
__device__ TrackingRules rules_of(const DeviceWork &work) {
  TrackingRules rules = work.rules;
  if (kWindow > 0) rules.window = kWindow;
  return rules;
}

// The part of the factors of a matrix product that a lane holds (byte_matrix.cuh).
struct LanePlace {
  int row;   // 0 to 7
  int part;  // 0 to 3
};
__device__ inline LanePlace lane_place() {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  return {lane / 4, lane % 4};
}

// --- loads ---

// Reads the bytes of each pair of rows of a window that a lane holds, from a picture or from GradientBytes. kStride:
// the words from four bytes of a row to the next four.
template <bool kFolded, int kStride>
class RowReader {
 public:
  // at: the word that holds the first byte of the lane's first row of the window. x: the column of this byte.
  __device__ RowReader(const unsigned *at, int x, std::ptrdiff_t pitch_bytes)
      : at_(at + (kFolded ? 1 : 2) * kStride * lane_place().part),
        pitch_(pitch_bytes / static_cast<std::ptrdiff_t>(sizeof(unsigned))),
        shift_(static_cast<unsigned>(x & 3) * 8) {}
  // Reads the next pair of rows.
  __device__ WordPair next() {
    const unsigned *row = at_;
    at_ += 2 * pitch_;
    if constexpr (kFolded) {
      const unsigned *below = row + kFold * pitch_;
      return {__funnelshift_r(row[0], row[kStride], shift_),
              __funnelshift_r(below[0], below[kStride], shift_)};
    } else {
      const unsigned middle = row[kStride];
      return {__funnelshift_r(row[0], middle, shift_), __funnelshift_r(middle, row[2 * kStride], shift_)};
    }
  }

 private:
  const unsigned *at_;
  std::ptrdiff_t pitch_;
  unsigned shift_;
};

// Returns a RowReader that begins with pixel (x, y) of a picture.
template <int kSteps>
__device__ RowReader<kIsFolded<kSteps>, 1> picture_reader(ImageView<const std::uint8_t> picture, int x,
                                                          int y) {
  return {reinterpret_cast<const unsigned *>(picture.row(y) + (x & ~3)), x, picture.pitch_bytes};
}

// The derivatives of a window, as the right factors of its steps, in shared memory. Each lane writes and reads its own
// words.
template <int kSteps>
class WindowFactors {
 public:
  __device__ ByteColumns get(int step) const {
    const uint2 words = words_[step][threadIdx.x % 32];
    return {{words.x, words.y}};
  }
  __device__ void set(int step, uint2 words) { words_[step][threadIdx.x % 32] = words; }

 private:
  uint2 words_[kSteps][32];
};

// Loads the derivatives of the window around a pixel. Outside the window they are zero.
template <int kSteps, int kWindow>
__device__ void load_window(const DeviceWork &work, const Place &place, WindowFactors<kSteps> *factors) {
  constexpr bool kFolded = kIsFolded<kSteps>;
  const int window = rules_of<kWindow>(work).window, x = place.x - window / 2;
  const LanePlace lane = lane_place();
  // Words 0 to 3 of GradientBytes belong to columns 0 to 3 of a factor, and those of the row below to columns 4 to 7.
  const int row = lane.row / 4, y = place.y - window / 2 + row;
  const auto *at = reinterpret_cast<const unsigned *>(work.bytes.row(y) + (x >> 2)) + lane.row % 4;
  RowReader<kFolded, 4> reader(at, x, work.bytes.pitch_bytes);
  // A mask for the bytes of four columns from `column` on: all bits are set for columns in the window.
  const auto columns = [window](int column) {
    return window >= column + 4 ? ~0u : window <= column ? 0u : (1u << 8 * (window - column)) - 1;
  };
  const int column = (kFolded ? 4 : 8) * lane.part;
  const unsigned first = columns(column), second = kFolded ? first : columns(column + 4);
  for_each_step<kSteps>([&](int step, int) {
    const WordPair words = reader.next();
    const auto is_row = [&](int first_row) {
      return first_row + 1 < kLeastWindow<kSteps> || first_row + row < window;
    };
    const bool has_first = is_row(2 * step), has_second = is_row(kFolded ? 2 * step + kFold : 2 * step);
    factors->set(step, {has_first ? words.first & first : 0, has_second ? words.second & second : 0});
  });
}

// --- the sums that are the same for all cells ---

struct StartSums {
  StructureTensor tensor;
  FromSums from;
};

// Returns the structure tensor, from rows 0 to 7 of the product, which multiply the bytes of the derivatives with one
// another. With (r, c) for row r and column c of the product, the sum of Ix Ix is 2^16 (0, 0) + 2^8 ((0, 1) + (1, 0)) +
// (1, 1), plus the same with (r + 4, c + 4) for the lower row of each pair of rows.
__device__ inline StructureTensor tensor_of(const ProductSums &product) {
  const LanePlace lane = lane_place();
  long long sum = 256 * product.sum[0] + product.sum[1];
  if (lane.row % 2 == 0) sum *= 256;
  sum += __shfl_xor_sync(kFullWarp, sum, 4);           // adds row 2 k and row 2 k + 1
  sum += __shfl_down_sync(kFullWarp, sum, 4 * 4 + 2);  // adds element (r, c) and (r + 4, c + 4)
  const float element = scaled(sum);
  return {__shfl_sync(kFullWarp, element, 0), __shfl_sync(kFullWarp, element, 1),
          __shfl_sync(kFullWarp, element, 4 * 2 + 1)};
}

// Returns the sums of (Ix, Iy) I, from rows 8 to 10 of the product. Because the bytes of the left factor are signed,
// row 8 is made with the pixels of I less 128, and row 10 with those of the next row of I. Row 9 is made with ones: 128
// times this row makes up for the difference.
__device__ inline FromSums from_sums_of(const ProductSums &product) {
  const LanePlace lane = lane_place();
  const int weight =
      lane.row == 1 ? 128 : (lane.row == 0 && lane.part < 2) || (lane.row == 2 && lane.part >= 2);
  int sum = weight * (256 * product.sum[2] + product.sum[3]);
  // Sums with Ix lie in even lanes, those with Iy in odd lanes.
  for (int distance = 2; distance <= 8; distance *= 2) sum += __shfl_xor_sync(kFullWarp, sum, distance);
  return {__shfl_sync(kFullWarp, sum, 0), __shfl_sync(kFullWarp, sum, 1)};
}

// Computes the sums of a pixel. window: from load_window().
template <int kSteps, int kWindow>
__device__ StartSums start_sums(const DeviceWork &work, const Place &place,
                                const WindowFactors<kSteps> &window) {
  const LanePlace lane = lane_place();
  const int radius = rules_of<kWindow>(work).window / 2;
  const bool has_pixels = lane.row == 0 || lane.row == 2;
  const unsigned others = lane.row == 1 ? 0x01010101u : 0u;
  auto pixels = picture_reader<kSteps>(work.from, place.x - radius, place.y - radius + lane.row / 2);
  ProductSums product{};
  for_each_step<kSteps>([&](int step, int) {
    const ByteColumns derivatives = window.get(step);
    WordPair below{others, others};
    if (has_pixels) {
      const WordPair words = pixels.next();
      below = {words.first ^ 0x80808080u, words.second ^ 0x80808080u};
    }
    const ByteRows rows{{derivatives.word[0], below.first, derivatives.word[1], below.second}};
    multiply_add<true>(rows, derivatives, &product);
  });
  return {tensor_of(product), from_sums_of(product)};
}

// --- the sums of cells ---

// The sums for the corners of 3 x 2 neighbouring cells, in shared memory: one CornerSums for each pixel of a warp.
constexpr int kCornersX = 4, kCornersY = 3;
struct alignas(float2) CornerSums {
  // [row][column][of Ix or Iy]: the sums of (Ix, Iy) (J - I)
  float corner[kCornersY][kCornersX][2];

  // The sums of the cell that lies `x` cells to the right of the first cell and `y` cells below it.
  __device__ FloatCellSums of(int x, int y) const {
    const auto *above = reinterpret_cast<const float2 *>(corner[y][x]), *below = above + kCornersX;
    return {{above[0].x, above[1].x, below[0].x, below[1].x},
            {above[0].y, above[1].y, below[0].y, below[1].y}};
  }
};

// Returns the first of the 3 x 2 cells whose sums are computed next: the cell of d, and neighbours that d is likely to
// enter. In x, the neighbours lie in the direction of the last step if it was at least a pixel long in x, otherwise on
// both sides. In y, they lie above or below: on the side of d to which half the last step leads.
__device__ inline DisplacementCell first_cell_around(const Tracker &t) {
  const DisplacementCell cell = cell_of(t.d);
  const int way = t.last_step.x >= 1.0f ? 1 : t.last_step.x <= -1.0f ? -1 : 0;
  const bool goes_up = t.d.y - floorf(t.d.y) + 0.5f * t.last_step.y < 0.5f;
  return {cell.x - 1 + way, goes_up ? cell.y - 1 : cell.y};
}

// Writes the sums for the corners. The head of this file describes the elements of the product.
__device__ inline void write_corners(const ProductSums &product, const FromSums &from, CornerSums *sums) {
  const int lane = static_cast<int>(threadIdx.x) % 32, column = lane / 4 % kCornersX;
  const bool is_upper = lane < 16;
  // upper: the sum with row 0 of J if is_upper, otherwise with row 1. lower: with row 2 or 3.
  const int upper = 256 * product.sum[0] + product.sum[1], lower = 256 * product.sum[2] + product.sum[3];
  // The sums with the next row of J and the other row of the window, which belong to the same displacement.
  const int other = (lane + 4 * kCornersX + 2) % 32;
  const int other_upper = __shfl_sync(kFullWarp, upper, other),
            other_lower = __shfl_sync(kFullWarp, lower, other);
  const int of_from = lane % 2 == 0 ? from.x : from.y;
  float *to = &sums->corner[is_upper ? 0 : 1][column][lane % 2];
  if (lane % 4 < 2) *to = static_cast<float>(upper + (is_upper ? other_upper : other_lower) - of_from);
  if (lane % 4 < 2 && is_upper) to[2 * 2 * kCornersX] = static_cast<float>(lower + other_lower - of_from);
}

// Computes the sums for the corners of the cells from `first` on.
template <int kSteps, int kWindow>
__device__ void correlate(const DeviceWork &work, const Place &place, const WindowFactors<kSteps> &window,
                          const FromSums &from, const DisplacementCell &first, CornerSums *sums) {
  const int lane = static_cast<int>(threadIdx.x) % 32, radius = rules_of<kWindow>(work).window / 2;
  auto pixels = picture_reader<kSteps>(work.to, place.x - radius + first.x + lane / 4 % kCornersX,
                                       place.y - radius + first.y + lane / (4 * kCornersX));
  // Several accumulators, because a product waits for the one that it is added to.
  constexpr int kProducts = 2;
  ProductSums product[kProducts] = {};
  WordPair above = pixels.next();
  for_each_step<kSteps>([&](int step, int turn) {
    const WordPair below = pixels.next();
    multiply_add<false>({{above.first, below.first, above.second, below.second}}, window.get(step),
                        &product[turn % kProducts]);
    above = below;
  });
#pragma unroll
  for (int other = 1; other < kProducts; ++other)
    for (int i = 0; i < 4; ++i) product[0].sum[i] += product[other].sum[i];
  write_corners(product[0], from, sums);
}

// --- the iteration ---

// The warps that a multiprocessor can hold at once, as limited by their registers.
constexpr int resident_warps(int steps) {
  return steps == kStepsOfSmall ? 24 : steps == kStepsOfLarge && kSpillsSooner ? 16 : 20;
}
// How many pixels a warp tracks at the same time if a level has many vectors.
constexpr int many_pixels(int steps) { return steps == kStepsOfSmall ? 4 : 2; }

// Tracks kPixels pixels by a warp. The lanes form one group for each pixel. All lanes compute the sums of one pixel
// after the other, and each group then makes the steps of its own pixel, at the same time as the other groups.
template <int kSteps, int kWindow, int kPixels>
class WarpTracker {
 public:
  static constexpr int kGroup = 32 / kPixels;
  // The shared memory of a warp.
  struct Storage {
    WindowFactors<kSteps> window[kPixels];
    CornerSums sums[kPixels];
  };
  __device__ WarpTracker(const DeviceWork &work, Storage *storage) : work_(work), storage_(*storage) {}

  // Loads the windows of the pixels. x, y: of this lane's pixel.
  __device__ void load(int x, int y) {
    place_ = {x, y, work_.fine.size};
#pragma unroll 1
    for (int pixel = 0; pixel < kPixels; ++pixel)
      load_window<kSteps, kWindow>(work_, place_of(pixel), &storage_.window[pixel]);
  }
  // Computes the sums of this lane's pixel that are the same for all cells.
  __device__ StartSums start() {
    StartSums mine{};
#pragma unroll 1
    for (int pixel = 0; pixel < kPixels; ++pixel) {
      const StartSums sums = start_sums<kSteps, kWindow>(work_, place_of(pixel), storage_.window[pixel]);
      if (pixel == group()) mine = sums;
    }
    return mine;
  }
  // Finishes the iteration of this lane's pixel. from: the sums of (Ix, Iy) I of this lane's pixel.
  __device__ Tracker finish(Tracker t, const FromSums &from) {
    while (is_any(t.running)) {
      const DisplacementCell first = t.running ? first_cell_around(t) : DisplacementCell{};
#pragma unroll 1
      for (int pixel = 0; pixel < kPixels; ++pixel)
        if (of(pixel, t.running))
          correlate<kSteps, kWindow>(work_, place_of(pixel), storage_.window[pixel],
                                     {of(pixel, from.x), of(pixel, from.y)},
                                     {of(pixel, first.x), of(pixel, first.y)}, &storage_.sums[pixel]);
      __syncwarp();
      if (t.running) step_in_cells(first, &t);
      __syncwarp();
    }
    return t;
  }

 private:
  __device__ static int group() { return static_cast<int>(threadIdx.x) % 32 / kGroup; }
  // Returns, in all lanes, the value that the lanes in the group of `pixel` hold.
  template <typename T>
  __device__ static T of([[maybe_unused]] int pixel, T value) {
    if constexpr (kPixels == 1)
      return value;
    else
      return static_cast<T>(__shfl_sync(kFullWarp, static_cast<int>(value), pixel * kGroup));
  }
  __device__ static bool is_any(bool value) {
    return kPixels == 1 ? value : __any_sync(kFullWarp, value) != 0;
  }
  __device__ Place place_of(int pixel) const {
    return {of(pixel, place_.x), of(pixel, place_.y), place_.size};
  }

  // Makes the steps of this lane's pixel inside the cells whose corners have sums.
  __device__ void step_in_cells(const DisplacementCell &first, Tracker *t) const {
    const CornerSums &sums = storage_.sums[group()];
    FlowVector corner = corner_of(t->d);
    int x = static_cast<int>(corner.x) - first.x, y = static_cast<int>(corner.y) - first.y;
    do {
      corner = step(place_, rules_of<kWindow>(work_), interpolate(sums.of(x, y), t->d, corner), t);
      if (!t->running) return;
      x = static_cast<int>(corner.x) - first.x, y = static_cast<int>(corner.y) - first.y;
    } while (static_cast<unsigned>(x) < kCornersX - 1 && static_cast<unsigned>(y) < kCornersY - 1);
  }

  const DeviceWork &work_;
  Storage &storage_;
  Place place_;
};

}  // namespace cudavision::opticalflow
