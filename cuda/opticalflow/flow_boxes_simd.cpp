// SPDX-License-Identifier: LGPL-2.1-or-later
// Computes the vectors of a level on the CPU, tile by tile. If every pixel has a vector, a box filter over the products
// (Ix, Iy)(q) J(q + n) computes the sums of a cell for all pixels of the tile that need it, and these pixels then step
// in SIMD vectors. When no cell is needed by many pixels, the windows of the unfinished pixels are summed one by one,
// and these pixels step in SIMD vectors, too, each in its own cell. All sums are integers, so that the result does not
// depend on how they are computed.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cuda/opticalflow/flow_boxes_simd.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
//
#include "cuda/opticalflow/flow_window-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cudavision::opticalflow::HWY_NAMESPACE {

constexpr int kTileWidth = TrackerTile::kWidth, kTileHeight = TrackerTile::kHeight;
// The number of pixels of a tile that must need a cell so that a box filter is cheaper than summing their windows one
// by one.
constexpr int kMinPixelsPerCell = 24;
constexpr int kMostColumns = kTileWidth + 2 * kMaxRadius;

// --- pixels of a tile ---

// A tile, clipped to the picture, in vectors: vector (x, y) belongs to pixel (stride x, stride y).
struct TileArea {
  int x0, y0, width, height, stride;
};

// --- the start ---

using F = hn::CappedTag<float, 16>;
using I = hn::Rebind<std::int32_t, F>;
using Floats = hn::Vec<F>;
using Ints = hn::Vec<I>;

int lane_count() { return static_cast<int>(hn::Lanes(F())); }

// reaches_picture() for a SIMD vector of neighbouring places of the tile that starts at (x, y).
class Inside {
 public:
  Inside(const LevelWork &work, const TileArea &area, int x, int y)
      : left_(hn::ConvertTo(F(), hn::Sub(hn::Mul(hn::Iota(I(), area.x0 + x), hn::Set(I(), area.stride)),
                                         hn::Set(I(), work.rules.window / 2)))),
        top_(hn::Set(F(), static_cast<float>((area.y0 + y) * area.stride - work.rules.window / 2))),
        least_(hn::Set(F(), static_cast<float>(-work.rules.window))),
        width_(hn::Set(F(), static_cast<float>(work.from.width))),
        height_(hn::Set(F(), static_cast<float>(work.from.height))) {}

  hn::Mask<F> operator()(Floats n_x, Floats n_y) const {
    const Floats left = hn::Add(left_, n_x), top = hn::Add(top_, n_y);
    return hn::And(hn::And(hn::Ge(left, least_), hn::Lt(left, width_)),
                   hn::And(hn::Ge(top, least_), hn::Lt(top, height_)));
  }

 private:
  Floats left_, top_, least_, width_, height_;
};

// is_trackable() for a SIMD vector of pixels.
hn::Mask<F> are_trackable(Floats xx, Floats xy, Floats yy, const TrackingRules &rules) {
  const F d;
  const Floats difference = hn::Sub(xx, yy);
  const Floats root =
      hn::Sqrt(hn::Add(hn::Mul(difference, difference), hn::Mul(hn::Mul(hn::Set(d, 4.0f), xy), xy)));
  const Floats eigenvalue = hn::Div(hn::Sub(hn::Add(yy, xx), root),
                                    hn::Set(d, static_cast<float>(2 * rules.window * rules.window)));
  return hn::And(hn::Ge(eigenvalue, hn::Set(d, rules.min_eigenvalue)),
                 hn::Ge(hn::Sub(hn::Mul(xx, yy), hn::Mul(xy, xy)), hn::Set(d, kMinDeterminant)));
}

// Computes the structure tensors, the sums of (Ix, Iy) I and the start vectors for row y of the tile. i: the index of
// the row's first vector. stride, coarse_stride: of the vectors of the tile and of the next coarser level.
HWY_INLINE void sum_row(const LevelWork &work, const TileArea &area, int y, int i, int stride,
                        int coarse_stride, ColumnSums &sums, TrackerTile &tile) {
  WindowSums around(sums, area.x0 * stride, work.rules.window / 2);
  for (int x = 0; x < area.width; ++x) {
    const StructureTensor s = around.tensor();
    tile.xx[i + x] = s.xx, tile.xy[i + x] = s.xy, tile.yy[i + x] = s.yy;
    tile.x_from[i + x] = around.xi.value(), tile.y_from[i + x] = around.yi.value();
    if (x + 1 < area.width)
      for (int step = 0; step < stride; ++step) around.advance();
  }
  if (work.coarse.vectors.data == nullptr) {
    std::fill_n(tile.d_x + i, area.width, 0.0f), std::fill_n(tile.d_y + i, area.width, 0.0f);
    return;
  }
  Field coarse = work.coarse;
  coarse.stride = coarse_stride;
  for (int x = 0; x < area.width; ++x) {
    const FlowVector d = start_of(coarse, (area.x0 + x) * stride, (area.y0 + y) * stride);
    tile.d_x[i + x] = d.x, tile.d_y[i + x] = d.y;
  }
}

