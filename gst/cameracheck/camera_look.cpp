// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/cameracheck/camera_look.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>

namespace cudavision {
namespace {

constexpr int kUnits = 64;                  // of a level of brightness
constexpr int kReach = 8;                   // cells to each side of a search everywhere
constexpr int kLeastGradient = 6 * kUnits;  // of an edge of the look
constexpr int kFlat = 3 * kUnits / 2;       // what noise and rounding make of a flat place
constexpr std::size_t kMostEdges = 2048;    // the strongest; they bound the time of a search
constexpr int kLeastEdges = 24;             // fewer tell nothing
constexpr int kWhole = 256;                 // a ratio of 1

// The sum over a square of cells around one.
template <typename T>
int sum_around(const T *here, int width, int reach) {
  int sum = 0;
  for (int y = -reach; y <= reach; ++y)
    for (int x = -reach; x <= reach; ++x) sum += here[y * width + x];
  return sum;
}

// The mean of 3x3 cells, without that of 7x7: smooth enough for gradients, and free of the light around.
constexpr int kDetailReach = 3;
template <typename T>
double detail(const T *here, int width) {
  return sum_around(here, width, 1) / 9.0 - sum_around(here, width, kDetailReach) / 49.0;
}

// An equation at a kept edge: to first order, the detail of the frame is gain * (detail of the look - shift * gradient
// of that detail), with the shift in cells.
struct Equation {
  Vector factors;
  double value;

  double residual(const Vector &solution) const {
    return std::abs(std::inner_product(factors.begin(), factors.end(), solution.begin(), -value));
  }
};

// The least squares of the equations whose residual by `last` is at most `most`; nothing without a unique solution.
std::optional<Vector> solve(const std::vector<Equation> &equations, const Vector &last, double most) {
  Matrix products{};
  Vector values{};
  for (const Equation &e : equations) {
    if (e.residual(last) > most) continue;
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) products[3 * i + j] += e.factors[i] * e.factors[j];
      values[i] += e.factors[i] * e.value;
    }
  }
  // By Hadamard's inequality the determinant is between 0 and this product, and 0 without a unique solution.
  const double most_determinant = products[0] * products[4] * products[8];
  if (determinant(products) <= 1e-9 * most_determinant) return std::nullopt;
  return mapped(inverse(products), values);
}

// Solves without the equations that fit worst, because what has changed in the picture has not moved. They are chosen
// again after each solution, at first as if nothing had moved.
std::optional<Vector> solve_robustly(const std::vector<Equation> &equations) {
  constexpr double kOutlier = 2.5;  // median residuals
  constexpr int kTurns = 4;
  std::optional<Vector> solution{{1, 0, 0}};
  std::vector<double> residuals(equations.size());
  for (int turn = 0; turn < kTurns && solution; ++turn) {
    std::transform(equations.begin(), equations.end(), residuals.begin(),
                   [&](const Equation &e) { return e.residual(*solution); });
    solution = solve(equations, *solution, kOutlier * median(residuals));
  }
  return solution;
}

}  // namespace

void CameraLook::learn(const std::vector<std::vector<std::uint8_t>> &samples, Size size) {
  size_ = size, last_ = {};
  means_.resize(samples.front().size());
  std::vector<std::uint8_t> values(samples.size());
  for (std::size_t i = 0; i < means_.size(); ++i) {
    for (std::size_t k = 0; k < samples.size(); ++k) values[k] = samples[k][i];
    means_[i] = static_cast<std::uint16_t>(median(values) * kUnits);
  }
  find_edges();
}

bool CameraLook::is_learnt() const { return edges_.size() >= static_cast<std::size_t>(kLeastEdges); }

void CameraLook::approach(const CellPicture &frame, int step) {
  for (std::size_t i = 0; i < means_.size(); ++i) {
    const int away = frame.cells[i] * kUnits - means_[i];
    means_[i] = static_cast<std::uint16_t>(means_[i] + std::clamp(away, -step, step));
  }
  find_edges();
}

bool CameraLook::restore(std::vector<std::uint16_t> means, Size size) {
  if (std::ranges::max(means) > 255 * kUnits) return false;
  size_ = size, means_ = std::move(means), last_ = {};
  find_edges();
  return true;
}

// The strongest quarter of the places with a gradient, without the frame's border.
void CameraLook::find_edges() {
  edges_.clear();
  sum_ = std::accumulate(means_.begin(), means_.end(), std::int64_t{0});
  for (int y = 1; y + 1 < size_.height; ++y)
    for (int x = 1; x + 1 < size_.width; ++x) {
      const std::uint16_t *here = means_.data() + y * size_.width + x;
      const int across = here[1] - here[-1], down = here[size_.width] - here[-size_.width];
      if (std::abs(across) + std::abs(down) >= kLeastGradient) edges_.push_back({x, y, across, down, {}});
    }
  const std::size_t most = std::min(kMostEdges, means_.size() / 4);
  const auto strength = [](const Edge &e) {
    return e.gradient_x * e.gradient_x + e.gradient_y * e.gradient_y;
  };
  if (edges_.size() > most) {
    std::ranges::nth_element(edges_, edges_.begin() + static_cast<std::ptrdiff_t>(most),
                             std::ranges::greater(), strength);
    edges_.resize(most);
  }
  for (Edge &edge : edges_) {
    if (!is_inside(edge.x, edge.y, kDetailReach + 1)) continue;
    const int width = size_.width;
    const std::uint16_t *here = means_.data() + edge.y * width + edge.x;
    edge.factors = {detail(here, width) / kUnits,
                    (detail(here + 1, width) - detail(here - 1, width)) / (2 * kUnits),
                    (detail(here + width, width) - detail(here - width, width)) / (2 * kUnits)};
  }
}

