// SPDX-License-Identifier: LGPL-2.1-or-later
// The patch-by-patch fill of the CPU backend: all threads search the candidates of each target.
#include "cuda/inpaint/exemplar_cpu.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace cudavision::inpaint {
namespace {

constexpr int kRowsPerTask = 8;
// The candidates of a task of find_source(). Searching fewer takes less time than waking a thread for them.
constexpr int kLeastCandidatesPerTask = 4096;

int confidence_at(const FillState &s, int x, int y, int radius) {
  const Bounds window = window_around(s.area, x, y, radius);
  int sum = 0;
  for (int j = window.y0; j < window.y1; ++j)
    for (int i = window.x0; i < window.x1; ++i) sum += confidence_of_code(s.confidence[s.index(i, j)]);
  return confidence_of(sum, (window.x1 - window.x0) * (window.y1 - window.y0));
}

float priority_at(const FillState &s, const Array<LumaGradient> &gradients, int x, int y, int radius) {
  const Bounds window = window_around(s.area, x, y, radius);
  LumaGradient isophote;
  for (int j = window.y0; j < window.y1; ++j)
    for (int i = window.x0; i < window.x1; ++i) {
      const LumaGradient &gradient = gradients[static_cast<std::size_t>(s.index(i, j))];
      if (gradient.squared_length() > isophote.squared_length()) isophote = gradient;
    }
  return priority_of(front_pixel(confidence_at(s, x, y, radius), normal_at(s, x, y)), isophote.x, isophote.y);
}

// The gradient of luma at a pixel of the area; 0 at the area's border, and if the pixel or a neighbour is unfilled.
LumaGradient gradient_at(const FillState &s, int x, int y) {
  if (x == 0 || y == 0 || x == s.area.width - 1 || y == s.area.height - 1) return {};
  const int at = s.index(x, y);
  bool filled = true;
  for (int j = -1; j <= 1; ++j)
    for (int i = -1; i <= 1; ++i) filled &= s.confidence[at + j * s.pitch + i] > 0;
  return filled ? LumaGradient(s, x, y) : LumaGradient();
}

struct TargetPixel {
  // The place relative to the centre of the patch.
  int x, y;
  // The squared distance of its feature from the mean feature of the patch.
  int distance;
  std::uint32_t word;
};

}  // namespace

ExemplarFill::ExemplarFill(const Execution &execution, Size size) : execution_(execution), size_(size) {
  const std::size_t pixels = static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
  words_.resize(pixels), gradient_.resize(pixels), confidence_.resize(pixels);
  row_best_.resize(static_cast<std::size_t>(size.height));
  state_.words = words_.data(), state_.confidence = confidence_.data();
}

Status ExemplarFill::run(const Exemplars &picture, Bounds bounds, const InpaintParams &params,
                         const FillLog &log, const std::function<bool(int filled)> &progress, int *patches,
                         bool *stopped) {
  CUDAVISION_TRY(begin(picture, bounds, params.patch_size / 2));
  *patches = 0, *stopped = false;
  int filled = 0;
  for (std::uint64_t best;
       (params.max_patches == 0 || *patches < params.max_patches) && (best = best_target()) != 0;) {
    const Place target = place_of_target(best);
    take_target(picture, target);
    Place source;
    CUDAVISION_TRY(find_source(picture, target, params.search_radius, &source));
    if (*patches < log.capacity)
      log.steps[*patches] = {target.y * size_.width + target.x, source.y * size_.width + source.x};
    ++*patches;
    filled += put_patch(picture, target, source);
    if ((*stopped = !progress(filled))) break;
  }
  return {};
}

Status ExemplarFill::begin(const Exemplars &picture, Bounds bounds, int radius) {
  radius_ = radius;
  last_shift_ = {};
  const Region area = area_around(bounds, radius, size_.width, size_.height);
  state_.area = area, state_.pitch = area.width;
  for (int y = 0; y < area.height; ++y)
    for (int x = 0; x < area.width; ++x) {
      const int i = state_.index(x, y);
      const int px = area.x + x, py = area.y + y;
      const bool filled = picture.hole.row(py)[px] == 0;
      state_.words[i] = filled ? with_luma(picture.features.row(py)[px], picture.pixels.row(py)[px]) : 0;
      state_.confidence[i] = filled ? code_of_confidence(kFullConfidence) : 0;
    }
  CUDAVISION_TRY(execution_.workers->run_rows(area.height, kRowsPerTask,
                                              [&](int y, int) { update_gradients(y, 0, area.width); }));
  return execution_.workers->run_rows(area.height, kRowsPerTask,
                                      [&](int y, int) { rate_row(y, 0, area.width); });
}

void ExemplarFill::update_gradients(int y, int first, int last) {
  for (int x = first; x < last; ++x)
    gradient_[static_cast<std::size_t>(state_.index(x, y))] = gradient_at(state_, x, y);
}

void ExemplarFill::rate_row(int y, int first, int last) {
  for (int x = first; x < last; ++x)
    if (on_front(state_, x, y))
      state_.words[state_.index(x, y)] =
          std::bit_cast<std::uint32_t>(priority_at(state_, gradient_, x, y, radius_));
  std::uint64_t best = 0;
  for (int x = 0; x < state_.area.width; ++x)
    if (const std::uint32_t priority = state_.priority(state_.index(x, y)); priority != 0)
      best = std::max(best, target_key(priority, {state_.area.x + x, state_.area.y + y}));
  row_best_[static_cast<std::size_t>(y)] = best;
}