// start_tracking() for all pixels of the tile.
void start_tile(const LevelWork &work, const TileArea &area, ColumnSums &sums, TrackerTile &tile) {
  const F d;
  const I ints;
  std::fill(std::begin(tile.running), std::end(tile.running), 0);
  SlidingColumnSums walk(work, area.x0 * area.stride, (area.x0 + area.width - 1) * area.stride + 1,
                         area.y0 * area.stride, sums);
  for (int y = 0; y < area.height; ++y) {
    walk.go_to((area.y0 + y) * area.stride);
    // With constants, the compiler makes a faster loop, and no divisions by 1.
    if (area.stride == 1 && work.coarse.stride <= 1)
      sum_row(work, area, y, kTileWidth * y, 1, 1, sums, tile);
    else
      sum_row(work, area, y, kTileWidth * y, area.stride, work.coarse.stride, sums, tile);
    for (int x = 0; x < area.width; x += lane_count()) {
      const int i = kTileWidth * y + x;
      const Floats n_x = hn::Floor(hn::Load(d, tile.d_x + i)), n_y = hn::Floor(hn::Load(d, tile.d_y + i));
      const auto runs = hn::And(are_trackable(hn::Load(d, tile.xx + i), hn::Load(d, tile.xy + i),
                                              hn::Load(d, tile.yy + i), work.rules),
                                Inside(work, area, x, y)(n_x, n_y));
      const auto there = hn::FirstN(ints, static_cast<std::size_t>(area.width - x));
      hn::Store(hn::VecFromMask(ints, hn::And(there, hn::RebindMask(ints, runs))), ints, tile.running + i);
      hn::Store(hn::ConvertTo(ints, n_x), ints, tile.cell_x + i);
      hn::Store(hn::ConvertTo(ints, n_y), ints, tile.cell_y + i);
      hn::Store(hn::Zero(ints), ints, tile.steps + i), hn::Store(hn::Zero(ints), ints, tile.valid + i);
      hn::Store(hn::Zero(d), d, tile.last_x + i), hn::Store(hn::Zero(d), d, tile.last_y + i);
    }
  }
}

// --- requested cells ---

// A cell that `count` pixels need next. All these pixels lie in the columns [x0, x1), in whole SIMD vectors, and rows
// [y0, y1).
struct Request {
  int cell_x = 0, cell_y = 0, count = 0;
  int x0 = 0, y0 = 0, x1 = 0, y1 = 0;
};

// Which lanes of the SIMD vector of pixels from index i on need the requested cell.
hn::Mask<I> waiting_for(const Request &request, const TrackerTile &tile, int i) {
  const I ints;
  return hn::And(hn::Ne(hn::Load(ints, tile.running + i), hn::Zero(ints)),
                 hn::And(hn::Eq(hn::Load(ints, tile.cell_x + i), hn::Set(ints, request.cell_x)),
                         hn::Eq(hn::Load(ints, tile.cell_y + i), hn::Set(ints, request.cell_y))));
}

// The cell that most pixels need. Pixels are counted by the low bits of their cell only: cells 16 pixels apart are
// counted as one, but only one of them is returned.
Request most_requested(const TrackerTile &tile, const TileArea &area) {
  constexpr int kBits = 4, kMask = (1 << kBits) - 1;
  const int lanes = lane_count();
  std::uint16_t counts[1 << 2 * kBits] = {};
  Request most{};
  for (int y = 0; y < area.height; ++y)
    for (int i = kTileWidth * y; i < kTileWidth * y + area.width; ++i) {
      if (tile.running[i] == 0) continue;
      const int count = ++counts[(tile.cell_y[i] & kMask) << kBits | (tile.cell_x[i] & kMask)];
      if (count > most.count) most = {.cell_x = tile.cell_x[i], .cell_y = tile.cell_y[i], .count = count};
    }
  most.x0 = area.width, most.y0 = area.height;
  for (int y = 0; y < area.height; ++y)
    for (int x = 0; x < area.width; x += lanes)
      if (!hn::AllFalse(I(), waiting_for(most, tile, kTileWidth * y + x))) {
        most.x0 = std::min(most.x0, x), most.x1 = std::max(most.x1, x + lanes);
        most.y0 = std::min(most.y0, y), most.y1 = y + 1;
      }
  return most;
}

