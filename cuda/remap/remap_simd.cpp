// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU backend of the remapping. Its loops are plain C++. The compiler vectorises those of the arithmetic, once per
// instruction set; a loop between them fetches the samples one by one, which takes about as long as vector gathers do.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cuda/remap/remap_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include <hwy/highway.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <type_traits>

#include "cuda/remap/remap_backends.h"

HWY_BEFORE_NAMESPACE();
namespace cudavision::remap::HWY_NAMESPACE {

// Everything is compiled into this function, so that the compiler vectorises its loop.
template <Lens kLens>
__attribute__((flatten)) void make_map_row(const CameraModel &camera, const MapTask &task, int y) {
  const std::ptrdiff_t first = task.map.entry(0, y);
  const RowOfRays row = task.rows[y];
  for (int x = 0; x < task.map.size.width; ++x)
    map_sample<kLens>(camera, task, task.columns[x], row, &task.map.places[first + x],
                      &task.map.fractions[first + x]);
}

void map_row(const CameraModel &camera, const MapTask &task, int y) {
  const auto make_row =
      camera.lens == Lens::fisheye ? make_map_row<Lens::fisheye> : make_map_row<Lens::pinhole>;
  make_row(camera, task, y);
}

constexpr int kChunk = 256;  // samples whose neighbours are fetched before they are interpolated

// Parts of each sample of a chunk: its four neighbours, left and right, above and below, or the nearest one alone; then
// how far it is beyond the first of them in x and in y, repeated for each channel.
template <int kChannels>
struct Chunk {
  alignas(64) Sample<kChannels> part[6][kChunk];
};

template <int kChannels>
Sample<kChannels> load_sample(const std::uint8_t *from) {
  if constexpr (kChannels == 3) return from[0] | from[1] << 8 | static_cast<std::uint32_t>(from[2]) << 16;
  Sample<kChannels> sample;
  std::memcpy(&sample, from, sizeof sample);
  return sample;
}

// Sets the neighbours of a sample of which not all are inside.
template <int kChannels, Interpolation kInterpolation>
HWY_NOINLINE void fetch_border(const GridTask &task, Place place, std::uint16_t fraction, int i,
                               Chunk<kChannels> *chunk) {
  constexpr bool is_linear = kInterpolation == Interpolation::linear;
  const int x = is_linear ? place.x : nearest(place.x, fraction_x(fraction)),
            y = is_linear ? place.y : nearest(place.y, fraction_y(fraction));
  for (int n = 0; n < (is_linear ? 4 : 1); ++n) {
    std::uint8_t channels[kChannels];
    for (int c = 0; c < kChannels; ++c)
      channels[c] = place.x == kNowhere
                        ? task.constant[c]
                        : static_cast<std::uint8_t>(border_sample(task, x + n % 2, y + n / 2, c));
    chunk->part[n][i] = load_sample<kChannels>(channels);
  }
}

// Loads the neighbours of each sample.
template <int kChannels, Interpolation kInterpolation>
void fetch(const GridTask &task, const Place *places, const std::uint16_t *fractions, int count,
           Chunk<kChannels> *chunk) {
  constexpr bool is_linear = kInterpolation == Interpolation::linear;
  constexpr int kOutside = INT_MIN;
  const SampleGrid source = task.source;
  const int pitch = static_cast<int>(source.pitch_bytes), step = source.step_bytes;
  const Size size = task.source_size;
  int offsets[kChunk];
  for (int i = 0; i < count; ++i) {
    const int x = is_linear ? places[i].x : nearest(places[i].x, fraction_x(fractions[i])),
              y = is_linear ? places[i].y : nearest(places[i].y, fraction_y(fractions[i]));
    offsets[i] = is_inside(size, x, y, kInterpolation) ? y * pitch + x * step : kOutside;
  }
  for (int i = 0; i < count; ++i) {
    if (offsets[i] == kOutside) {
      fetch_border<kChannels, kInterpolation>(task, places[i], fractions[i], i, chunk);
      continue;
    }
    const std::uint8_t *from = source.data + offsets[i];
    for (int n = 0; n < (is_linear ? 4 : 1); ++n)
      chunk->part[n][i] = load_sample<kChannels>(from + n / 2 * source.pitch_bytes + n % 2 * step);
  }
}

// interpolate() without numbers above 16 bits, of which a vector holds twice as many.
std::uint8_t interpolate_in_16_bits(int top_left, int top_right, int bottom_left, int bottom_right, int x,
                                    int y) {
  const auto narrow = [](int value) { return static_cast<std::int16_t>(value); };
  const int top = narrow(kFractions * top_left + x * (top_right - top_left)),
            bottom = narrow(kFractions * bottom_left + x * (bottom_right - bottom_left)),
            difference = narrow(bottom - top), whole = narrow(y * (difference >> kFractionBits)),
            rest = narrow(y * (difference & (kFractions - 1)) + kFractions * kFractions / 2);
  return static_cast<std::uint8_t>(narrow(top + whole + (rest >> kFractionBits)) >> kFractionBits);
}

// Replaces the first neighbour of each sample by the sample.
template <int kChannels>
void interpolate_chunk(const std::uint16_t *fractions, int count, Chunk<kChannels> *chunk) {
  constexpr auto kEveryChannel = static_cast<Sample<kChannels>>(0x01010101);
  for (int i = 0; i < count; ++i) {
    chunk->part[4][i] = static_cast<Sample<kChannels>>(fraction_x(fractions[i]) * kEveryChannel);
    chunk->part[5][i] = static_cast<Sample<kChannels>>(fraction_y(fractions[i]) * kEveryChannel);
  }
  constexpr int kBytes = sizeof chunk->part[0], kSample = sizeof(Sample<kChannels>);
  auto *bytes = reinterpret_cast<std::uint8_t *>(chunk->part);
  for (int i = 0; i < count * kSample; ++i)
    bytes[i] = interpolate_in_16_bits(bytes[i], bytes[i + kBytes], bytes[i + 2 * kBytes],
                                      bytes[i + 3 * kBytes], bytes[i + 4 * kBytes], bytes[i + 5 * kBytes]);
}

template <int kChannels>
void store(const Sample<kChannels> *samples, int count, std::uint8_t *to, int step) {
  if (step == kChannels && kChannels != 3) {
    std::memcpy(to, samples, static_cast<std::size_t>(count) * kChannels);
    return;
  }
  for (int i = 0; i < count; ++i)
    for (int c = 0; c < kChannels; ++c)
      to[static_cast<std::ptrdiff_t>(i) * step + c] = static_cast<std::uint8_t>(samples[i] >> 8 * c);
}

template <int kChannels>
void remap_chunk(const GridTask &task, const Place *places, const std::uint16_t *fractions, int count,
                 std::uint8_t *to) {
  Chunk<kChannels> chunk;
  if (task.settings.interpolation == Interpolation::linear) {
    fetch<kChannels, Interpolation::linear>(task, places, fractions, count, &chunk);
    interpolate_chunk<kChannels>(fractions, count, &chunk);
  } else {
    fetch<kChannels, Interpolation::nearest>(task, places, fractions, count, &chunk);
  }
  store<kChannels>(chunk.part[0], count, to, task.output.step_bytes);
}

template <int kChannels>
void remap_row_of(const GridTask &task, int y) {
  const std::ptrdiff_t first = task.map.entry(0, y), step = task.output.step_bytes;
  for (int x = 0; x < task.map.size.width; x += kChunk)
    remap_chunk<kChannels>(task, task.map.places + first + x, task.map.fractions + first + x,
                           std::min(kChunk, task.map.size.width - x),
                           task.output.data + y * task.output.pitch_bytes + x * step);
}

void remap_row(const GridTask &task, int y) {
  constexpr decltype(&remap_row) kRows[] = {remap_row_of<1>, remap_row_of<2>, remap_row_of<3>,
                                            remap_row_of<4>};
  kRows[task.channels - 1](task, y);
}

}  // namespace cudavision::remap::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cudavision::remap {
namespace {

HWY_EXPORT(map_row);
HWY_EXPORT(remap_row);

constexpr int kRowsPerTask = 8;

}  // namespace

Status make_maps_cpu(const Execution &execution, const CameraModel &camera, const MapTasks &tasks) {
  for (int i = 0; i < tasks.count; ++i)
    CUDAVISION_TRY(execution.workers->run_rows(tasks.task[i].map.size.height, kRowsPerTask, [&](int y, int) {
      HWY_DYNAMIC_DISPATCH(map_row)(camera, tasks.task[i], y);
    }));
  return {};
}

Status remap_grids_cpu(const Execution &execution, const GridTasks &tasks) {
  for (int i = 0; i < tasks.count; ++i)
    CUDAVISION_TRY(execution.workers->run_rows(tasks.task[i].map.size.height, kRowsPerTask, [&](int y, int) {
      HWY_DYNAMIC_DISPATCH(remap_row)(tasks.task[i], y);
    }));
  return {};
}

}  // namespace cudavision::remap
#endif