// A gradient is kept if it has between a quarter of the strength that the ratio makes expect and four times that, and
// the direction up to 23 degrees.
CameraLook::Found CameraLook::look_at(const CellPicture &frame, const Edge &edge, int x, int y,
                                      int ratio) const {
  const std::uint8_t *here = frame.cells.data() + y * size_.width + x;
  const std::int64_t wanted_x = edge.gradient_x * ratio / kWhole, wanted_y = edge.gradient_y * ratio / kWhole,
                     seen_x = kUnits * (here[1] - here[-1]),
                     seen_y = kUnits * (here[size_.width] - here[-size_.width]),
                     wanted = wanted_x * wanted_x + wanted_y * wanted_y,
                     seen = seen_x * seen_x + seen_y * seen_y;
  if (wanted < 4 * kFlat * kFlat) return Found::unknown;
  if (seen < kFlat * kFlat || 16 * seen < wanted) return Found::flat;
  const double product = static_cast<double>(wanted_x * seen_x + wanted_y * seen_y);
  const bool is_kept = seen <= 16 * wanted &&
                       product * product >= 0.85 * static_cast<double>(wanted) * static_cast<double>(seen);
  return is_kept ? Found::kept : Found::other;
}

int CameraLook::ratio_of(const CellPicture &frame) const {
  const std::int64_t sum = kUnits * std::accumulate(frame.cells.begin(), frame.cells.end(), std::int64_t{0});
  return static_cast<int>(
      std::clamp<std::int64_t>(kWhole * sum / std::max<std::int64_t>(sum_, 1), kWhole / 8, kWhole));
}

CameraLook::Counts CameraLook::count(const CellPicture &frame, Shift shift, int ratio) const {
  Counts counts;
  for (const Edge &edge : edges_) {
    const int x = edge.x + shift.x, y = edge.y + shift.y;
    if (!is_inside(x, y, 1)) continue;
    const Found found = look_at(frame, edge, x, y, ratio);
    counts.all += found != Found::unknown;
    counts.kept += found == Found::kept;
    counts.flat += found == Found::flat;
  }
  return counts;
}

CameraFit CameraLook::compare(const CellPicture &frame, bool everywhere) {
  const int ratio = ratio_of(frame);
  const Counts here = count(frame, {}, ratio);
  CameraFit fit;
  fit.is_known = here.all >= kLeastEdges;
  if (!fit.is_known) return fit;
  // Without a shift the frame fits best unless another place is better by a tenth: a pattern repeats itself nearly.
  Shift best;
  Counts counts = here;
  const auto share = [](const Counts &c) { return c.all == 0 ? 0 : static_cast<double>(c.kept) / c.all; };
  double most = share(here) + 0.1;
  const int reach = everywhere ? kReach : 1;
  const Shift center = everywhere ? Shift() : last_;
  for (int y = std::max(center.y - reach, -kReach); y <= std::min(center.y + reach, kReach); ++y)
    for (int x = std::max(center.x - reach, -kReach); x <= std::min(center.x + reach, kReach); ++x) {
      const Counts there = count(frame, {x, y}, ratio);
      if (there.all < std::max(kLeastEdges, here.all / 4) || share(there) <= most) continue;
      best = {x, y}, counts = there, most = share(there);
    }
  last_ = best;
  fit.kept = share(counts);
  fit.flat = static_cast<double>(here.flat) / here.all;
  refine(frame, best, ratio, &fit);
  return fit;
}

void CameraLook::refine(const CellPicture &frame, Shift shift, int ratio, CameraFit *fit) const {
  std::vector<Equation> equations;
  for (const Edge &edge : edges_) {
    const int x = edge.x + shift.x, y = edge.y + shift.y;
    if (!is_inside(edge.x, edge.y, kDetailReach + 1) || !is_inside(x, y, kDetailReach)) continue;
    if (look_at(frame, edge, x, y, ratio) == Found::kept)
      equations.push_back({edge.factors, detail(frame.cells.data() + y * size_.width + x, size_.width)});
  }
  fit->shift_x = kCameraCell * shift.x, fit->shift_y = kCameraCell * shift.y;
  if (equations.size() < static_cast<std::size_t>(kLeastEdges)) return;
  const auto solution = solve_robustly(equations);
  if (!solution || (*solution)[0] < 1.0 / 16) return;
  fit->gain = (*solution)[0];
  const auto within = [&](double part) { return std::clamp(-part / fit->gain, -1.0, 1.0); };
  fit->shift_x += kCameraCell * within((*solution)[1]);
  fit->shift_y += kCameraCell * within((*solution)[2]);
}

}  // namespace cudavision