// --- box filters ---

// Vertical sums of the products with the four corners of a cell, in the order of CellSums: the four sums with
// Ix, then those with Iy. The window of the pixel in column x of the tile starts at index x.
struct CellColumns {
  alignas(64) std::int32_t sum[8][kMostColumns];
};
// The sums over the windows of one row of the tile.
struct CellRow {
  alignas(64) std::int32_t sum[8][kTileWidth];
};

// A row of gradients, and the two rows of J that the corners of a cell displace it to.
struct ProductRow {
  const std::int16_t *dx, *dy;
  const std::uint8_t *above, *below;

  ProductRow(const LevelWork &work, int x, int y, const Request &request)
      : dx(work.dx.row(y) + x),
        dy(work.dy.row(y) + x),
        above(work.to.row(y + request.cell_y) + x + request.cell_x),
        below(work.to.row(y + request.cell_y + 1) + x + request.cell_x) {}
};

// Adds the products of a row to the sums of columns [first, last) (sign 1), or subtracts them (sign -1).
template <int sign>
void add_products(const ProductRow &row, int first, int last, CellColumns &columns) {
  const std::int16_t *__restrict__ dx = row.dx, *__restrict__ dy = row.dy;
  const std::uint8_t *__restrict__ above = row.above, *__restrict__ below = row.below;
  auto *__restrict__ sum = columns.sum;
  for (int i = first; i < last; ++i) {
    const int gx = sign * dx[i], gy = sign * dy[i];
    const int j00 = above[i], j10 = above[i + 1], j01 = below[i], j11 = below[i + 1];
    sum[0][i] += gx * j00, sum[1][i] += gx * j10, sum[2][i] += gx * j01, sum[3][i] += gx * j11;
    sum[4][i] += gy * j00, sum[5][i] += gy * j10, sum[6][i] += gy * j01, sum[7][i] += gy * j11;
  }
}

// Sums `window` neighbouring columns for each of the pixels [first, last) of a row of the tile.
void sum_columns(const CellColumns &columns, int window, int first, int last, CellRow &row) {
  const I d;
  const int lanes = lane_count();
  for (int k = 0; k < 8; ++k)
    for (int x = first; x < last; x += lanes) {
      const std::int32_t *p = columns.sum[k] + x;
      auto sum = hn::LoadU(d, p);
      for (int i = 1; i < window; ++i) sum = hn::Add(sum, hn::LoadU(d, p + i));
      hn::Store(sum, d, row.sum[k] + x);
    }
}

// --- steps ---