void ExemplarFill::update(int x, int y, int reach) {
  const Bounds gradients = window_around(state_.area, x, y, reach + 1);
  for (int j = gradients.y0; j < gradients.y1; ++j) update_gradients(j, gradients.x0, gradients.x1);
  const Bounds priorities = window_around(state_.area, x, y, reach + 1 + radius_);
  for (int j = priorities.y0; j < priorities.y1; ++j) rate_row(j, priorities.x0, priorities.x1);
}

std::uint64_t ExemplarFill::best_target() const {
  return *std::max_element(row_best_.begin(), row_best_.begin() + state_.area.height);
}

// Stores the filled pixels of a target's patch in target_, sorted so that those farthest from the mean of the patch are
// compared first: they differ most from most candidates, which are therefore abandoned after a few pixels. The sum of
// squared differences does not depend on the order.
void ExemplarFill::take_target(const Exemplars &picture, Place place) {
  const int area_x = place.x - state_.area.x, area_y = place.y - state_.area.y;
  const Bounds window = window_around(state_.area, area_x, area_y, radius_);
  TargetPixel pixels[kMaxPatchPixels];
  int count = 0, sum[3] = {};
  for (int j = window.y0; j < window.y1; ++j)
    for (int i = window.x0; i < window.x1; ++i) {
      if (!state_.filled(i, j)) continue;
      const std::uint32_t word = state_.words[state_.index(i, j)];
      pixels[count++] = {i - area_x, j - area_y, 0, word};
      for (int p = 0; p < 3; ++p) sum[p] += byte_of(word, p);
    }
  for (int i = 0; i < count; ++i)
    for (int p = 0; p < 3; ++p) {
      const int difference = byte_of(pixels[i].word, p) - sum[p] / count;
      pixels[i].distance += difference * difference;
    }
  std::sort(pixels, pixels + count,
            [](const TargetPixel &a, const TargetPixel &b) { return a.distance > b.distance; });
  target_.count = count;
  for (int i = 0; i < count; ++i) {
    target_.offset[i] = pixels[i].y * picture.planes.pitch_bytes + pixels[i].x;
    for (int p = 0; p < 3; ++p) target_.byte[p][i] = static_cast<std::uint8_t>(byte_of(pixels[i].word, p));
  }
}

// Searches the rows in the order of their distance from the target: similar patches tend to be near, and a good
// candidate that is found early lets most others be abandoned.
Status ExemplarFill::find_source(const Exemplars &picture, Place target, int search_radius, Place *source) {
  const Search search{picture.planes, picture.sources, &target_};
  const int x = target.x, y = target.y;
  const int reach = search_radius == 0 ? std::max(size_.width, size_.height) : search_radius;
  const Bounds window = search_window(size_, target, radius_, reach);
  std::atomic<std::uint64_t> best = kNoSource;
  // First, a guess is compared: the candidate at the shift of the last patch. Before the first patch, this shift is 0,
  // and the guess is the target itself, which lies in the hole and is no candidate.
  const int gx = x + last_shift_.x, gy = y + last_shift_.y;
  if (gx >= window.x0 && gx < window.x1 && gy >= window.y0 && gy < window.y1 &&
      picture.sources.row(gy)[gx] != 0)
    best = key_of(search, gx, gy);
  const bool empty = window.y0 >= window.y1 || window.x0 >= window.x1;
  const int rows =
      empty ? 1 : std::max(kRowsPerTask, divide_up(kLeastCandidatesPerTask, window.x1 - window.x0));
  const int tasks = empty ? 0 : divide_up(window.y1 - window.y0, rows);
  const int middle = std::clamp((y - window.y0) / rows, 0, std::max(0, tasks - 1));
  CUDAVISION_TRY(execution_.workers->run(2 * tasks, [&](int i, int) {
    const int task = i % 2 == 0 ? middle + i / 2 : middle - 1 - i / 2;
    if (task < 0 || task >= tasks) return;
    const int first = window.y0 + task * rows;
    for (int row = first; row < std::min(window.y1, first + rows); ++row)
      search_row(search, row, window.x0, window.x1, &best);
  }));
  if (best == kNoSource && search_radius != 0) return find_source(picture, target, 0, source);
  *source = place_of_source(best);
  last_shift_ = {source->x - x, source->y - y};
  return {};
}

int ExemplarFill::put_patch(const Exemplars &picture, Place target, Place source) {
  const int x = target.x - state_.area.x, y = target.y - state_.area.y;
  const int dx = source.x - x, dy = source.y - y;
  const ConfidenceCode confidence = code_of_confidence(confidence_at(state_, x, y, radius_));
  const Bounds window = window_around(state_.area, x, y, radius_);
  int filled = 0;
  for (int j = window.y0; j < window.y1; ++j)
    for (int i = window.x0; i < window.x1; ++i) {
      if (state_.filled(i, j)) continue;
      const std::uint32_t pixel = picture.pixels.row(j + dy)[i + dx];
      state_.words[state_.index(i, j)] = with_luma(picture.features.row(j + dy)[i + dx], pixel);
      state_.confidence[state_.index(i, j)] = confidence;
      picture.pixels.row(state_.area.y + j)[state_.area.x + i] = pixel;
      picture.hole.row(state_.area.y + j)[state_.area.x + i] = 0;
      ++filled;
    }
  update(x, y, radius_);
  return filled;
}

}  // namespace cudavision::inpaint