// Repeats interpolate() and step() for the `waiting` pixels of the SIMD vector at (x, y), until they leave their cells
// or finish. sums: the sums of their cells, in the order of CellSums.
HWY_INLINE void step_vector(const LevelWork &work, const TileArea &area, int x, int y,
                            const Floats (&sums)[8], hn::Mask<I> waiting, TrackerTile &tile) {
  const F d;
  const I ints;
  const TrackingRules &rules = work.rules;
  const Floats one = hn::Set(d, 1.0f), half = hn::Set(d, 0.5f), close = hn::Set(d, 0.01f);
  const auto floats = [&](hn::Mask<I> mask) HWY_ATTR { return hn::RebindMask(d, mask); };
  const auto integers = [&](hn::Mask<F> mask) HWY_ATTR { return hn::RebindMask(ints, mask); };

  const int i = kTileWidth * y + x;
  const Inside is_inside(work, area, x, y);
  const auto xx = hn::Load(d, tile.xx + i), xy = hn::Load(d, tile.xy + i), yy = hn::Load(d, tile.yy + i);
  const auto inverse = hn::Div(one, hn::Sub(hn::Mul(xx, yy), hn::Mul(xy, xy)));
  auto d_x = hn::Load(d, tile.d_x + i), d_y = hn::Load(d, tile.d_y + i);
  auto last_x = hn::Load(d, tile.last_x + i), last_y = hn::Load(d, tile.last_y + i);
  auto steps = hn::Load(ints, tile.steps + i), running = hn::Load(ints, tile.running + i),
       valid = hn::Load(ints, tile.valid + i), in_x = hn::Load(ints, tile.cell_x + i),
       in_y = hn::Load(ints, tile.cell_y + i);
  const auto cell_x = in_x, cell_y = in_y;
  do {
    const auto active = floats(waiting);
    const auto fx = hn::Sub(d_x, hn::Floor(d_x)), fy = hn::Sub(d_y, hn::Floor(d_y));
    const auto gx = hn::Sub(one, fx), gy = hn::Sub(one, fy);
    const auto w00 = hn::Mul(gx, gy), w10 = hn::Mul(fx, gy), w01 = hn::Mul(gx, fy), w11 = hn::Mul(fx, fy);
    const auto mismatch = [&](const Floats *s) HWY_ATTR {
      return hn::Mul(hn::Add(hn::Add(hn::Mul(w00, s[0]), hn::Mul(w10, s[1])),
                             hn::Add(hn::Mul(w01, s[2]), hn::Mul(w11, s[3]))),
                     hn::Set(d, 1.0f / (1 << 15)));
    };
    const auto b_x = mismatch(sums), b_y = mismatch(sums + 4);
    const auto step_x = hn::Mul(hn::Sub(hn::Mul(xy, b_y), hn::Mul(yy, b_x)), inverse);
    const auto step_y = hn::Mul(hn::Sub(hn::Mul(xy, b_x), hn::Mul(xx, b_y)), inverse);
    const auto small =
        hn::Le(hn::Add(hn::Mul(step_x, step_x), hn::Mul(step_y, step_y)), hn::Set(d, rules.epsilon_squared));
    const auto cancels = hn::And(hn::And(hn::Lt(hn::Abs(hn::Add(step_x, last_x)), close),
                                         hn::Lt(hn::Abs(hn::Add(step_y, last_y)), close)),
                                 hn::AndNot(small, floats(hn::Gt(steps, hn::Zero(ints)))));
    const auto moved_x = hn::Add(d_x, step_x), moved_y = hn::Add(d_y, step_y);
    const auto end_x = hn::IfThenElse(cancels, hn::Sub(moved_x, hn::Mul(half, step_x)), moved_x);
    const auto end_y = hn::IfThenElse(cancels, hn::Sub(moved_y, hn::Mul(half, step_y)), moved_y);
    d_x = hn::IfThenElse(active, end_x, d_x), d_y = hn::IfThenElse(active, end_y, d_y);
    last_x = hn::IfThenElse(active, step_x, last_x), last_y = hn::IfThenElse(active, step_y, last_y);

    const auto n_x = hn::Floor(d_x), n_y = hn::Floor(d_y);
    const auto inside = is_inside(n_x, n_y);
    steps = hn::IfThenElse(waiting, hn::Add(steps, hn::Set(ints, 1)), steps);
    const auto goes_on = hn::And(integers(hn::AndNot(hn::Or(small, cancels), inside)),
                                 hn::Lt(steps, hn::Set(ints, rules.iterations)));
    valid = hn::IfThenElse(waiting, hn::VecFromMask(ints, integers(inside)), valid);
    running = hn::IfThenElse(waiting, hn::VecFromMask(ints, goes_on), running);
    waiting = hn::And(waiting, goes_on);
    in_x = hn::IfThenElse(waiting, hn::ConvertTo(ints, n_x), in_x);
    in_y = hn::IfThenElse(waiting, hn::ConvertTo(ints, n_y), in_y);
    waiting = hn::And(waiting, hn::And(hn::Eq(in_x, cell_x), hn::Eq(in_y, cell_y)));
  } while (!hn::AllFalse(ints, waiting));
  hn::Store(d_x, d, tile.d_x + i), hn::Store(d_y, d, tile.d_y + i);
  hn::Store(last_x, d, tile.last_x + i), hn::Store(last_y, d, tile.last_y + i);
  hn::Store(steps, ints, tile.steps + i), hn::Store(running, ints, tile.running + i);
  hn::Store(valid, ints, tile.valid + i);
  hn::Store(in_x, ints, tile.cell_x + i), hn::Store(in_y, ints, tile.cell_y + i);
}

// Steps the pixels of row y that need the cell.
void step_row(const LevelWork &work, const TileArea &area, const Request &request, int y, const CellRow &e,
              TrackerTile &tile) {
  const F d;
  const I ints;
  const int lanes = lane_count();
  for (int x = request.x0; x < request.x1; x += lanes) {
    const int i = kTileWidth * y + x;
    const auto waiting = waiting_for(request, tile, i);
    if (hn::AllFalse(ints, waiting)) continue;
    Floats sums[8];
    for (int k = 0; k < 8; ++k)
      sums[k] = hn::ConvertTo(
          d, hn::Sub(hn::Load(ints, e.sum[k] + x), hn::Load(ints, (k < 4 ? tile.x_from : tile.y_from) + i)));
    step_vector(work, area, x, y, sums, waiting, tile);
  }
}

// Finishes the iteration of the SIMD vector of pixels at (x, y), each with the sums of its own cell.
void finish_vector(const LevelWork &work, const TileArea &area, int x, int y, TrackerTile &tile) {
  const F d;
  const I ints;
  const int i = kTileWidth * y + x, lanes = lane_count();
  HWY_ALIGN std::int32_t e[8][16] = {};
  for (;;) {
    const auto running = hn::Ne(hn::Load(ints, tile.running + i), hn::Zero(ints));
    if (hn::AllFalse(ints, running)) return;
    for (int lane = 0; lane < lanes; ++lane) {
      const int at = i + lane;
      if (tile.running[at] == 0) continue;
      const Place place{(area.x0 + x + lane) * area.stride, (area.y0 + y) * area.stride, work.from.size()};
      Window window(work, place.x, place.y);
      window.x_from = tile.x_from[at], window.y_from = tile.y_from[at];
      const CellSums sums = correlate(window, displaced(work, place, {tile.cell_x[at], tile.cell_y[at]}));
      for (int k = 0; k < 4; ++k) e[k][lane] = sums.x[k], e[4 + k][lane] = sums.y[k];
    }
    Floats sums[8];
    for (int k = 0; k < 8; ++k) sums[k] = hn::ConvertTo(d, hn::Load(ints, e[k]));
    step_vector(work, area, x, y, sums, running, tile);
  }
}

// Computes the sums of the requested cell, and steps all pixels that need it.
void serve(const LevelWork &work, const TileArea &area, const Request &request, TrackerTile &tile) {
  const int window = work.rules.window, radius = window / 2;
  const auto row_at = [&](int y) { return ProductRow(work, area.x0 - radius, area.y0 + y, request); };
  const int first = request.x0, last = request.x1 + 2 * radius;
  CellColumns columns{};
  CellRow row;
  for (int y = request.y0 - radius; y < request.y1 + radius; ++y) {
    add_products<1>(row_at(y), first, last, columns);
    const int done = y - radius;
    if (done < request.y0) continue;
    sum_columns(columns, window, first, request.x1, row);
    step_row(work, area, request, done, row, tile);
    add_products<-1>(row_at(done - radius), first, last, columns);
  }
}

void track_tile(const LevelWork &work, int x0, int y0, ColumnSums &sums, TrackerTile &tile) {
  const Size size = work.fine.vectors.size();
  const TileArea area{x0, y0, std::min(kTileWidth, size.width - x0), std::min(kTileHeight, size.height - y0),
                      work.fine.stride};
  start_tile(work, area, sums, tile);
  if (area.stride == 1)
    for (Request request = most_requested(tile, area); request.count >= kMinPixelsPerCell;
         request = most_requested(tile, area))
      serve(work, area, request, tile);
  for (int y = 0; y < area.height; ++y) {
    for (int x = 0; x < area.width; x += lane_count()) finish_vector(work, area, x, y, tile);
    FlowVector *vectors = work.fine.vectors.row(y0 + y) + x0;
    std::uint8_t *valid = work.valid.data != nullptr ? work.valid.row(y0 + y) + x0 : nullptr;
    for (int x = 0; x < area.width; ++x) {
      const int i = kTileWidth * y + x;
      vectors[x] = {tile.d_x[i], tile.d_y[i]};
      if (valid != nullptr) valid[x] = tile.valid[i] != 0 ? 1 : 0;
    }
  }
}

}  // namespace cudavision::opticalflow::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cudavision::opticalflow {

HWY_EXPORT(track_tile);

void track_tile(const LevelWork &work, int x0, int y0, ColumnSums &sums, TrackerTile &tile) {
  HWY_DYNAMIC_DISPATCH(track_tile)(work, x0, y0, sums, tile);
}

}  // namespace cudavision::opticalflow
#endif
